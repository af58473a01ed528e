// A turn: from the contract's call to its outcome.
import { Promise, drain, watch } from './promise.js';
import { clean, failure } from './report.js';
import { SourceMap } from './map.js';
import { message } from './calls.js';
import { content } from './native.js';

class Refused extends Error {
    constructor(code, text) {
        super(text);
        this.code = code;
        // It is about no line of the plugin: the map of its sources is not read for it.
        this.stack = '';
    }
}

/** The input with the defaults of its schema. */
function filled(schema, input) {
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
        if (field?.default !== undefined && input[name] === undefined) input[name] = structured(field.default);
    }
    return input;
}
const structured = (value) => JSON.parse(JSON.stringify(value));

/** The outcome of what `finish` made: an object is structured; another value is that under `value`; text is text. */
function outcome(finished) {
    const { value = null, content: pieces, question } = JSON.parse(finished);
    const shown = pieces.map(({ mimeType, ...piece }) => content(mimeType, piece));
    const text = typeof value === 'string';
    if (shown.length === 0 && value !== null) {
        shown.push(text ? content('text/plain', { text: value }) : content('application/json', { text: JSON.stringify(value) }));
    }
    const plain = value === null || text ? null : typeof value === 'object' && !Array.isArray(value) ? value : { value };
    return { content: shown, structured: plain === null ? null : JSON.stringify(plain), question: question ?? null };
}

/** Runs jobs and timers until `promise` is settled, and nothing was rejected that nobody handles. */
function settle(promise, { tick, unhandled }) {
    let settled;
    promise.then(
        (value) => void (settled = { value }),
        (reason) => void (settled = { reason }),
    );
    for (;;) {
        drain();
        if (settled && 'reason' in settled) throw settled.reason;
        const lost = unhandled();
        if (lost.length > 0) throw new Unhandled(lost[0]);
        if (settled) return settled.value;
        if (!tick()) throw new Refused('script-error', 'The tool waits for a promise that nothing will settle');
    }
}

class Unhandled {
    constructor(reason) {
        this.reason = reason;
    }
}

/**
 * What a component exports as the contract's `tool`.
 *
 * @param plugin what `plugin(…)` of the author made.
 * @param api what `../api` made, of `native` and `facts`.
 * @param sources the map of the bundle.
 */
export function tool(plugin, api, native, facts, sources) {
    const map = new SourceMap(sources);
    facts.clean = (stack) => clean(stack, map);
    watch(api.rejected);
    const run = (turn) => {
        native.begin(turn.seed);
        const found = plugin.tools.find(({ name }) => name === turn.tool);
        if (!found) throw new Refused('internal', `the plugin has no tool \`${turn.tool}\``);
        Object.assign(api.names.task, { id: turn.taskId, turn: turn.number, tool: turn.tool, message: message(turn.message) ?? undefined });
        api.names.input = filled(found.input, JSON.parse(turn.input));
        const promise = new Promise((done) => done(found.run(api.names.input, api.names)));
        return outcome(api.finish(settle(promise, api)));
    };
    return {
        run(turn) {
            try {
                return run(turn);
            } catch (thrown) {
                if (!(thrown instanceof Unhandled)) throw failure(thrown, map);
                const refused = failure(thrown.reason, map);
                throw { ...refused, message: `A promise was rejected and nobody handled it: ${refused.message}` };
            }
        },
    };
}
