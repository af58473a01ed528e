// What JavaScript sees of Windlass, the same for scripts (plugins/script) and for plugins of the JavaScript SDK. Made once
// a turn of `native`, the host's calls, and of the facts of the turn; answers the names and what drives the turn: jobs,
// timers, the rejections that nobody handles.
//
// A verb of the host is one line in plugins/script/src/calls.rs, one in the SDK's own `native`, one here and one in
// windlass.d.ts.

import { logs } from './log.js';
import { browserOf } from './pages.js';
import { stepsOf } from './recording.js';
import { finish, taskOf } from './task.js';
import { clockOf } from './time.js';
import { cleanStacks, parse, stringify } from './values.js';

const { Map, Math, Object, Promise, String, TypeError, Uint8Array } = globalThis;

/**
 * @param native `call(name, json)`: a host call with its arguments as a JSON array, answers JSON; `log(level, text, [name,
 *   value, …])`; `save(name, mimeType, bytes)`: answers JSON; `read(id)`; `send(json, bytes)`: answers `{ head, body }`;
 *   `encode(text)`, `decode(bytes)`, `random()`. What the host refuses is thrown: an `Error` with `code`, maybe `details`.
 * @param facts `{ taskId, number, tool, message, input, shift }` of the turn; `shift` is how much too high columns of the
 *   first line are; `clean(stack)`, where there is one, makes a stack as people should see it.
 */
export default function api(native, facts) {
    const call = (name, ...values) => parse(native.call(name, stringify(values)));
    const { tick, sleep, timers } = clockOf(call);

    // Without the frames of these files, and with the columns of the first line as the script has them.
    cleanStacks((stack) => {
        if (facts.clean) return facts.clean(stack);
        const shift = facts.shift ?? 0;
        const lines = stack.split('\n').filter((line) => !line.includes('windlass:api') && !line.includes('(native)'));
        return lines.join('\n').replaceAll(/:1:(\d+)(?=\)?$)/gm, (_, column) => `:1:${Math.max(1, column - shift)}`);
    });

    const rejections = new Map();
    const rejected = (promise, reason, handled) => (handled ? rejections.delete(promise) : rejections.set(promise, reason));
    const unhandled = () => [...rejections.values()].slice(0, 1);

    class TextEncoder {
        encode(text = '') { return native.encode(String(text)); }
    }
    class TextDecoder {
        decode(bytes) { return bytes === undefined ? '' : native.decode(bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes.buffer ?? bytes)); }
    }

    const lines = logs(native, call);
    /** The engine's own says nothing of an error in it. */
    const queueMicrotask = (work) => {
        if (typeof work !== 'function') throw new TypeError('queueMicrotask wants a function');
        void Promise.resolve().then(() => work());
    };
    const names = {
        input: facts.input, ...lines, ...taskOf(native, call, facts), ...browserOf(native, call, sleep), ...stepsOf(lines.log), sleep, ...timers,
        TextEncoder, TextDecoder,
    };
    /** Makes the names global, as scripts have them. A script may put another value in their place. */
    const install = () => {
        Math.random = () => native.random();
        for (const [name, value] of Object.entries({ ...names, queueMicrotask })) {
            Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
        }
    };
    return { names, install, tick, finish, rejected, unhandled };
}
