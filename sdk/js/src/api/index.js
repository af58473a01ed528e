// What JavaScript sees of Windlass, the same for scripts (plugins/script) and for plugins of the JavaScript SDK. Made once
// a turn of `native`, the host's calls, and of the facts of the turn; answers the names and what drives the turn: jobs,
// timers, the rejections that nobody handles.
//
// A verb of the host is one line here, one in plugins/script/src/native.rs, one in the SDK's own `native`, and one in
// windlass.d.ts.

/**
 * @param native `call(name, json)`: a host call with its arguments as a JSON array, answers JSON; `log(level, text, [name,
 *   value, …])`; `save(name, mimeType, bytes)`: answers JSON; `read(id)`; `send(json, bytes)`: answers `{ head, body }`;
 *   `encode(text)`, `decode(bytes)`, `random()`. What the host refuses is thrown: an `Error` with `code`, maybe `details`.
 * @param facts `{ taskId, number, tool, message, input, shift }` of the turn; `shift` is how much too high columns of the
 *   first line are; `clean(stack)`, where there is one, makes a stack as people should see it.
 */
export default function api(native, facts) {
    const { Promise, Error, TypeError, Uint8Array, RegExp, JSON, Object, Array, String, Number, Map, Symbol, Date } = globalThis;
    // Kept here, so that a script that replaces them replaces them for itself.
    const { stringify, parse } = JSON;
    const call = (name, ...values) => parse(native.call(name, stringify(values)));

    // ---------------------------------------------------------------- values

    /** Whatever a script logs, as text. */
    function shown(value) {
        if (typeof value === 'string') return value;
        if (value instanceof Error) return value.stack ? `${value}\n${clean(value.stack)}`.trimEnd() : String(value);
        if (value instanceof Uint8Array) return `Uint8Array(${value.length})`;
        if (typeof value === 'object' && value !== null) {
            const seen = [];
            try {
                const text = stringify(value, function (key, inner) {
                    if (typeof inner === 'bigint') return `${inner}n`;
                    if (inner instanceof Map) return Object.fromEntries(inner);
                    if (inner instanceof Set) return [...inner];
                    if (inner instanceof Error) return String(inner);
                    if (typeof inner === 'object' && inner !== null) {
                        while (seen.length && seen.at(-1) !== this) seen.pop();
                        if (seen.includes(inner)) return '[circular]';
                        seen.push(inner);
                    }
                    return inner;
                });
                if (text !== undefined) return text;
            } catch {
                // It can't be written as JSON: its own text then.
            }
        }
        return typeof value === 'bigint' ? `${value}n` : String(value);
    }

    /** A stack without the frames of this file, and with the columns of the first line as the script has them. */
    function clean(stack) {
        if (facts.clean) return facts.clean(stack);
        const lines = stack.split('\n').filter((line) => !line.includes('windlass:api') && !line.includes('(native)'));
        return lines.join('\n').replaceAll(/:1:(\d+)(?=\)?$)/gm, (_, column) => `:1:${Math.max(1, column - (facts.shift ?? 0))}`);
    }

    const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    /** Options whose names in Playwright and in the contract differ. */
    const RENAMED = { timeout: 'timeout-ms', fullPage: 'full', timezoneId: 'time-zone' };

    /** Options of a call as the contract has them: names in kebab-case, values as text. */
    function settings(options, defaults) {
        if (options !== undefined && (typeof options !== 'object' || options === null)) {
            throw new TypeError(`options must be an object, not ${shown(options)}`);
        }
        const pairs = {};
        for (const [name, value] of Object.entries({ ...defaults, ...options })) {
            if (value === undefined) continue;
            const size = name === 'viewport' && typeof value === 'object' && value !== null;
            const text = size ? `${value.width}x${value.height}` : value instanceof Locator ? value.selector : String(value);
            pairs[RENAMED[name] ?? kebab(name)] = text;
        }
        return pairs;
    }

    // ---------------------------------------------------------------- log and output

    const flat = (fields) => Object.entries(fields ?? {}).flatMap(([name, value]) => [name, shown(value)]);
    const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'];
    const log = {};
    for (const level of LEVELS) {
        log[level] = (message, fields) => native.log(level, shown(message), fields === undefined ? [] : flat(fields));
    }

    /** As in browsers: `%s` and `%d` of the first argument, the others behind it with spaces. */
    function formatted([first, ...rest]) {
        if (typeof first === 'string') {
            first = first.replace(/%([sdifjoOc%])/g, (whole, kind) => {
                if (kind === '%') return '%';
                if (rest.length === 0) return whole;
                const value = rest.shift();
                if (kind === 'c') return '';
                return kind === 'd' || kind === 'i' ? String(Math.trunc(Number(value))) : kind === 'f' ? String(Number(value)) : shown(value);
            });
        }
        return [first, ...rest].map(shown).join(' ');
    }
    const console = {};
    for (const [name, level] of Object.entries({ log: 'info', info: 'info', debug: 'debug', trace: 'trace', warn: 'warn', error: 'error' })) {
        console[name] = (...values) => native.log(level, values.length ? formatted(values) : '', []);
    }
    console.assert = (holds, ...values) => holds || console.error('Assertion failed:', ...values);

    function emit(piece, { part = 'output', last = false, mimeType } = {}) {
        const artifact = piece !== null && typeof piece === 'object' && typeof piece.sha256 === 'string';
        const text = typeof piece === 'string';
        const mime = mimeType ?? (artifact ? piece.mimeType : text ? 'text/plain' : 'application/json');
        call('emit', part, mime, artifact ? { artifact: piece.id } : { text: shown(piece) }, last);
    }

    /** An outcome with more to it than the value that a script returns. */
    class Outcome {
        constructor(value, { text, content, question } = {}) {
            this.value = value;
            this.content = [text, ...(content ?? [])].filter((piece) => piece !== undefined);
            this.question = question;
        }
    }

    function json(value) {
        try {
            return stringify(value);
        } catch (error) {
            throw new TypeError(`what the script returned can't be written as JSON: ${error.message}`);
        }
    }

    /** What the script returned, as JSON for outcome.rs. */
    function finish(returned) {
        const { value, content, question } = returned instanceof Outcome ? returned : { value: returned, content: [] };
        const pieces = content.map((piece) => {
            if (typeof piece === 'string') return { mimeType: 'text/plain', text: piece };
            if (typeof piece?.sha256 === 'string') return { mimeType: piece.mimeType, artifact: piece.id };
            return { mimeType: 'application/json', text: json(piece) };
        });
        return json({ value: value instanceof Uint8Array ? [...value] : value, content: pieces, question });
    }

    class Failure extends Error {
        constructor(code, message, details) {
            super(message);
            this.name = 'Failure';
            this.code = String(code);
            if (details !== undefined) this.details = details;
        }
    }

    // ---------------------------------------------------------------- time

    const timers = new Map();
    let timer = 0;
    function later(run, time, again) {
        const wait = Math.max(Number(time) || 0, 0);
        timers.set(++timer, { due: Date.now() + wait, run, wait: again ? Math.max(wait, 1) : undefined });
        return timer;
    }
    const setTimeout = (run, time, ...values) => later(() => run(...values), time, false);
    const setInterval = (run, time, ...values) => later(() => run(...values), time, true);
    const clearTimeout = (id) => void timers.delete(id);

    /** Waits for the timer that is due first and runs it; false where there is none. */
    function tick() {
        let first;
        for (const [id, { due }] of timers) if (first === undefined || due < timers.get(first).due) first = id;
        if (first === undefined) return false;
        const { due, run, wait, fail } = timers.get(first);
        const left = due - Date.now();
        if (left > 0) {
            try {
                call('task.sleep', left);
            } catch (error) {
                // The wait was cut short, and all that wait hear of it.
                const waiting = [...timers.values()];
                timers.clear();
                for (const one of waiting) one.fail?.(error);
                if (!waiting.some((one) => one.fail)) throw error;
                return true;
            }
        }
        if (wait === undefined) timers.delete(first);
        else timers.get(first).due = due + wait;
        run();
        return true;
    }

    function sleep(time) {
        if (!(Number(time) >= 0)) return Promise.reject(new TypeError(`sleep wants milliseconds, not ${shown(time)}`));
        return new Promise((done, fail) => timers.set(++timer, { due: Date.now() + Number(time), run: done, fail }));
    }

    // ---------------------------------------------------------------- questions, state, files

    let asked = 0;
    function question(given) {
        const { key = `q${++asked}`, message, schema, peopleOnly = false, timeout } = typeof given === 'string' ? { message: given } : given ?? {};
        const form = schema ?? { type: 'object', properties: { answer: { type: 'string', title: 'Answer' } }, required: ['answer'] };
        return { key, message, schema: form, peopleOnly, timeout };
    }
    const answered = (answer) => ({ ...answer, accepted: answer.action === 'accepted' });

    async function ask(given) {
        const many = Array.isArray(given);
        const answers = call('ask', (many ? given : [given]).map(question)).map(answered);
        return many ? answers : answers[0];
    }

    async function confirm(message, options) {
        const schema = { type: 'object', properties: { confirm: { type: 'boolean', title: 'Yes' } }, required: ['confirm'] };
        const answer = await ask({ ...options, message, schema });
        return answer.accepted && answer.value.confirm === true;
    }

    const state = {
        get: async (key) => call('state.get', key) ?? undefined,
        set: async (key, value) => call('state.set', key, value ?? null),
        delete: async (key) => call('state.delete', key),
        keys: async (prefix = '') => call('state.keys', prefix),
    };

    const artifacts = {
        async save(name, data, { mimeType } = {}) {
            if (data instanceof ArrayBuffer) data = new Uint8Array(data);
            if (data instanceof Uint8Array) return parse(native.save(String(name), mimeType ?? 'application/octet-stream', data));
            const text = typeof data === 'string';
            const mime = mimeType ?? (text ? 'text/plain' : 'application/json');
            return parse(native.save(String(name), mime, native.encode(text ? data : stringify(data))));
        },
        read: async (file) => native.read(String(file?.id ?? file)),
        readText: async (file) => native.decode(native.read(String(file?.id ?? file))),
    };

    /** What the host puts in place of a secret: the script names it and never sees it. */
    const secret = (name, prefix = '') => ({ secret: String(name), prefix });
    const secrets = { reveal: async (name) => call('secrets.reveal', name) };

    class Answer {
        #body;
        constructor({ status, url, headers }, body) {
            Object.assign(this, { status, url, ok: status >= 200 && status < 300, headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])) });
            this.#body = body;
        }

        bytes() { return this.#body; }
        text() { return native.decode(this.#body); }
        json() { return parse(this.text()); }
    }

    async function request(method, url, { headers = {}, body, ...options } = {}) {
        const plain = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
        const typed = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
        const all = plain || typed ? headers : { ...headers, 'content-type': 'application/json' };
        const bytes = body instanceof Uint8Array ? body : native.encode(plain ? body ?? '' : stringify(body));
        const { head, body: answer } = native.send(stringify([method, url, all, settings(options)]), bytes);
        return new Answer(parse(head), answer);
    }
    const http = { request };
    for (const method of ['get', 'head', 'delete']) http[method] = async (url, options) => request(method.toUpperCase(), url, options);
    for (const method of ['post', 'put', 'patch']) http[method] = async (url, body, options) => request(method.toUpperCase(), url, { ...options, body });

    const task = {
        id: facts.taskId,
        turn: facts.number,
        tool: facts.tool,
        message: facts.message ?? undefined,
        isCancelled: () => call('task.isCancelled'),
        messages: () => call('task.messages'),
    };

    // ---------------------------------------------------------------- pages

    /** A text or pattern as a locator writes it. Without `exact` it may stand within another, whatever the case. */
    function quoted(text, exact) {
        if (text instanceof RegExp) return `/${text.source}/${text.flags}`;
        return `"${String(text).replace(/["\\]/g, '\\$&')}"${exact ? 's' : ''}`;
    }
    const chained = (a, b) => (a ? `${a} >> ${b}` : b);

    /** The ways to name an element, the same from a page and within a locator. */
    class Finder {
        locator(selector) { return this.within(selector instanceof Locator ? selector.selector : String(selector)); }
        getByText(text, { exact } = {}) { return this.within(`text=${quoted(text, exact)}`); }
        getByLabel(text, { exact } = {}) { return this.within(`label=${quoted(text, exact)}`); }
        getByPlaceholder(text, { exact } = {}) { return this.within(`placeholder=${quoted(text, exact)}`); }
        getByAltText(text, { exact } = {}) { return this.within(`alt=${quoted(text, exact)}`); }
        getByTitle(text, { exact } = {}) { return this.within(`title=${quoted(text, exact)}`); }
        getByTestId(id) { return this.within(`testid=${quoted(id, true)}`); }
        getByRole(role, { name, exact, ...states } = {}) {
            const named = name === undefined ? '' : `[name=${quoted(name, exact)}]`;
            return this.within(`role=${role}${named}${Object.entries(states).map(([state, value]) => `[${state}=${value}]`).join('')}`);
        }
    }

    class Page extends Finder {
        #number;
        #defaults = {};
        constructor(number) {
            super();
            this.#number = number;
            this.keyboard = { press: (keys, options) => this.press(keys, options) };
        }

        within(selector) { return new Locator(this, selector); }
        setDefaultTimeout(time) { this.#defaults = { timeout: time }; }
        get defaultTimeout() { return this.#defaults.timeout; }
        /** Calls a verb; the last value is its options. */
        verb(name, ...values) {
            const options = values.pop();
            return call(`page.${name}`, this.#handle(), ...values, settings(options, this.#defaults));
        }
        #handle() {
            // The page that every script has is opened when it is first used.
            this.#number ??= call('browser.open', {});
            return this.#number;
        }

        async goto(url, options) { return this.verb('goto', url, options); }
        async url() { return this.verb('url', undefined); }
        async title() { return this.verb('title', undefined); }
        async click(selector, options) { return this.locator(selector).click(options); }
        async fill(selector, value, options) { return this.locator(selector).fill(value, options); }
        async textContent(selector, options) { return this.locator(selector).textContent(options); }
        async innerText(selector, options) { return this.locator(selector).innerText(options); }
        async waitForSelector(selector, options) { return this.locator(selector).waitFor(options); }
        async waitForTimeout(time) { return sleep(time); }
        async press(keys, options) { return this.verb('press', keys, options); }
        async screenshot({ name, path, ...options } = {}) { return this.verb('screenshot', name ?? path ?? 'page.png', options); }
        async close() { call('page.close', this.#handle()); }
        /** Lets go of the page without a step: what `withPage` does at the end. */
        release() { call('page.release', this.#handle()); }
        anyOf(...selectors) { return new AnyOf(this, selectors.map((one) => this.locator(one).selector)); }

        /** Runs `work`, and waits until the address is another than before, or the one that is wanted. */
        async waitForNavigation({ url, timeout = this.#defaults.timeout ?? 30000 } = {}, work = () => {}) {
            const before = await this.url();
            await work();
            return this.waitForURL((now) => now !== before || now === url, { timeout });
        }
        async waitForURL(wanted, { timeout = this.#defaults.timeout ?? 30000 } = {}) {
            const until = Date.now() + timeout;
            for (let pause = 50; ; pause = Math.min(pause * 2, 1000)) {
                const now = await this.url();
                if (wanted instanceof RegExp ? wanted.test(now) : typeof wanted === 'function' ? wanted(now) : now === String(wanted)) return now;
                if (Date.now() >= until) throw new Failure('timeout', `waited ${timeout} ms for ${typeof wanted === 'function' ? 'another address' : wanted}; the page is at ${now}`);
                await sleep(pause);
            }
        }
    }

    class Locator extends Finder {
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
        filter({ hasText, hasNotText, has, visible } = {}) {
            let found = this;
            if (hasText !== undefined) found = found.within(`has-text=${quoted(hasText)}`);
            if (hasNotText !== undefined) found = found.within(`has-not-text=${quoted(hasNotText)}`);
            if (has !== undefined) found = found.within(`has=(${has.selector})`);
            if (visible !== undefined) found = found.within(`visible=${visible}`);
            return found;
        }

        async click(options) { return this.page.verb('click', this.selector, options); }
        async fill(value, options) { return this.page.verb('fill', this.selector, String(value), options); }
        async fillSecret(name, options) { return this.page.verb('fillSecret', this.selector, name, options); }
        async textContent(options) { return this.page.verb('text', this.selector, options); }
        async innerText(options) { return this.page.verb('text', this.selector, options); }
        async waitFor({ state: wanted = 'visible', ...options } = {}) { return this.page.verb('waitFor', this.selector, wanted, options); }
        async screenshot({ name, path, ...options } = {}) {
            return this.page.verb('screenshot', name ?? path ?? 'element.png', { ...options, locator: this.selector });
        }
    }

    /** An element by several names: the first that can be seen is taken. */
    class AnyOf {
        #page;
        #selectors;
        constructor(page, selectors) {
            this.#page = page;
            this.#selectors = selectors;
        }

        async #found({ state: wanted = 'visible', timeout = this.#page.defaultTimeout ?? 30000 } = {}) {
            if (this.#selectors.length === 1) return this.#page.locator(this.#selectors[0]);
            const until = Date.now() + timeout;
            for (let pause = 100; ; pause *= 2) {
                const tried = [];
                for (const selector of this.#selectors) {
                    const left = until - Date.now();
                    const time = Math.max(1, Math.min(pause, left));
                    try {
                        await this.#page.locator(selector).waitFor({ state: wanted, timeout: time });
                        return this.#page.locator(selector);
                    } catch (error) {
                        if (!['timeout', 'not-found', 'ambiguous', 'invalid'].includes(error.code)) throw error;
                        tried.push({ selector, message: error.message, invalid: error.code === 'invalid' });
                    }
                }
                const hopeless = this.#selectors.length === tried.filter((one) => one.invalid).length;
                if (hopeless || Date.now() >= until) {
                    throw new Failure('not-found', `none of these was ${wanted} within ${timeout} ms:\n  ${tried.map((one) => `${one.selector}: ${one.message}`).join('\n  ')}`, { tried });
                }
            }
        }

        async click(options) { return (await this.#found(options)).click(options); }
        async fill(value, options) { return (await this.#found(options)).fill(value, options); }
        async fillSecret(name, options) { return (await this.#found(options)).fillSecret(name, options); }
        async innerText(options) { return (await this.#found(options)).innerText(options); }
        async waitFor(options) {
            // Gone is what no name finds any more.
            const gone = ['hidden', 'detached'].includes(options?.state);
            for (const one of gone ? this.#selectors : []) await this.#page.locator(one).waitFor(options);
            if (!gone) await this.#found(options);
        }
    }

    /** How often `withPage` runs its work at most. */
    const ATTEMPTS = 10;
    const browser = {
        open: async (options) => new Page(call('browser.open', settings(options))),
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
    };

    // ---------------------------------------------------------------- steps of recordings

    async function step(number, title, work) {
        log.info(`Step ${number}: ${title}`, { step: number });
        try {
            return await work();
        } catch (error) {
            const failure = new Failure(error?.code ?? 'failed', `step ${number} (${title}) failed: ${error?.message ?? error}`);
            failure.details = { ...error?.details, step: number };
            throw failure;
        }
    }

    /** What a recording wants and the host can't do yet. */
    const missing = (what) => {
        throw new Failure('unavailable', `this host can't ${what} yet`);
    };

    // ---------------------------------------------------------------- rejections that nobody handles

    const rejections = new Map();
    const rejected = (promise, reason, handled) => (handled ? rejections.delete(promise) : rejections.set(promise, reason));
    const unhandled = () => [...rejections.values()].slice(0, 1);

    class TextEncoder {
        encode(text = '') { return native.encode(String(text)); }
    }
    class TextDecoder {
        decode(bytes) { return bytes === undefined ? '' : native.decode(bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes.buffer ?? bytes)); }
    }

    const page = new Page(undefined);
    Math.random = () => native.random();
    const names = {
        input: facts.input, page, browser, log, console, ask, confirm, sleep, state, artifacts, task, http, secret, secrets, emit, step, missing,
        progress: (done, total, message = '') => void call('progress', done, total, String(message)),
        status: (text) => void call('task.status', String(text)),
        outcome: (value, options) => new Outcome(value, options),
        fail: (code, message, details) => { throw new Failure(code, message, details); },
        Failure, setTimeout, setInterval, clearTimeout, clearInterval: clearTimeout, TextEncoder, TextDecoder,
    };
    /** Makes the names global, as scripts have them. A script may put another value in their place. */
    const install = () => {
        for (const [name, value] of Object.entries(names)) {
            Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
        }
    };
    return { names, install, tick, finish, rejected, unhandled };
}
