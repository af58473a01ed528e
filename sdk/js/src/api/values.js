// Values on their way to the host: as text, as JSON, as settings.

// Kept here, as in each of these modules, so that a script that replaces them replaces them for itself.
const { Error, TypeError, Uint8Array, RegExp, JSON, Object, Array, String, Map, Set } = globalThis;
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

const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
/** Options whose names in Playwright and in the contract differ. */
const RENAMED = { timeout: 'timeout-ms', fullPage: 'full' };
/** Options that are more than one text. */
const SHAPED = {
    position: ({ x, y }) => `${x},${y}`,
    viewport: ({ width, height }) => `${width}x${height}`,
    geolocation: ({ latitude, longitude }) => `${latitude},${longitude}`,
    modifiers: (keys) => [keys].flat().join('+').replaceAll('ControlOrMeta', 'Control'),
};

/** One option as text, or as a list of texts. */
function setting(name, value) {
    if (typeof value === 'string') return value;
    if (SHAPED[name] && typeof value === 'object' && value !== null) return SHAPED[name](value);
    return Array.isArray(value) ? value.map(String) : String(value);
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
