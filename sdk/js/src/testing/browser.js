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
    url() {
        this.#note('url');
        return this.#url;
    }
    title() {
        this.#note('title');
        return this.#page.title ?? '';
    }
    click(locator) {
        this.#note('click', locator);
        this.#act(locator, 'click');
    }
    fill(locator, value) {
        this.#note('fill', locator, value);
        this.#find(locator);
        this.#values.set(plain(locator), value);
        this.#act(locator, 'fill', value);
    }
    fillSecret(locator, name) {
        this.#note('fill-secret', locator, name);
        this.#world.allowed('secret', name);
        this.#values.set(plain(locator), { secret: name });
        this.#act(locator, 'fill', { secret: name });
    }
    press(keys) {
        this.#note('press', keys);
        const then = this.#page.press;
        if (typeof then === 'function') then(this.handle, keys);
    }
    text(locator) {
        this.#note('text', locator);
        const { text = '' } = this.#find(locator);
        return String(typeof text === 'function' ? text(this.handle) : text);
    }
    waitFor(locator, state) {
        this.#note('wait-for', locator, state);
        if (state === 'visible') return void this.#find(locator);
        const found = this.#seen(locator);
        const holds = { attached: found !== undefined, detached: found === undefined, hidden: !found || found.visible === false }[state];
        if (!holds) throw new Refusal('timeout', `waited for ${locator} to be ${state} on ${this.#url}`);
    }
    screenshot(name) {
        this.#note('screenshot', name);
        return this.#world.save(name, 'image/png', new Uint8Array());
    }
    close() {
        this.#note('close');
        this.#closed = true;
    }
    [Symbol.dispose]() {
        this.#closed = true;
    }
}

/** The contract's `browser`. `world`: `{ pages, actions, allowed, save }`. */
export function browser(world) {
    let count = 0;
    return { open: () => new Page(world, ++count) };
}
