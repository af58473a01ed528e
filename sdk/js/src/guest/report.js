// What went wrong, for people: the message, the place in the author's source, and the line itself.

/** Lines shown before and behind the one that failed. */
const AROUND = 2;
/** Characters shown of a line. */
const WIDTH = 120;
/** How the bundle is called in stacks: a module, or text that was evaluated. */
const BUNDLE = /(?:^|[\s(/])(?:windlass-plugin\.js|<input>|<evalScript>):(\d+):(\d+)\)?$/;

const cut = (text, limit) => (text.length > limit ? `${text.slice(0, limit)}…` : text);

/** `at name (windlass-plugin.js:3:10)` as a place in the author's source; undefined for a frame of somebody else. */
function frame(line, map) {
    const [, row, column] = BUNDLE.exec(line.trimEnd()) ?? [];
    const place = row && map.place(Number(row), Number(column));
    if (!place) return undefined;
    const [, called = ''] = /^\s*at (?:async )?(.*?) \(/.exec(line) ?? [];
    const anonymous = called === '' || called.includes('<anonymous>') || called.includes('.next');
    const at = `${place.file}:${place.line}:${place.column}`;
    return { ...place, shown: anonymous ? at : `${called} (${at})` };
}

const frames = (stack, map) => stack.split('\n').map((line) => frame(line, map)).filter(Boolean);

/** A stack with the places of the author's source, and no others. */
export const clean = (stack, map) => frames(stack, map).map(({ shown }) => `    at ${shown}`).join('\n');

/** The line with those around it, and a mark below its column. */
function picture({ text, line, column }) {
    const lines = text.split('\n');
    const digits = String(line + AROUND).length;
    const shown = [];
    for (let number = Math.max(1, line - AROUND); number <= Math.min(lines.length, line + AROUND); number++) {
        const source = cut(lines[number - 1].trimEnd().replaceAll('\t', ' '), WIDTH);
        shown.push(`${number === line ? '>' : ' '} ${String(number).padStart(digits)} | ${source}`.trimEnd());
        if (number === line && column <= WIDTH) shown.push(`  ${' '.repeat(digits)} | ${'^'.padStart(column)}`);
    }
    return shown.join('\n').trimEnd();
}

const property = (object, name) => {
    try {
        const value = object[name];
        return value == null ? '' : String(value);
    } catch {
        return '';
    }
};

function detailed(details) {
    if (details === undefined) return {};
    const plain = JSON.parse(JSON.stringify(details) ?? 'null');
    return plain !== null && typeof plain === 'object' && !Array.isArray(plain) ? plain : { value: plain };
}

/** The contract's failure of a thrown value. */
export function failure(thrown, map) {
    // One of another realm is an error, too.
    if (!(thrown instanceof Error) && Object.prototype.toString.call(thrown) !== '[object Error]') {
        const shown = typeof thrown === 'object' && thrown !== null ? JSON.stringify(thrown) : String(thrown);
        return { code: 'script-error', message: `The plugin threw what is no Error and knows no line: ${cut(shown, 1000)}`, details: null };
    }
    const name = property(thrown, 'name') || 'Error';
    const text = property(thrown, 'message');
    const code = property(thrown, 'code');
    let message = text === '' ? name : code === '' ? `${name}: ${text}` : text;
    let details = {};
    try {
        details = detailed(thrown.details);
    } catch {
        // They can't be written as JSON; the message says what happened.
    }
    const found = frames(property(thrown, 'stack'), map);
    if (found.length > 0) {
        const { file, line, column } = found[0];
        const shown = picture(found[0]);
        details.script = { file, line, column, frame: shown, stack: found.map((one) => one.shown) };
        message = `${message} (${file}:${line}:${column})\n\n${shown}`;
    }
    return { code: code || 'script-error', message, details: Object.keys(details).length > 0 ? JSON.stringify(details) : null };
}
