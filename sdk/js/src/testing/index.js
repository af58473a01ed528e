// `windlass/testing`: a plugin's tools run without a host, in the bundle that the component is made of.
import vm from 'node:vm';
import { bundle } from '../build/bundle.js';
import { evaluate, interfaces } from '../build/module.js';
import { entryOf, manifestOf } from '../build/plugin.js';
import { host } from './host.js';
import { mistake } from './schema.js';

export { refuse } from './refuse.js';

/** A turn begins here unless the test says when. */
const NOW = Date.UTC(2026, 0, 1);
/** Milliseconds that a tool may compute: the host's limit. */
const CPU = 30_000;

/** The clock of the test, in a realm of its own. */
const CLOCK = `{
    const Real = Date;
    globalThis.Date = class Date extends Real {
        constructor(...values) {
            if (values.length === 0) super(__now()); else super(...values);
        }
        static now() {
            return __now();
        }
    };
    globalThis.performance = { now: () => __now() };
}`;

class Plugin {
    #bundle;
    constructor(made, manifest) {
        this.#bundle = made;
        this.manifest = manifest;
    }

    /** Runs a turn of a tool to its end, at once: nothing waits, the clock jumps. */
    run(name, input = {}, options = {}) {
        const tool = this.manifest.tools.find((one) => one.name === name);
        if (!tool) throw new Error(`the plugin has no tool \`${name}\`; it has ${this.manifest.tools.map((one) => one.name).join(', ')}`);
        const wrong = mistake(tool.inputSchema, input);
        if (wrong) throw new Error(`the host would refuse this input: ${wrong}`);
        const { seed = 1, now = NOW, message, turn = message === undefined ? 1 : 2 } = options;
        const played = host(this.manifest, { ...options, now: Number(now) });
        const wit = Object.fromEntries(interfaces(this.manifest.permissions).map((one) => [one, played.wit[one]]));
        const given = {
            taskId: '0199d2a4-0000-7000-8000-000000000000',
            number: turn,
            tool: name,
            input: JSON.stringify(input),
            message: message === undefined ? null : { id: 1, text: message, sender: 'test', sentAt: Number(now) },
            seed,
        };
        const ended = this.#turn(wit, played.clock, given);
        if (played.problem()) throw played.problem();
        const state = Object.fromEntries([...played.kept].map(([key, json]) => [key, JSON.parse(json)]));
        const again = (text, more) => this.run(name, input, { ...options, ...more, state, now: played.clock.now, message: text, turn: turn + 1 });
        return { ...ended, ...played.seen, state, continue: again };
    }

    #turn(wit, clock, given) {
        try {
            const made = evaluate(this.#bundle, wit, { __now: () => clock.now, __turn: given }, CLOCK);
            const done = vm.runInContext('windlassPlugin.default.tool.run(__turn)', made.context, { timeout: CPU });
            return { status: 'completed', outcome: outcome(JSON.parse(JSON.stringify(done))), failure: undefined };
        } catch (thrown) {
            if (thrown?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return failed({ code: 'limit', message: `it computed for ${CPU} ms without an end` });
            if (typeof thrown?.code !== 'string') throw thrown;
            return failed(JSON.parse(JSON.stringify(thrown)));
        }
    }
}

function outcome({ content, structured, question }) {
    const text = content.find(({ mimeType, body }) => mimeType === 'text/plain' && body.tag === 'text');
    return { structured: structured === null ? undefined : JSON.parse(structured), text: text?.body.val, content, question: question ?? undefined };
}

function failed({ code, message, details }) {
    return { status: 'failed', outcome: undefined, failure: { code, message, details: details ? JSON.parse(details) : undefined } };
}

/** The plugin of the main module `entry` in the folder `root`; without `entry` it is found as the build finds it. */
export async function plugin(entry, root = process.cwd()) {
    const made = await bundle(entry ?? entryOf(root), root);
    return new Plugin(made, await manifestOf(made, root));
}
