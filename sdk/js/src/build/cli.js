// The command: `windlass-build [ENTRY] [--out FILE] [--quick]`.
import { formatMessages } from 'esbuild';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { BuildError, build, entryOf } from './plugin.js';

const USAGE = `windlass-build [ENTRY] [--out FILE] [--quick]

Builds the plugin whose main module is ENTRY (src/index.ts, src/index.js, index.ts or index.js, unless it is given) and
writes its component to FILE (dist/NAME.wasm). With --quick the second build takes a moment; the component starts more
slowly. That is for trying out.
`;

function parsed(given) {
    const options = {};
    for (let at = 0; at < given.length; at++) {
        const word = given[at];
        if (word === '--help' || word === '-h') return { help: true };
        if (word === '--out' || word === '-o') options.out = given[++at];
        else if (word === '--quick') options.quick = true;
        else if (word.startsWith('-') || options.entry) throw new BuildError(`what is \`${word}\`?\n\n${USAGE}`);
        else options.entry = word;
    }
    return options;
}

/** What went wrong, as it is shown: with place and line, where the author's source is to blame. */
async function said(error) {
    if (error.errors) return (await formatMessages(error.errors, { kind: 'error', color: process.stderr.isTTY })).join('');
    return error instanceof BuildError ? `${error.message}\n` : `${error.stack ?? error}\n`;
}

/** Runs the command; answers its exit code. */
export async function run(given) {
    const begin = performance.now();
    try {
        const { help, entry, out, quick } = parsed(given);
        if (help) {
            process.stdout.write(USAGE);
            return 0;
        }
        const root = process.cwd();
        const { manifest, component } = await build(entry ?? entryOf(root), root, { quick });
        const file = resolve(root, out ?? join('dist', `${manifest.name}.wasm`));
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, component);
        const tools = manifest.tools.map(({ name }) => name).join(', ');
        const size = (component.length / 1e6).toFixed(2);
        const time = ((performance.now() - begin) / 1000).toFixed(1);
        process.stdout.write(`${relative(root, file)}: ${manifest.name} ${manifest.version} with ${tools}; ${size} MB, built in ${time} s\n`);
        return 0;
    } catch (error) {
        process.stderr.write(await said(error));
        return 1;
    }
}
