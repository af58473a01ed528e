// What a plugin imports: the API of scripts (./api), and `plugin` and `tool`.
//
// The build gives a bundle `__windlass`: the imports of the contract and the map of its sources. Anywhere else (a test that
// imports one of the plugin's own modules) the names are there, and say where they work when they are used.
import api from './api/index.js';
import { native } from './guest/native.js';

export { plugin, tool } from './plugin.js';

/* global __windlass */
export const given = typeof __windlass === 'object' ? __windlass : undefined;
export const contents = given && native(given);
export const facts = {};
export const drives = given && api(contents, facts);

const elsewhere = (name) =>
    new Proxy(function () {}, {
        get: (_, field) => (typeof field === 'symbol' ? undefined : elsewhere(`${name}.${field}`)),
        apply() {
            throw new Error(`\`${name}\` works in a tool that runs: see windlass/testing`);
        },
    });
const names = drives ? drives.names : new Proxy({}, { get: (_, name) => elsewhere(name) });

export const { artifacts, ask, browser, confirm, context, emit, Failure, fail, http, log, outcome, page, progress, secret, secrets, sleep, state, status, task } = names;

// The engine's own would be the same in each task: its state is made when the component is built.
if (given) Math.random = contents.random;
// What engines of browsers and Node have as globals, and QuickJS has not.
for (const name of ['console', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'TextEncoder', 'TextDecoder']) {
    if (drives) Object.defineProperty(globalThis, name, { value: names[name], writable: true, configurable: true, enumerable: false });
}
