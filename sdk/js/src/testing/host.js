// The contract's interfaces, played by a test: what a turn does is written down, what it asks for is what the test says.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { browser } from './browser.js';
import { Refusal, Unforeseen } from './refuse.js';
import { mistake } from './schema.js';

const WORDS = ['declined', 'dismissed', 'expired'];

/** Whether the manifest asks for it: the operator of a test grants all that was asked for, and `*` means any. */
function allows(permissions, word, what) {
    return permissions.some((line) => line === `${word} ${what}` || line === `${word} *`);
}

export function host(manifest, { answers = {}, pages = {}, http = {}, secrets = {}, state = {}, messages = [], now, cancelled }) {
    const seen = { log: [], output: [], progress: [], statuses: [], questions: [], actions: [], requests: [], artifacts: [], slept: 0 };
    const kept = new Map(Object.entries(structuredClone(state)).map(([key, value]) => [key, JSON.stringify(value)]));
    const bytes = new Map();
    const clock = { now };
    let problem;
    const unforeseen = (text) => {
        problem ??= new Unforeseen(text);
        throw new Refusal('internal', text);
    };
    /** Runs what a test gave, and keeps the mistakes of the test apart from what it refuses. */
    const guarded = (work) => {
        try {
            return work();
        } catch (error) {
            if (error instanceof Refusal) throw error;
            problem ??= error;
            throw new Refusal('internal', String(error?.message ?? error));
        }
    };
    const guard = (object) => Object.fromEntries(Object.entries(object).map(([name, call]) => [name, (...values) => guarded(() => call(...values))]));

    const allowed = (word, what) => {
        const target = word === 'browser' || word === 'http' ? new URL(what).origin : what;
        if (allows(manifest.permissions, word, target)) return;
        const grant = `${word} ${target}`;
        throw new Refusal('denied', `the plugin asks for no \`${grant}\`: add it to its permissions`, { grant });
    };
    const save = (name, mimeType, data) => {
        if (!/^[A-Za-z0-9._-]{1,128}$/.test(name)) throw new Refusal('invalid', `\`${name}\` is no name of a file`);
        const id = `a${seen.artifacts.length + 1}`;
        const sha256 = createHash('sha256').update(data).digest('hex');
        seen.artifacts.push({ id, name, mimeType, size: data.length, sha256, data: Buffer.from(data) });
        bytes.set(id, data);
        return { id, name, mimeType, size: data.length, sha256 };
    };
    const wait = (time) => {
        if (cancelled) throw new Refusal('cancelled', 'the task was cancelled');
        clock.now += time;
        seen.slept += time;
    };

    function answer({ key, message, schema, peopleOnly, timeout }) {
        const form = JSON.parse(schema);
        const question = { key, message, schema: form, peopleOnly, timeout: timeout ?? undefined };
        seen.questions.push(question);
        const given = typeof answers === 'function' ? answers(question) : answers[key];
        const value = typeof given === 'function' ? given(question) : given;
        if (value === undefined) return unforeseen(`the tool asked \`${key}\` (${message}), and the test has no answer to it`);
        if (WORDS.includes(value)) {
            if (value === 'expired') clock.now += timeout ?? 0;
            return { tag: value };
        }
        const wrong = mistake(form, value);
        if (wrong) return unforeseen(`the test's answer to \`${key}\` is none that the form takes: ${wrong}`);
        return { tag: 'accepted', val: JSON.stringify(value) };
    }

    function send({ method, url, headers, body }) {
        allowed('http', url);
        const named = headers.map(([name, { tag, val }]) => {
            if (tag === 'text') return [name.toLowerCase(), val];
            allowed('secret', val.name);
            return [name.toLowerCase(), { secret: val.name, prefix: val.prefix }];
        });
        const text = Buffer.from(body).toString();
        const request = { method, url, headers: Object.fromEntries(named), body: text };
        seen.requests.push(request);
        const found = typeof http === 'function' ? http(request) : (http[`${method} ${url}`] ?? http[url]);
        const response = typeof found === 'function' ? found(request) : found;
        if (response === undefined) return unforeseen(`the tool sent ${method} ${url}, and the test has no answer to it`);
        const { status = 200, headers: back = {}, json, body: plain = json === undefined ? '' : JSON.stringify(json) } = response;
        const type = json === undefined ? {} : { 'content-type': 'application/json' };
        return { status, url, headers: Object.entries({ ...type, ...back }), body: new Uint8Array(Buffer.from(plain)) };
    }

    const levels = (fields) => Object.fromEntries(fields);
    const wit = {
        log: guard({
            write: (level, text, fields) => void seen.log.push({ level, text, fields: levels(fields) }),
            emit: (part, { mimeType, body }, last) => void seen.output.push({ part, mimeType, [body.tag]: body.val, last }),
            progress: (done, total, text) => void seen.progress.push({ done, total: total ?? undefined, message: text }),
        }),
        task: guard({
            setStatusMessage: (text) => void seen.statuses.push(text),
            isCancelled: () => cancelled === true,
            takeMessages: () => messages.splice(0).map((text, index) => ({ id: index + 1, text, sender: 'test', sentAt: clock.now })),
            sleep: wait,
        }),
        input: guard({ ask: (questions) => questions.map(answer) }),
        state: guard({
            get: (key) => kept.get(key) ?? null,
            set: (key, value) => void kept.set(key, value),
            delete: (key) => void kept.delete(key),
            keys: (prefix) => [...kept.keys()].filter((key) => key.startsWith(prefix)).sort(),
        }),
        artifacts: guard({
            save,
            read(id) {
                if (!bytes.has(id)) throw new Refusal('not-found', `there is no artifact ${id}`);
                return bytes.get(id);
            },
        }),
        secrets: guard({
            reveal(name) {
                allowed('reveal', name);
                return secrets[name] ?? unforeseen(`the tool reveals the secret ${name}, and the test has none of that name`);
            },
        }),
        http: guard({ send }),
        browser: guardPages(browser({ pages, actions: seen.actions, allowed, save }), guarded),
    };
    return { wit, seen, clock, kept, problem: () => problem };
}

/** The same for the verbs of pages. */
function guardPages({ open }, guarded) {
    const wrap = (page) =>
        new Proxy(page, {
            get(target, name) {
                const call = target[name];
                return typeof call === 'function' ? (...values) => guarded(() => call.apply(target, values)) : call;
            },
        });
    return { open: () => wrap(open()) };
}
