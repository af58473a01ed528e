// What the API (../api) stands on: the host's calls over the contract's interfaces, as a component imports them.
import { ofBrowser, ofPage, ofTurn, stored } from './calls.js';
import { TYPES, checked, hostError, sorted } from './values.js';
import { decode, encode } from './text.js';

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

/** `null` is how the contract says that there is nothing. */
const orNull = (value) => value ?? null;

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

    const calls = { ...ofTurn(wit), ...ofBrowser(() => need('browser', 'browser *'), opened) };
    for (const [name, [wanted, run]] of Object.entries(ofPage(opened))) {
        calls[`page.${name}`] = [`page:whole ${wanted}`, (number, ...values) => run(page(number), ...values)];
    }
    calls['secrets.reveal'] = ['name:text', (name) => need('secrets', `reveal ${name}`).reveal(name)];
    calls['page.release'] = [
        'page:whole',
        (number) => {
            pages[number]?.[Symbol.dispose]?.();
            pages[number] = undefined;
        },
    ];
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
                headers: sorted(headers).map(header),
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
