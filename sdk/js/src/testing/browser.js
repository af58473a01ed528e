// A browser without pages of its own: the test says what stands at which address, and what an action leads to.
import { Refusal, Unforeseen } from './refuse.js';

const quoted = (names) => (names.length > 0 ? names.join(', ') : 'nothing');
const plain = (locator) => locator.replace(/^css=/, '');

/** An element as a test gives it: a text, or an object. */
const element = (given) => (typeof given === 'object' && given !== null ? given : { text: String(given) });

class Page {
    #world;
    #number;
    #url = 'about:blank';
    #page = { elements: {} };
    /** What was filled in, by locator, until the page goes elsewhere. */
    #values = new Map();
    #closed = false;

    constructor(world, number) {
        this.#world = world;
        this.#number = number;
    }

    #note(verb, ...words) {
        if (this.#closed) throw new Refusal('page-lost', 'the page is closed');
        this.#world.actions.push([verb, ...words].join(' '));
    }

    /** What actions of elements get. */
    get handle() {
        return {
            number: this.#number,
            url: this.#url,
            value: (locator) => this.#values.get(locator),
            goto: (url) => this.#load(new URL(url, this.#url).href),
        };
    }

    #load(url) {
        this.#world.allowed('browser', url);
        const { pages } = this.#world;
        const found = typeof pages === 'function' ? pages(url) : pages[url];
        if (found === undefined) {
            throw new Unforeseen(`a page went to ${url}, and the test has no such page; it has ${quoted(Object.keys(pages))}`);
        }
        const page = typeof found === 'function' ? found(url) : found;
        this.#url = url;
        this.#page = { elements: {}, ...page };
        this.#values = new Map();
        return { url, status: page.status ?? 200 };
    }

    #seen(locator) {
        const given = this.#page.elements[plain(locator)];
        return given === undefined || given === null ? undefined : element(given);
    }

    #find(locator) {
        const found = this.#seen(locator);
        if (!found || found.visible === false) {
            const why = found ? 'cannot be seen' : 'is not there';
            throw new Refusal('not-found', `${locator} ${why} on ${this.#url}; the test's page has ${quoted(Object.keys(this.#page.elements))}`);
        }
        return found;
    }

    #act(locator, action, ...values) {
        const then = this.#find(locator)[action];
        if (typeof then === 'function') then(this.handle, ...values);
        else if (typeof then === 'string') this.handle.goto(then);
        else if (then !== undefined) throw new Unforeseen(`${action} of ${locator} must be an address or a function`);
    }

    goto(url) {
        this.#note('goto', url);
        return this.#load(new URL(url).href);
    }
    reload() {
        this.#note('reload');
        return this.#load(this.#url);
    }
    url() {
        this.#note('url');
        return this.#url;
    }
    title() {
        this.#note('title');
        return this.#page.title ?? '';
    }
    fill(locator, value) {
        this.#note('fill', locator, value);
        this.#find(locator);
        this.#values.set(plain(locator), value);
        this.#act(locator, 'fill', value);
    }
    typeText(locator, text) {
        this.#note('type-text', locator, text);
        this.#find(locator);
        const value = `${this.#values.get(plain(locator)) ?? ''}${text}`;
        this.#values.set(plain(locator), value);
        this.#act(locator, 'fill', value);
    }
    fillSecret(locator, name) {
        this.#note('fill-secret', locator, name);
        this.#world.allowed('secret', name);
        this.#find(locator);
        this.#values.set(plain(locator), { secret: name });
        this.#act(locator, 'fill', { secret: name });
    }
    select(locator, options) {
        this.#note('select', locator, ...options);
        this.#values.set(plain(locator), options.join());
        this.#act(locator, 'select', options);
        return options;
    }
    upload(locator, files) {
        this.#note('upload', locator, ...files);
        this.#act(locator, 'upload', files);
    }
    drag(source, target) {
        this.#note('drag', source, target);
        this.#find(target);
        this.#act(source, 'drag', target);
    }
    press(keys, settings) {
        const [, half] = settings?.find(([name]) => name === 'only') ?? [];
        this.#note('press', keys, ...(half ? [half] : []));
        // What a page does with keys it does when they go down.
        if (half !== 'up') this.#page.press?.(this.handle, keys);
    }
    text(locator) {
        this.#note('text', locator);
        return this.#text(this.#find(locator));
    }
    value(locator) {
        this.#note('value', locator);
        const { value = '' } = this.#find(locator);
        return this.#values.get(plain(locator)) ?? value;
    }
    attribute(locator, name) {
        this.#note('attribute', locator, name);
        return this.#find(locator).attributes?.[name] ?? null;
    }
    count(locator) {
        this.#note('count', locator);
        return this.#seen(locator)?.count ?? (this.#seen(locator) ? 1 : 0);
    }
    evaluate(script, argument) {
        this.#note('evaluate', script);
        if (!this.#page.evaluate) throw new Unforeseen(`the tool evaluates ${script} on ${this.#url}, and the test's page has no \`evaluate\``);
        return JSON.stringify(this.#page.evaluate(script, JSON.parse(argument)) ?? null);
    }
    waitFor(locator, state) {
        this.#note('wait-for', locator, state);
        if (state === 'visible') return void this.#find(locator);
        const found = this.#seen(locator);
        const holds = { attached: found !== undefined, detached: found === undefined, hidden: !found || found.visible === false }[state];
        if (!holds) throw new Refusal('timeout', `waited for ${locator} to be ${state} on ${this.#url}`);
    }
    waitForText(text) {
        this.#note('wait-for-text', text);
        const texts = Object.values(this.#page.elements).map((one) => this.#text(element(one)));
        if (texts.some((one) => one.toLowerCase().includes(text.toLowerCase()))) return;
        throw new Refusal('timeout', `waited for the text ${text} on ${this.#url}`);
    }
    waitForUrl(pattern) {
        this.#note('wait-for-url', pattern);
        const wanted = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')).join('.*');
        if (!new RegExp(`^${wanted}$`).test(this.#url)) throw new Refusal('timeout', `waited for ${pattern}; the page is at ${this.#url}`);
    }
    waitForLoad(state) {
        this.#note('wait-for-load', state);
    }
    screenshot(name) {
        this.#note('screenshot', name);
        return this.#world.save(name, 'image/png', new Uint8Array());
    }
    pdf(name) {
        this.#note('pdf', name);
        return this.#world.save(name, 'application/pdf', new Uint8Array());
    }
    close() {
        this.#note('close');
        this.#closed = true;
    }
    [Symbol.dispose]() {
        this.#closed = true;
    }

    #text({ text = '' }) {
        return String(typeof text === 'function' ? text(this.handle) : text);
    }
    /** An action that its element may answer to. */
    act(verb, locator) {
        this.#note(verb, locator);
        this.#act(locator, verb);
    }
}
for (const verb of ['click', 'dblclick', 'tap', 'hover', 'focus', 'scrollIntoView', 'check', 'uncheck']) {
    Page.prototype[verb] = function (locator) {
        this.act(verb, locator);
    };
}
// What a browser alone can tell.
for (const verb of ['back', 'forward', 'html', 'snapshot', 'waitForFunction', 'waitForPopup', 'waitForDownload', 'console', 'pageErrors', 'requests', 'scroll', 'compose', 'onDialog', 'setOffline', 'setViewport', 'boundingBox']) {
    Page.prototype[verb] = function () {
        throw new Unforeseen(`the browser of tests has no \`${verb}\`: try it on a host`);
    };
}

/** The contract's `browser`. `world`: `{ pages, actions, allowed, save }`. */
export function browser(world) {
    let count = 0;
    return { open: () => new Page(world, ++count) };
}
