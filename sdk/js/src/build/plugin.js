// A plugin, from its main module to the bytes of its component.
import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundle.js';
import { component, quickly, stamp } from './component.js';
import { evaluate } from './module.js';
import { SourceMap } from '../guest/map.js';
import { failure } from '../guest/report.js';

/** Where the main module is when nobody says. */
const ENTRIES = ['src/index.ts', 'src/index.js', 'index.ts', 'index.js'];

export class BuildError extends Error {}

/** `package.json` of the folder, or nothing. */
async function described(root) {
    const file = join(root, 'package.json');
    if (!existsSync(file)) return {};
    try {
        return JSON.parse(await readFile(file, 'utf8')) ?? {};
    } catch (error) {
        throw new BuildError(`package.json is no JSON: ${error.message}`);
    }
}

export function entryOf(root) {
    const found = ENTRIES.find((name) => existsSync(join(root, name)));
    if (!found) throw new BuildError(`there is no main module: give its path, or write one of ${ENTRIES.join(', ')}`);
    return found;
}

/** A host that refuses: nothing can be asked of it while modules are loaded. */
function nobody() {
    const refuse = (name) => () => {
        throw new Error(`\`${name}\` was called while the plugin's modules are loaded; there is no turn yet: call it in a tool`);
    };
    const names = ['log', 'task', 'input', 'state', 'artifacts', 'browser', 'http', 'secrets'];
    return Object.fromEntries(names.map((name) => [name, new Proxy({}, { get: (_, call) => refuse(`${name}.${String(call)}`) })]));
}

/** The manifest that a bundle tells; its modules run, its tools don't. */
export async function manifestOf(made, root) {
    const { name, version } = await described(root);
    let told;
    try {
        told = evaluate(made, nobody()).manifest;
    } catch (thrown) {
        throw new BuildError(`the plugin can't be loaded: ${failure(thrown, new SourceMap(made.sources)).message}`);
    }
    const whole = JSON.parse(JSON.stringify({ ...told, name: told.name ?? name, version: told.version ?? version ?? '0.1.0' }));
    if (typeof whole.name !== 'string') throw new BuildError('the plugin has no name: give it one, or write a package.json with a name');
    return whole;
}

/** `{ manifest, component, files }` of the plugin in the folder `root`; `quick`: for whoever waits, see `quickly`. */
export async function build(entry, root = process.cwd(), { quick = false } = {}) {
    // What is broken here breaks the bundle as well, in more words.
    await described(root);
    const made = await bundle(entry, root);
    const manifest = await manifestOf(made, root);
    const cache = join(root, 'node_modules/.cache/windlass');
    const bare = await (quick ? quickly(made, manifest.permissions, cache) : component(made, manifest.permissions));
    return { manifest, component: stamp(bare, manifest), files: made.files };
}
