// Elements: how they are named, and what can be done with one.

import { ELEMENT, FINDER, LOCATOR, LOCATOR_LATER, LOCATOR_NOW, answering, check, promising, waiting } from './options.js';
import { Later } from './time.js';
import { Failure, carried, only, optionsOf, quoted } from './values.js';

const { Array, JSON, Math, Object, String, Date } = globalThis;

/** Options that say which of what is found is meant, as steps behind it. */
const FILTERS = {
    hasText: (text) => `has-text=${quoted(text)}`,
    hasNotText: (text) => `has-not-text=${quoted(text)}`,
    has: ({ selector }) => `has=(${selector})`,
    hasNot: ({ selector }) => `has-not=(${selector})`,
    visible: (visible) => `visible=${visible}`,
};
/** A script that asks the field which an element stands for: its label's, as for the host's actions. */
const ofField = (asked) => `(given) => {
const own = 'a, button, input, optgroup, option, select, textarea, [role=button], [role=checkbox], [role=link], [role=radio], [role=switch]';
const label = given.matches(own) || given.isContentEditable ? null : given.closest('label, ' + own);
const e = label?.localName === 'label' && label.control || given;
return ${asked};
}`;
const chained = (...steps) => steps.filter((step) => step !== undefined && step !== '').join(' >> ');

/** The ways to name an element, the same from a page and within a locator. */
export class Finder {
    locator(selector, filters) { return this.within(selector instanceof Locator ? selector.selector : String(selector)).filter(filters); }
    frameLocator(selector) { return this.locator(selector); }
    /** The nth frame of a page or of a frame, as recordings count them. */
    childFrame(at) { return this.within('iframe, frame').within(`nth=${at}`); }
    /** An element by several names. */
    anyOf(...selectors) { return new AnyOf(this.page ?? this, selectors.map((one) => this.locator(one).selector)); }
    getByText(text, { exact } = {}) { return this.within(`text=${quoted(text, exact)}`); }
    getByLabel(text, { exact } = {}) { return this.within(`label=${quoted(text, exact)}`); }
    getByPlaceholder(text, { exact } = {}) { return this.within(`placeholder=${quoted(text, exact)}`); }
    getByAltText(text, { exact } = {}) { return this.within(`alt=${quoted(text, exact)}`); }
    getByTitle(text, { exact } = {}) { return this.within(`title=${quoted(text, exact)}`); }
    getByTestId(id) { return this.within(`testid=${quoted(id, true)}`); }
    getByRole(role, { name, exact, ...states } = {}) {
        const named = name === undefined ? '' : `[name=${quoted(name, exact)}]`;
        const given = Object.entries(states).filter(([, value]) => value !== undefined);
        return this.within(`role=${role}${named}${given.map(([state, value]) => `[${state}=${value}]`).join('')}`);
    }
}

export class Locator extends Finder {
    constructor(page, selector) {
        super();
        this.page = page;
        this.selector = selector;
    }

    within(selector) { return new Locator(this.page, chained(this.selector, selector)); }
    toString() { return this.selector; }
    first() { return this.nth(0); }
    last() { return this.nth(-1); }
    nth(at) { return this.within(`nth=${at}`); }
    contentFrame() { return this; }
    filter(filters = {}) {
        const steps = Object.entries(filters).filter(([, value]) => value !== undefined).map(([name, value]) => FILTERS[name](value));
        return steps.reduce((found, step) => found.within(step), this);
    }

    // ---------------------------------------------------------------- actions

    async #act(name, ...values) { return this.page.verb(name, this.selector, ...values); }
    async click(given) {
        const { clickCount = 1, ...options } = optionsOf(given);
        if (clickCount !== 1 && clickCount !== 2) throw new Failure('invalid', `clickCount is 1 or 2, not ${clickCount}`);
        return this.#act(clickCount === 2 ? 'dblclick' : 'click', options);
    }
    async dblclick(options) { return this.#act('dblclick', options); }
    async tap(options) { return this.#act('tap', options); }
    async hover(options) { return this.#act('hover', options); }
    async focus(options) { return this.#act('focus', options); }
    async fill(value, options) { return this.#act('fill', String(value), options); }
    async clear(options) { return this.fill('', options); }
    async fillSecret(name, options) { return this.#act('fillSecret', name, options); }
    async pressSequentially(text, given) {
        const { delay, ...options } = optionsOf(given);
        return this.#act('typeText', String(text), { pauseMs: delay, ...options });
    }
    async type(text, options) { return this.pressSequentially(text, options); }
    async compose(text, options) { return this.#act('compose', String(text), options); }
    async press(keys, options) {
        await this.focus(options);
        return this.page.press(keys, options);
    }
    async check(options) { return this.#act('check', options); }
    async uncheck(options) { return this.#act('uncheck', options); }
    async setChecked(checked, options) { return checked ? this.check(options) : this.uncheck(options); }
    async selectOption(wanted, options) {
        const choices = [wanted ?? []].flat().map(choiceOf);
        const ways = choices.map(([way]) => way);
        const by = ways.every((way) => way === EITHER) ? undefined : ways;
        return this.#act('select', choices.map(([, text]) => text), { ...options, by });
    }
    async setInputFiles(files, options) {
        const given = await this.page.uploads([files ?? []].flat());
        const names = given.map(({ name = '' }) => name);
        return this.#act('upload', given.map(({ file }) => file), { ...options, name: names.some((name) => name !== '') ? names : undefined });
    }
    async change(value, options) { return new AnyOf(this.page, [this.selector]).change(value, options); }
    async scrollIntoViewIfNeeded(options) { return this.#act('scrollIntoView', options); }
    async boundingBox(options) { return this.#act('boundingBox', options); }
    waitForElements(options) { return new AnyOf(this.page, [this.selector]).waitForElements(options); }
    async dragTo(target, options) { return this.#act('drag', String(target), options); }
    async scroll(right, down, options) { return this.page.verb('scroll', right, down, { ...options, locator: this.selector }); }
    async evaluate(script, argument, options) {
        return this.page.verb('evaluate', String(script), carried(argument) ?? null, { ...options, locator: this.selector });
    }
    /** Of the element, by a script that changes nothing. */
    async #asked(script, options) { return this.evaluate(script, undefined, { ...options, repeatable: true }); }

    // ---------------------------------------------------------------- what is there

    async innerText(options) { return this.#act('text', options); }
    async textContent(options) { return this.#act('text', options); }
    async innerHTML(options) { return this.#act('html', options); }
    async inputValue(options) { return this.#act('value', options); }
    async getAttribute(name, options) { return this.#act('attribute', String(name), options); }
    async count() { return this.#act('count', undefined); }
    async all() { return Array.from({ length: await this.count() }, (_, at) => this.nth(at)); }
    async allInnerTexts() {
        const texts = [];
        for (const one of await this.all()) texts.push(await one.innerText());
        return texts;
    }
    async allTextContents() { return this.allInnerTexts(); }
    async isVisible() { return (await this.filter({ visible: true }).count()) > 0; }
    async isHidden() { return !(await this.isVisible()); }
    async isChecked(options) { return this.#asked(ofField("e.checked ?? e.getAttribute('aria-checked') === 'true'"), options); }
    async isDisabled(options) { return this.#asked(ofField("e.matches(':disabled') || e.closest('[aria-disabled=true]') !== null"), options); }
    async isEnabled(options) { return !(await this.isDisabled(options)); }
    async isEditable(options) { return this.#asked(ofField("!e.matches(':disabled') && !e.readOnly && e.getAttribute('aria-readonly') !== 'true'"), options); }
    async snapshot(options) { return this.page.verb('snapshot', { ...options, root: this.selector }); }
    async ariaSnapshot(options) { return this.snapshot(options); }
    async screenshot(given) {
        const { name, path, ...options } = optionsOf(given);
        return this.page.shot(name ?? path ?? 'element.png', { ...options, locator: this.selector });
    }
    /** Until the function, called with this element, answers what counts as true. */
    waitForFunction(script, argument, { timeout = this.page.defaultTimeout ?? 30000 } = {}) {
        // Of an element the host evaluates functions only.
        const asked = `(element, argument) => {\nconst found = (${script}\n);\nreturn typeof found === 'function' ? found(element, argument) : found;\n}`;
        return new Later(async () => {
            const until = Date.now() + timeout;
            for (let pause = 100; ; pause = Math.min(pause * 2, 1000)) {
                const answer = await this.evaluate(asked, argument, { repeatable: true, timeout: Math.max(1, until - Date.now()) });
                if (answer) return answer;
                if (Date.now() >= until) throw new Failure('timeout', `waited ${timeout} ms until this counts as true: ${script}`);
                await this.page.waitForTimeout(pause);
            }
        });
    }
    waitFor(given) {
        const { state = 'visible', ...options } = optionsOf(given);
        return new Later(() => this.#act('waitFor', state, options));
    }
}

answering(Finder.prototype, FINDER);
answering(Locator.prototype, LOCATOR_NOW);
promising(Locator.prototype, LOCATOR);
waiting(Locator.prototype, LOCATOR_LATER);

/** How a choice of a list is meant: the way, and the text. */
const EITHER = 'either';
const WAYS = ['value', 'label', 'index'];
function choiceOf(one) {
    if (typeof one !== 'object' || one === null) return [EITHER, String(one)];
    const ways = WAYS.filter((way) => only('a choice', WAYS, one)[way] !== undefined);
    if (ways.length !== 1) throw new Failure('invalid', `a choice is a text, or an object with one of ${WAYS.join(', ')}`);
    return [ways[0], String(one[ways[0]])];
}

/** An element by several names: the first that can be seen is taken. What several elements have for a name comes last. */
export class AnyOf {
    #page;
    #selectors;
    constructor(page, selectors) {
        this.#page = page;
        this.#selectors = selectors;
        for (const name of ['click', 'dblclick', 'tap', 'hover', 'fill', 'fillSecret', 'check', 'uncheck', 'selectOption', 'innerText', 'evaluate']) {
            const options = ELEMENT[name] ?? LOCATOR[name];
            this[name] = async (...values) => {
                check(name, options, values);
                return (await this.found({ timeout: values[options[0]]?.timeout }))[name](...values);
            };
        }
    }

    /** The locator that finds it. */
    async found({ state = 'visible', timeout = this.#page.defaultTimeout ?? 30000 } = {}) {
        if (this.#selectors.length === 1) return this.#page.locator(this.#selectors[0]);
        const until = Date.now() + timeout;
        for (let pause = 100; ; pause *= 2) {
            const tried = [];
            let several;
            for (const selector of this.#selectors) {
                const time = Math.max(1, Math.min(pause, until - Date.now()));
                try {
                    await this.#page.locator(selector).waitFor({ state, timeout: time });
                    return this.#page.locator(selector);
                } catch (error) {
                    if (!['timeout', 'not-found', 'ambiguous', 'invalid'].includes(error.code)) throw error;
                    if (error.code === 'ambiguous') several ??= selector;
                    tried.push({ selector, message: error.message, invalid: error.code === 'invalid' });
                }
            }
            if (several !== undefined) return this.#page.locator(several).first();
            if (tried.every((one) => one.invalid) || Date.now() >= until) {
                throw new Failure('not-found', `none of these was ${state} within ${timeout} ms:\n  ${tried.map((one) => `${one.selector}: ${one.message}`).join('\n  ')}`, { tried });
            }
        }
    }

    waitFor(options) {
        return new Later(async () => {
            // Gone is what no name finds any more.
            const gone = ['hidden', 'detached'].includes(options?.state);
            for (const one of gone ? this.#selectors : []) await this.#page.locator(one).waitFor(options);
            if (!gone) await this.found(options);
        });
    }

    /** Sets a field, whatever it is, as Chrome's own runner does: any text but the empty one checks a box. */
    async change(value, options) {
        const one = await this.found(options);
        let kind = 'text';
        try {
            kind = await one.evaluate("(e) => e.localName === 'select' ? 'select' : ['checkbox', 'radio'].includes(e.type) ? 'box' : 'text'", undefined, { ...options, repeatable: true });
        } catch (error) {
            // A page that holds a secret is not asked.
            if (error.code !== 'denied') throw error;
        }
        if (kind === 'select') return void (await one.selectOption(value, options));
        return kind === 'box' ? one.setChecked(value !== '', options) : one.fill(value, options);
    }

    /** Waits until so many elements are there and all have these properties and attributes; with `visible: false`, until that is not so. */
    async waitForElements({ operator = '>=', count = 1, visible = true, properties = {}, attributes = {}, timeout = this.#page.defaultTimeout ?? 30000 } = {}) {
        const until = Date.now() + timeout;
        const compare = { '>=': (found) => found >= count, '==': (found) => found === count, '<=': (found) => found <= count }[operator];
        const wants = Object.keys(properties).length + Object.keys(attributes).length > 0;
        for (let pause = 100; ; pause = Math.min(pause * 2, 1000)) {
            let found = 0;
            let holds;
            for (const selector of this.#selectors) {
                const all = this.#page.locator(selector);
                found = await all.count();
                if (found === 0) continue;
                holds = compare(found);
                for (let at = 0; holds && wants && at < found; at++) holds = await all.nth(at).evaluate(HAS, { properties, attributes }, { repeatable: true, timeout });
                break;
            }
            holds ??= compare(0);
            if (holds === visible) return;
            if (Date.now() >= until) {
                const more = wants ? ` with ${JSON.stringify({ properties, attributes })}` : '';
                throw new Failure('timeout', `waited ${timeout} ms until it is ${visible ? '' : 'not '}so that ${operator} ${count} are there${more}; there are ${found}: ${this.#selectors.join(', ')}`);
            }
            await this.#page.waitForTimeout(pause);
        }
    }
}

promising(AnyOf.prototype, { change: LOCATOR.change, waitForElements: LOCATOR.waitForElements });
waiting(AnyOf.prototype, { waitFor: LOCATOR_LATER.waitFor });

/** In the page: whether an element has all of these. */
const HAS = `(element, { properties, attributes }) => {
    const match = (a, b) => a === b || (a instanceof Object && b instanceof Object && Object.entries(a).every(([key, value]) => match(value, b[key])));
    return match(properties, element) && Object.entries(attributes).every(([name, value]) => element.getAttribute(name) === value);
}`;
