// Lines of the log, and output.

import { OUTPUT, answering } from './options.js';
import { shown } from './values.js';

const { Object, String, Math, Number } = globalThis;

const flat = (fields) => Object.entries(fields ?? {}).flatMap(([name, value]) => [name, shown(value)]);

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

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'];
const NONE = [];

export function logs(native, call) {
    const log = {};
    for (const level of LEVELS) {
        log[level] = (message, fields) => native.log(level, shown(message), fields === undefined ? NONE : flat(fields));
    }
    const console = {};
    for (const level of ['log', ...LEVELS]) {
        console[level] = (...values) => native.log(level === 'log' ? 'info' : level, values.length ? formatted(values) : '', NONE);
    }
    console.assert = (holds, ...values) => holds || console.error('Assertion failed:', ...values);

    function emit(piece, { part = 'output', last = false, mimeType } = {}) {
        const artifact = piece !== null && typeof piece === 'object' && typeof piece.sha256 === 'string';
        const text = typeof piece === 'string';
        const mime = mimeType ?? (artifact ? piece.mimeType : text ? 'text/plain' : 'application/json');
        call('emit', part, mime, artifact ? { artifact: piece.id } : { text: shown(piece) }, last);
    }
    return { log, console, ...answering({ emit }, OUTPUT) };
}
