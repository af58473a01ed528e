// The component: the module in QuickJS, evaluated once and kept as it stands then, and the manifest behind it.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NAME } from './bundle.js';
import { quick, whole, world } from './module.js';

const PACKAGE = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** The contract: in the package, or in the tree that the package is a folder of. */
function contract() {
    const file = [join(PACKAGE, 'wit/windlass.wit'), join(PACKAGE, '../../wit/windlass.wit')].find(existsSync);
    if (!file) throw new Error('the package `windlass` has no wit/windlass.wit');
    return readFile(file);
}

/** A component of a module, for a plugin with these permissions; it has no manifest yet. */
async function componentized(jsSource, permissions) {
    const { componentize } = await import('componentize-qjs');
    const wit = await mkdtemp(join(tmpdir(), 'windlass-'));
    try {
        await mkdir(join(wit, 'deps/windlass'), { recursive: true });
        await writeFile(join(wit, 'deps/windlass/windlass.wit'), await contract());
        await writeFile(join(wit, 'world.wit'), world(permissions));
        const jsPath = join(wit, NAME);
        await writeFile(jsPath, jsSource);
        const made = await componentize({ witPath: wit, world: 'plugin', jsSource, jsPath, moduleRoot: wit, sync: true, optSize: true });
        return made.component;
    } finally {
        await rm(wit, { recursive: true, force: true });
    }
}

/** The component of a bundle. */
export async function component(made, permissions) {
    const { source, finish } = whole(made, permissions);
    return finish(await componentized(source, permissions));
}

/** Bytes of the smallest room. */
const ROOM = 256 << 10;

/**
 * The component of a bundle, in a moment: engine and imports are made once and kept in the folder `cache`, and the bundle is
 * put into a copy. It starts more slowly than the other, since the bundle is read in each turn.
 */
export async function quickly(made, permissions, cache) {
    let size = ROOM;
    while (!quick(made, permissions, size).fits) size *= 2;
    const { source, finish } = quick(made, permissions, size);
    const hash = createHash('sha256');
    for (const part of [await contract(), world(permissions), source, await version()]) hash.update(part).update('\0');
    const file = join(cache, `${hash.digest('hex').slice(0, 32)}.wasm`);
    if (!existsSync(file)) {
        await mkdir(cache, { recursive: true });
        await writeFile(`${file}.new`, await componentized(source, permissions));
        await rename(`${file}.new`, file);
    }
    return finish(await readFile(file));
}

/** Which engine it is. */
async function version() {
    const file = createRequire(import.meta.url).resolve('componentize-qjs/package.json');
    return JSON.parse(await readFile(file, 'utf8')).version;
}

/** A number of WebAssembly: seven bits a byte, the least first. */
function leb(number) {
    const bytes = [];
    for (; number >= 0x80; number >>>= 7) bytes.push((number & 0x7f) | 0x80);
    return Buffer.from([...bytes, number]);
}

/** Appends the manifest as the custom section that a host reads, as `windlass plugin stamp` does. */
export function stamp(component, manifest) {
    const name = Buffer.from('windlass:manifest');
    const content = Buffer.concat([leb(name.length), name, Buffer.from(JSON.stringify(manifest))]);
    return Buffer.concat([component, Buffer.from([0]), leb(content.length), content]);
}
