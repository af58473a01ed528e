// What the API (../api) stands on: the host's calls over the contract's interfaces, as a component imports them.
//
// A further verb is a line in one of the tables here.
import { decode, encode } from './text.js';

/** Verbs of a page and their arguments: `name:type`, `settings` last. What they answer is `MADE`'s to shape. */
const PAGE = {
    goto: 'url:text settings',
    url: '',
    title: '',
    click: 'locator:text settings',
    fill: 'locator:text value:text settings',
    fillSecret: 'locator:text name:text settings',
    press: 'keys:text settings',
    text: 'locator:text settings',
    waitFor: 'locator:text state:text settings',
    screenshot: 'name:text settings',
    close: '',
};

/** Answers of pages that are no JSON as they are. */
const MADE = {};

function hostError(code, message, details) {
    const error = new Error(message);
    error.code = code;
    if (details !== undefined) error.details = details;
    return error;
}

/** Calls the host. What it refuses is thrown as a record, or as an error that has it as `payload`. */
function asked(work) {
    try {
        return work();
    } catch (thrown) {
        const refused = thrown?.payload ?? (thrown instanceof Error ? undefined : thrown);
        if (typeof refused?.code !== 'string') throw thrown;
        const { code, message, details } = refused;
        throw hostError(code, message, details == null ? undefined : JSON.parse(details));
    }
}

function wrong(call, name, wanted, value) {
    const found = value == null ? 'nothing' : JSON.stringify(value).slice(0, 60);
    return hostError('invalid', `${call}: ${name} must be ${wanted}, not ${found}`);
}

/** Arguments are checked here: what is of another type than the contract's would end the turn as a trap. */
const TYPES = {
    text(call, name, value) {
        if (typeof value !== 'string') throw wrong(call, name, 'text', value);
        return value;
    },
    whole(call, name, value) {
        if (typeof value !== 'number' || !(value >= 0 && value <= 9e15)) throw wrong(call, name, 'a number from 0', value);
        return Math.ceil(value);
    },
    flag: (_call, _name, value) => value === true,
    json: (_call, _name, value) => JSON.stringify(value ?? null),
    texts(call, name, value) {
        if (!Array.isArray(value)) throw wrong(call, name, 'a list of texts', value);
        return value.map((one) => TYPES.text(call, name, one));
    },
    settings(call, _name, value) {
        const pairs = Object.entries(value ?? {});
        for (const [name, text] of pairs) TYPES.text(call, name, text);
        return pairs;
    },
};

function checked(call, wanted, values) {
    return wanted.split(' ').filter(Boolean).map((argument, index) => {
        const [name, type = name] = argument.split(':');
        return TYPES[type](call, name, values[index]);
    });
}

/** `null` is how the contract says that there is nothing. */
const orNull = (value) => value ?? null;
const parsed = (json) => (json == null ? null : JSON.parse(json));

export const message = (given) => given && { id: Number(given.id), text: given.text, sender: given.sender, sentAt: Number(given.sentAt) };
const stored = ({ id, name, mimeType, size, sha256 }) => ({ id, name, mimeType, size: Number(size), sha256 });

/** `{ mimeType, text }` or `{ mimeType, artifact: id }`. */
export function content(mimeType, { text, artifact }) {
    if (typeof text === 'string') return { mimeType, body: { tag: 'text', val: text } };
    if (typeof artifact === 'string') return { mimeType, body: { tag: 'artifact', val: artifact } };
    throw hostError('invalid', 'emit: give text, or an artifact');
}

function question({ key, message, schema, peopleOnly, timeout }) {
    const text = (name, value) => TYPES.text('ask', name, value);
    if (timeout != null && !(timeout > 0)) throw hostError('invalid', 'ask: timeout must be milliseconds');
    return {
        key: text('key', key),
        message: text('message', message),
        schema: JSON.stringify(schema),
        peopleOnly: peopleOnly === true,
        timeout: timeout == null ? null : Math.ceil(timeout),
    };
}

function answer(given) {
    // Cases without a value are texts to some builders, and objects to others.
    const { tag, val } = typeof given === 'string' ? { tag: given } : given;
    return tag === 'accepted' ? { action: tag, value: JSON.parse(val) } : { action: tag };
}

/** SplitMix64: chance follows the turn's seed, in every attempt the same. */
function chance() {
    const bits = (value) => BigInt.asUintN(64, value);
    let state = 0n;
    return {
        begin: (seed) => void (state = bits(BigInt(seed))),
        next() {
            state = bits(state + 0x9e3779b97f4a7c15n);
            let z = state;
            z = bits((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
            z = bits((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
            return Number((z ^ (z >> 31n)) >> 11n) / 2 ** 53;
        },
    };
}

/** The `native` of the API, over the imports `wit`: `{ log, task, input, … }`, those that the plugin has. */
export function native(wit) {
    const pages = [];
    const opened = (page) => pages.push(page) - 1;
    const { begin, next } = chance();

    /** An interface that was not imported, since no permission of the plugin is about it. */
    const need = (name, permission) => {
        if (wit[name]) return wit[name];
        throw hostError('denied', `the plugin asks for no \`${permission}\`: add it to its permissions`);
    };
    const page = (number) => {
        if (pages[number]) return pages[number];
        throw hostError('page-lost', 'the page is closed');
    };

    const calls = {
        'browser.open': ['settings', (settings) => opened(need('browser', 'browser *').open(settings))],
        'page.release': [
            'page:whole',
            (number) => {
                pages[number]?.[Symbol.dispose]?.();
                pages[number] = undefined;
            },
        ],
        'task.status': ['text:text', (text) => wit.task.setStatusMessage(text)],
        'task.isCancelled': ['', () => wit.task.isCancelled()],
        'task.messages': ['', () => wit.task.takeMessages().map(message)],
        'task.sleep': ['time:whole', (time) => wit.task.sleep(time)],
        'state.get': ['key:text', (key) => parsed(wit.state.get(key))],
        'state.set': ['key:text value:json', (key, value) => wit.state.set(key, value)],
        'state.delete': ['key:text', (key) => wit.state.delete(key)],
        'state.keys': ['prefix:text', (prefix) => wit.state.keys(prefix)],
        'secrets.reveal': ['name:text', (name) => need('secrets', `reveal ${name}`).reveal(name)],
    };
    for (const [verb, wanted] of Object.entries(PAGE)) {
        const made = MADE[verb] ?? ((value) => value);
        calls[`page.${verb}`] = [`page:whole ${wanted}`, (number, ...values) => made(page(number)[verb](...values))];
    }
    calls['page.goto'][1] = (number, ...values) => {
        const { url, status } = page(number).goto(...values);
        return { url, status };
    };
    calls['page.screenshot'][1] = (number, ...values) => stored(page(number).screenshot(...values));
    const free = {
        progress(done, total, text) {
            const whole = total == null ? null : TYPES.whole('progress', 'total', total);
            wit.log.progress(TYPES.whole('progress', 'done', done), whole, TYPES.text('progress', 'message', text));
        },
        emit: (part, mimeType, piece, last) => wit.log.emit(TYPES.text('emit', 'part', part), content(mimeType, piece), last === true),
        ask: (questions) => wit.input.ask(questions.map(question)).map(answer),
    };

    return {
        begin,
        call(name, json) {
            const values = JSON.parse(json);
            if (free[name]) return JSON.stringify(orNull(asked(() => free[name](...values))));
            const [wanted, run] = calls[name] ?? [];
            if (!run) throw hostError('unavailable', `this host has no \`${name}\` yet`);
            const given = checked(name, wanted, values);
            return JSON.stringify(orNull(asked(() => run(...given))));
        },
        log(level, text, fields) {
            const pairs = [];
            for (let at = 0; at < fields.length; at += 2) pairs.push([fields[at], fields[at + 1]]);
            wit.log.write(level, text, pairs);
        },
        save: (name, mimeType, bytes) => JSON.stringify(stored(asked(() => wit.artifacts.save(name, mimeType, bytes)))),
        read: (id) => bytes(asked(() => wit.artifacts.read(id))),
        send(json, body) {
            const [method, url, headers, settings] = JSON.parse(json);
            const given = {
                method: TYPES.text('http', 'method', method),
                url: TYPES.text('http', 'url', url),
                headers: Object.entries(headers ?? {}).map(header),
                body,
                settings: TYPES.settings('http', '', settings),
            };
            const answer = asked(() => need('http', 'http *').send(given));
            return { head: JSON.stringify({ status: answer.status, url: answer.url, headers: answer.headers }), body: bytes(answer.body) };
        },
        encode,
        decode,
        random: next,
    };
}

const bytes = (list) => (list instanceof Uint8Array ? list : Uint8Array.from(list));

function header([name, value]) {
    if (typeof value === 'string') return [name, { tag: 'text', val: value }];
    if (typeof value?.secret === 'string') return [name, { tag: 'secret', val: { name: value.secret, prefix: value.prefix ?? '' } }];
    throw hostError('invalid', `http: header ${name} must be text or a secret`);
}
