// The task itself: questions to people, state, files, requests, secrets, and what comes of it.

import { ARTIFACTS, CONFIRM, HTTP, OUTCOME, answering, promising } from './options.js';
import { Failure, only, parse, settings, stringify } from './values.js';

const { ArrayBuffer, TypeError, Uint8Array, Object, Array, String } = globalThis;

/** An outcome with more to it than the value that is returned. */
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
        throw new TypeError(`what was returned can't be written as JSON: ${error.message}`);
    }
}

/** What was returned, as JSON: `{ value, content: [{ mimeType, text or artifact }], question }`. */
export function finish(returned) {
    const { value, content, question } = returned instanceof Outcome ? returned : { value: returned, content: [] };
    const pieces = content.map((piece) => {
        if (typeof piece === 'string') return { mimeType: 'text/plain', text: piece };
        if (typeof piece?.sha256 === 'string') return { mimeType: piece.mimeType, artifact: piece.id };
        return { mimeType: 'application/json', text: json(piece) };
    });
    return json({ value: value instanceof Uint8Array ? [...value] : value, content: pieces, question });
}

class Answer {
    #body;
    #decode;
    constructor({ status, url, headers }, body, decode) {
        const named = headers.map(([name, value]) => [name.toLowerCase(), value]);
        Object.assign(this, { status, url, ok: status >= 200 && status < 300, headers: Object.fromEntries(named) });
        this.#body = body;
        this.#decode = decode;
    }

    bytes() { return this.#body; }
    text() { return this.#decode(this.#body); }
    json() { return parse(this.text()); }
}

function httpOf(native) {
    async function request(method, url, { headers = {}, body, ...options } = {}) {
        const plain = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
        const typed = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
        const all = plain || typed ? headers : { ...headers, 'content-type': 'application/json' };
        const bytes = body instanceof Uint8Array ? body : native.encode(plain ? body ?? '' : stringify(body));
        const { head, body: answer } = native.send(stringify([method, url, all, settings(options)]), bytes);
        return new Answer(parse(head), answer, native.decode);
    }
    const http = { request };
    for (const method of ['get', 'head', 'delete']) http[method] = async (url, options) => request(method.toUpperCase(), url, options);
    for (const method of ['post', 'put', 'patch']) http[method] = async (url, body, options) => request(method.toUpperCase(), url, { ...options, body });
    return promising(http, HTTP);
}

function questionsOf(call) {
    let asked = 0;
    function question(given) {
        if (typeof given === 'object' && given !== null) only('a question', ['message', 'schema', 'key', 'peopleOnly', 'timeout'], given);
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
    return { ask, ...promising({ confirm }, CONFIRM) };
}

/** Bytes and their kind, of whatever a file may be made of. */
export function bytesOf(native, data) {
    if (data instanceof ArrayBuffer) data = new Uint8Array(data);
    if (data instanceof Uint8Array) return [data, 'application/octet-stream'];
    if (typeof data === 'string') return [native.encode(data), 'text/plain'];
    return [native.encode(stringify(data)), 'application/json'];
}

export function taskOf(native, call, facts) {
    const state = {
        get: async (key) => call('state.get', key) ?? undefined,
        set: async (key, value) => call('state.set', key, value ?? null),
        delete: async (key) => call('state.delete', key),
        keys: async (prefix = '') => call('state.keys', prefix),
    };
    const artifacts = promising({
        async save(name, data, { mimeType } = {}) {
            const [bytes, mime] = bytesOf(native, data);
            return parse(native.save(String(name), mimeType ?? mime, bytes));
        },
        read: async (file) => native.read(String(file?.id ?? file)),
        readText: async (file) => native.decode(native.read(String(file?.id ?? file))),
    }, ARTIFACTS);
    const task = {
        id: facts.taskId,
        turn: facts.number,
        tool: facts.tool,
        message: facts.message ?? undefined,
        isCancelled: () => call('task.isCancelled'),
        messages: () => call('task.messages'),
    };
    return {
        ...questionsOf(call), state, artifacts, task, http: httpOf(native),
        /** What the host puts in place of a secret: it is named and never seen. */
        secret: (name, prefix = '') => ({ secret: String(name), prefix }),
        secrets: { reveal: async (name) => call('secrets.reveal', name) },
        progress: (done, total, message = '') => void call('progress', done, total, String(message)),
        status: (text) => void call('task.status', String(text)),
        ...answering({ outcome: (value, options) => new Outcome(value, options) }, OUTCOME),
        fail: (code, message, details) => { throw new Failure(code, message, details); },
        Failure,
    };
}
