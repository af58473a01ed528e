// Pages, and the browser that they are in. Names are those of Playwright.

import { Finder, Locator } from './locators.js';
import { bytesOf } from './task.js';
import { BROWSER, CONTEXT, KEYBOARD, MOUSE, PAGE, PAGE_LATER, PAGE_NOW, answering, promising, waiting } from './options.js';
import { Later } from './time.js';
import { Failure, carried, only, optionsOf, parse, settings, stringify } from './values.js';

const { Array, Date, Error, JSON, Map, Math, Object, Promise, RegExp, String, TypeError } = globalThis;

/** How often `withPage` runs its work at most. */
const ATTEMPTS = 10;
/** Where keys go: the element that has the focus, in whichever frame. */
const FOCUSED = ':focus:not(iframe, frame)';
/** What the contract calls the options of Playwright. */
const OPEN = { deviceScaleFactor: 'scale', isMobile: 'mobile', hasTouch: 'touch', timezoneId: 'time-zone', timeZone: 'time-zone', extraHTTPHeaders: 'headers' };
const SHOT = { type: 'format' };
const PRINT = { format: 'paper', printBackground: 'background', pageRanges: 'pages', preferCSSPageSize: 'prefer-css-size' };
const UNTIL = ['load', 'domcontentloaded', 'networkidle', 'commit'];

function opening(wanted) {
    const { httpCredentials, extraHTTPHeaders, headers = extraHTTPHeaders, ...options } = optionsOf(wanted);
    const { username, password, origin } = only('httpCredentials', ['username', 'password', 'origin'], httpCredentials ?? {});
    if (password !== undefined && typeof password?.secret !== 'string') {
        throw new TypeError("the password of httpCredentials is named: { username, password: secret('name'), origin }");
    }
    const given = { ...options, headers: headers && stringify(headers), username, passwordSecret: password?.secret, credentialsOrigin: origin };
    return settings(given, undefined, OPEN);
}

const inches = (size) => {
    const [, number, unit = 'px'] = /^([\d.]+)(px|in|cm|mm)?$/.exec(String(size)) ?? [];
    return Number(number) / { px: 96, in: 1, cm: 2.54, mm: 25.4 }[unit];
};

const SIDES = ['top', 'right', 'bottom', 'left'];
/** One margin for all sides: a number of inches, or as Playwright has it, if all sides have the same. */
function marginOf(given) {
    if (typeof given !== 'object' || given === null) return given;
    const sides = SIDES.map((side) => inches(only('margin', SIDES, given)[side] ?? 0));
    if (sides.some((side) => side !== sides[0])) throw new Failure('invalid', 'a printed page has one margin for all four sides');
    return sides[0];
}

/** How far a document is loaded. */
function untilOf(wanted) {
    if (wanted !== undefined && !UNTIL.includes(wanted)) throw new Failure('invalid', `waitUntil must be one of ${UNTIL.join(', ')}, not ${wanted}`);
    return wanted;
}

/** A name that a file of the task may have. */
const plain = (name) => name.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(-128).replace(/^\.*$/, 'file');

/** A frame that is named by its address, with what steps of recordings ask of a page. */
class Frame extends Locator {
    get #root() { return this.locator('html').first(); }
    async evaluate(script, argument, options) { return this.#root.evaluate(`(_, argument) => (${script})(argument)`, argument, options); }
    waitForFunction(...values) { return this.#root.waitForFunction(...values); }
    waitForNavigation(...values) { return this.page.waitForNavigation(...values); }
    async setOffline(offline) { return this.page.setOffline(offline); }
    // Only pages have these; Chrome's own runner does nothing there.
    async close() {}
    async setViewportSize() {}
    async goto() { throw new Failure('unavailable', "this host can't go to an address in a frame alone"); }
}

export function browserOf(native, call, sleep) {
    /** All that were opened, so that a popup is one object wherever it is found. */
    const all = [];

    class Page extends Finder {
        #number;
        #defaults = {};
        #closed = false;
        constructor(number) {
            super();
            this.#number = number;
            this.keyboard = promising({
                press: (keys, options) => this.press(keys, options),
                down: async (key, options) => this.verb('press', key, { ...options, only: 'down' }),
                up: async (key, options) => this.verb('press', key, { ...options, only: 'up' }),
                type: (text, options) => this.locator(FOCUSED).pressSequentially(text, options),
                insertText: (text) => this.locator(FOCUSED).compose(text),
            }, KEYBOARD);
            this.mouse = promising({ wheel: async (right, down) => this.verb('scroll', right, down, undefined) }, MOUSE);
            if (number !== undefined) all.push(this);
        }

        within(selector) { return new Locator(this, selector); }
        context() { return context; }
        setDefaultTimeout(time) { this.#defaults = { timeout: time }; }
        setDefaultNavigationTimeout(time) { this.setDefaultTimeout(time); }
        get defaultTimeout() { return this.#defaults.timeout; }
        /** Calls a verb; the last value is its options. */
        verb(name, ...values) {
            const options = values.pop();
            return call(`page.${name}`, this.#handle(), ...values, settings(options, this.#defaults));
        }
        /** A call without options. */
        #plain(name, ...values) { return call(`page.${name}`, this.#handle(), ...values); }
        #handle() {
            // The page that every script has is opened when it is first used.
            if (this.#number === undefined) {
                this.#number = call('browser.open', {});
                all.push(this);
            }
            return this.#number;
        }

        // ------------------------------------------------------------ where it is

        async #arrive(name, values, given) {
            const { waitUntil, ...options } = optionsOf(given);
            return this.verb(name, ...values, { ...options, until: untilOf(waitUntil) });
        }
        async goto(url, options) { return this.#arrive('goto', [url], options); }
        async reload(options) { return this.#arrive('reload', [], options); }
        async goBack(options) { return this.#arrive('back', [], options); }
        async goForward(options) { return this.#arrive('forward', [], options); }
        async url() { return this.#plain('url'); }
        async title() { return this.#plain('title'); }
        async close() {
            this.#plain('close');
            this.#gone();
        }
        /** Lets go of the page without a step: what `withPage` does at the end. */
        release() {
            this.#plain('release');
            this.#gone();
        }
        #gone() {
            this.#closed = true;
            const at = all.indexOf(this);
            if (at >= 0) all.splice(at, 1);
        }
        isClosed() { return this.#closed; }
        async setOffline(offline) { return this.#plain('setOffline', offline === true); }
        async onDialog(action, { kind = 'all', ...options } = {}) { return this.verb('onDialog', kind, action, options); }
        async setViewportSize({ width, height }, options) {
            return call('page.setViewport', this.#handle(), width, height, settings(options, this.#defaults, OPEN));
        }
        on(event) {
            throw new Failure('unavailable', `a page calls nobody back on \`${event}\`: there are onDialog(action) for what comes, waitForEvent('popup' or 'download'), and consoleMessages(), pageErrors(), requests() for what was`);
        }

        // ------------------------------------------------------------ waiting

        waitForSelector(selector, options) { return this.locator(selector).waitFor(options); }
        async waitForTimeout(time) { return sleep(time); }
        waitForText(text, options) { return new Later(async () => this.verb('waitForText', String(text), options)); }
        waitForLoadState(state = 'load', options = undefined) { return new Later(async () => this.verb('waitForLoad', state, options)); }
        waitForFunction(script, argument, options) {
            return new Later(async () => this.verb('waitForFunction', String(script), carried(argument) ?? null, options));
        }
        waitForURL(wanted, options) {
            if (typeof wanted === 'string') {
                return new Later(() => this.#thenLoaded(options, async (wait) => this.verb('waitForUrl', wanted.replace(/\*+/g, '*'), wait)));
            }
            const fits = wanted instanceof RegExp ? (url) => wanted.test(url) : wanted;
            return new Later(() => this.#thenLoaded(options, (wait) => this.#untilURL(fits, String(wanted), wait)));
        }
        /** Until an address is there, and its document is loaded as far as is wanted, both within one time. */
        async #thenLoaded({ waitUntil, ...options } = {}, there) {
            untilOf(waitUntil);
            const until = Date.now() + (options.timeout ?? this.#defaults.timeout ?? 30000);
            await there(options);
            if (waitUntil !== undefined && waitUntil !== 'commit') this.verb('waitForLoad', waitUntil, { timeout: Math.max(1, until - Date.now()) });
        }
        async #untilURL(fits, wanted, { timeout = this.#defaults.timeout ?? 30000 }) {
            const until = Date.now() + timeout;
            for (let pause = 50; ; pause = Math.min(pause * 2, 1000)) {
                const now = await this.url();
                if (fits(now)) return;
                if (Date.now() >= until) throw new Failure('timeout', `waited ${timeout} ms for ${wanted}; the page is at ${now}`);
                await sleep(pause);
            }
        }
        /** Runs `work`, and waits until the address is another than before, or the one that is wanted. */
        waitForNavigation({ url, ...options } = {}, work = () => {}) {
            return new Later(async () => {
                untilOf(options.waitUntil);
                const before = await this.url();
                await work();
                await this.#thenLoaded(options, (wait) => this.#untilURL((now) => now !== before || now === url, 'another address', wait));
            });
        }
        waitForPopup(options) { return new Later(async () => new Page(this.verb('waitForPopup', options))); }
        waitForDownload(options) { return new Later(async () => this.verb('waitForDownload', options)); }
        waitForEvent(event, options) {
            if (event === 'popup') return this.waitForPopup(options);
            if (event === 'download') return this.waitForDownload(options);
            throw new Failure('unavailable', `a page can't be waited for \`${event}\`: there are popup, download`);
        }

        // ------------------------------------------------------------ what is in it

        async evaluate(script, argument, options) { return this.verb('evaluate', String(script), carried(argument) ?? null, options); }
        async content() {
            const inner = await this.locator('html').innerHTML();
            const [before, after] = await this.evaluate(AROUND, undefined, { repeatable: true });
            return before + inner + after;
        }
        async setContent(html, options) {
            await this.evaluate('(html) => { document.open(); document.write(html); document.close(); }', String(html), options);
        }
        async snapshot(given) {
            const { root, ...options } = optionsOf(given);
            return this.verb('snapshot', { root: root && String(root), ...options });
        }
        async ariaSnapshot(options) { return this.snapshot(options); }
        async consoleMessages() { return this.#plain('console'); }
        async pageErrors() { return this.#plain('pageErrors'); }
        async requests() { return this.#plain('requests'); }
        async screenshot(given) {
            const { name, path, ...options } = optionsOf(given);
            return this.shot(name ?? path ?? 'page.png', options);
        }
        /** Of the page or of an element. */
        shot(name, options) { return call('page.screenshot', this.#handle(), name, settings(options, this.#defaults, SHOT)); }
        async pdf(given) {
            const { name, path, width, height, margin, ...options } = optionsOf(given);
            if ((width === undefined) !== (height === undefined)) throw new Failure('invalid', 'width and height of a printed page go together');
            const size = width === undefined ? {} : { format: `${inches(width)}x${inches(height)}` };
            return call('page.pdf', this.#handle(), name ?? path ?? 'page.pdf', settings({ ...options, ...size, margin: marginOf(margin) }, this.#defaults, PRINT));
        }

        // ------------------------------------------------------------ by a selector

        /** `press(keys)` where the focus is, `press(selector, keys)` in an element. */
        async press(first, second, third) {
            if (typeof second === 'string') return this.locator(first).press(second, third);
            return this.verb('press', first, second);
        }
        async dragAndDrop(source, target, options) { return this.locator(source).dragTo(target, options); }

        /**
         * How `upload` knows files, `{ file, name }`: a path of the workdir or an id, and the name that the page sees where it
         * is not the file's own. Bytes become a file of the task first.
         */
        async uploads(files) {
            return files.map((file) => {
                if (typeof file === 'string') return { file };
                if (typeof file?.sha256 === 'string') return { file: file.id };
                if (file?.buffer === undefined || typeof file.name !== 'string') throw new TypeError("a file is an artifact, its id, a path under /workdir/, or { name, mimeType, buffer }");
                const { name } = only('a file', ['name', 'mimeType', 'buffer'], file);
                const [bytes, mime] = bytesOf(native, file.buffer);
                const kept = plain(name);
                const { id } = parse(native.save(kept, file.mimeType ?? mime, bytes));
                return { file: id, name: kept === name ? undefined : name };
            });
        }

        /** The page or frame at an address, as recordings name them: this page, a popup of one that is known, or a frame. */
        async at(address, timeout = this.#defaults.timeout ?? 30000) {
            const until = Date.now() + timeout;
            for (;;) {
                const there = call('browser.pages').filter(({ url }) => url === address);
                if (there.some(({ page }) => page === null)) await this.#takePopups();
                if (there.length > 0) for (const page of [...all]) if ((await page.url()) === address) return page;
                const frame = this.locator(`iframe[src=${JSON.stringify(address)}]`);
                if ((await frame.count()) > 0) return new Frame(this, frame.first().selector);
                if (Date.now() >= until) throw new Failure('not-found', `no page and no frame is at ${address}`);
                await sleep(100);
            }
        }
        async #takePopups() {
            for (const page of [...all]) {
                try {
                    for (;;) await page.waitForPopup({ timeout: 1 });
                } catch (error) {
                    if (error.code !== 'timeout') throw error;
                }
            }
        }
    }

    // `page.click(selector, …)` is `page.locator(selector).click(…)`.
    const BY_SELECTOR = [
        'click', 'dblclick', 'tap', 'hover', 'focus', 'fill', 'fillSecret', 'type', 'change', 'check', 'uncheck', 'setChecked', 'selectOption', 'setInputFiles', 'innerText',
        'textContent', 'innerHTML', 'inputValue', 'getAttribute', 'boundingBox', 'isVisible', 'isHidden', 'isChecked', 'isDisabled', 'isEnabled', 'isEditable',
    ];
    for (const name of BY_SELECTOR) {
        Page.prototype[name] = async function (selector, ...values) { return this.locator(selector)[name](...values); };
    }

    answering(Page.prototype, PAGE_NOW);
    promising(Page.prototype, PAGE);
    waiting(Page.prototype, PAGE_LATER);

    const context = promising({
        pages: () => [...all],
        newPage: (options) => browser.open(options),
        cookies: async (origin) => call('browser.cookies', String(origin)),
        addCookies: async (cookies) => call('browser.setCookies', cookies),
        clearCookies: async (origin) => call('browser.clearCookies', String(origin)),
        storageState: async ({ origins = [] } = {}) => call('browser.storageState', [origins].flat()),
        setStorageState: async (state) => call('browser.setStorageState', state),
    }, CONTEXT);

    const browser = promising({
        open: async (options) => new Page(call('browser.open', opening(options))),
        newPage: async (options) => browser.open(options),
        contexts: () => [context],
        /** Opens a page, runs `work` with it, lets go of it. Runs again with another page if it was lost. */
        async withPage(work, { repeatable = false, ...options } = {}) {
            for (let attempt = 1; ; attempt++) {
                const opened = await browser.open(options);
                try {
                    return await work(opened);
                } catch (error) {
                    const again = error?.code === 'page-lost' || (repeatable && error?.code === 'interrupted');
                    if (!again || attempt >= ATTEMPTS) throw error;
                } finally {
                    opened.release();
                }
            }
        },
    }, BROWSER);
    return { browser, context, page: new Page(undefined) };
}

/** In the page: what stands around the inside of the root. */
const AROUND = `() => {
    const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : '';
    const [before, after] = document.documentElement.cloneNode(false).outerHTML.split('></');
    return [type + before + '>', '</' + after];
}`;
