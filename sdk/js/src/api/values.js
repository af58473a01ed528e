// Values on their way to the host: as text, as JSON, as settings.

// Kept here, as in each of these modules, so that a script that replaces them replaces them for itself.
const { ArrayBuffer, Error, Number, TypeError, Uint8Array, RegExp, JSON, Object, Array, String, Map, Set } = globalThis;
export const { stringify, parse } = JSON;

/** An error of the script's own: its code is what the task fails with. */
export class Failure extends Error {
    constructor(code, message, details) {
        super(message);
        this.name = 'Failure';
        this.code = String(code);
        if (details !== undefined) this.details = details;
    }
}

/** A stack as its reader has the lines; `index.js` says what is left out. */
let clean = (stack) => stack;
export const cleanStacks = (by) => { clean = by; };

/** Whatever a script logs, as text. */
export function shown(value) {
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

/**
 * A value as a page gets it, by JSON: a date as its text, a map as an object, a set and typed numbers as lists. What JSON has
 * no word for is an error that says where it stands.
 */
export function carried(argument) {
    const path = ['the argument'];
    const above = [];
    const no = (what) => { throw new Failure('invalid', `${path.join('.')} is ${what}, which JSON can't carry to a page`); };
    const at = (name, inner) => {
        path.push(name);
        const made = of(inner);
        path.pop();
        return made;
    };
    const list = (values) => Array.from(values, (inner, n) => at(n, inner));
    const object = (pairs) => Object.fromEntries(pairs.map(([name, inner]) => [name, at(String(name), inner)]));
    const made = (value) => {
        if (value instanceof Map) return object([...value]);
        if (value instanceof Set || Array.isArray(value) || (ArrayBuffer.isView(value) && value.length !== undefined)) return list(value);
        if (value instanceof Error || value instanceof RegExp) return String(value);
        return typeof value.toJSON === 'function' ? of(value.toJSON()) : object(Object.entries(value));
    };
    const of = (value) => {
        if (typeof value === 'number' && !Number.isFinite(value)) no(String(value));
        if (typeof value === 'bigint') no(`${value}n`);
        if (typeof value === 'function' || typeof value === 'symbol') no(`a ${typeof value}`);
        if (typeof value !== 'object' || value === null) return value;
        if (above.includes(value)) no('what it stands in');
        above.push(value);
        const whole = made(value);
        above.pop();
        return whole;
    };
    return of(argument);
}

const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
/** Options whose names in Playwright and in the contract differ. */
const RENAMED = { timeout: 'timeout-ms', fullPage: 'full' };
/** Options that are more than one text. */
const SHAPED = {
    position: (given) => `${only('position', ['x', 'y'], given).x},${given.y}`,
    viewport: (given) => `${only('viewport', ['width', 'height'], given).width}x${given.height}`,
    geolocation: (given) => `${only('geolocation', ['latitude', 'longitude'], given).latitude},${given.longitude}`,
    modifiers: (keys) => [keys].flat().join('+').replaceAll('ControlOrMeta', 'Control'),
};

/** One option as text, or as a list of texts. */
function setting(name, value) {
    if (typeof value === 'string') return value;
    if (SHAPED[name] && typeof value === 'object' && value !== null) return SHAPED[name](value);
    return Array.isArray(value) ? value.map(String) : String(value);
}

/** Refuses a name that is not known; what is undefined is as if it were not there. */
export function only(what, known, given) {
    for (const [name, value] of Object.entries(given)) {
        if (value === undefined || known.includes(name)) continue;
        throw new Failure('invalid', `${what} has no option \`${name}\`: ${known.length > 0 ? `there are ${known.join(', ')}` : 'it has none'}`);
    }
    return given;
}

/** Options, checked before they are taken apart. */
export function optionsOf(given = {}) {
    if (typeof given !== 'object' || given === null) throw new TypeError(`options must be an object, not ${shown(given)}`);
    return given;
}

/** Options of a call as the contract has them: names in kebab-case, values as text. */
export function settings(options, defaults, renamed) {
    const pairs = {};
    for (const [name, value] of Object.entries({ ...defaults, ...optionsOf(options) })) {
        if (value !== undefined) pairs[renamed?.[name] ?? RENAMED[name] ?? kebab(name)] = setting(name, value);
    }
    return pairs;
}

/** A text or pattern as a locator writes it. Without `exact` it may stand within another, whatever the case. */
export function quoted(text, exact) {
    if (text instanceof RegExp) return `/${text.source}/${text.flags.replace(/[dgvy]/g, '')}`;
    return `"${String(text).replace(/["\\]/g, '\\$&')}"${exact ? 's' : ''}`;
}
