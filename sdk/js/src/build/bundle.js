// One script of the author's modules, the packages that they import, and the SDK.
import { build } from 'esbuild';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { only } from './map.js';

const SDK = join(dirname(fileURLToPath(import.meta.url)), '..');
/** How the bundle is called in stacks: ../guest/report.js looks for it. */
export const NAME = 'windlass-plugin.js';

const COMMON = {
    bundle: true,
    write: false,
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2023',
    // Async functions become generators, which the SDK's own promises drive: see ../guest/promise.js.
    supported: { 'async-await': false, 'async-generator': false, 'for-await': false, 'top-level-await': false },
    charset: 'ascii',
    legalComments: 'none',
    logLevel: 'silent',
};

let guest;
/** The SDK's part of a bundle. It is small, since what stands in a component's memory when it is built is its size. */
async function sdk() {
    guest ??= build({ ...COMMON, entryPoints: [join(SDK, 'guest/index.js')], format: 'esm', minify: true });
    return { contents: (await guest).outputFiles[0].text };
}

const refused = (text) => ({ errors: [{ text }] });
const resolver = {
    name: 'windlass',
    setup(made) {
        made.onResolve({ filter: /^windlass$/ }, () => ({ path: 'windlass', namespace: 'windlass' }));
        made.onLoad({ filter: /^windlass$/, namespace: 'windlass' }, sdk);
        made.onResolve({ filter: /^windlass\// }, ({ path }) => refused(`\`${path}\` is for tests: a plugin imports \`windlass\``));
        made.onResolve({ filter: /^node:/ }, ({ path }) => refused(`a plugin has no \`${path}\`: it sees the world through \`windlass\` only`));
    },
};

/** The options of esbuild for a plugin whose main module is `entry`, a path from the folder `root`. */
export function options(entry, root = process.cwd()) {
    const main = JSON.stringify(resolve(root, entry));
    return {
        ...COMMON,
        stdin: {
            contents: `import { component } from 'windlass';\nimport * as main from ${main};\nexport default component(main.default);\n`,
            resolveDir: root,
            sourcefile: 'windlass:main',
        },
        absWorkingDir: root,
        outfile: join(root, NAME),
        metafile: true,
        format: 'iife',
        globalName: 'windlassPlugin',
        // Not `minifySyntax`: it joins statements, and a failure would be shown at the line of another one.
        minifyWhitespace: true,
        sourcemap: 'external',
        plugins: [resolver],
    };
}

/** `{ code, sources, files }` of what esbuild made of `options(…, root)`; `files` went into it. */
export function read({ outputFiles, metafile }, root = process.cwd()) {
    const [map, code] = ['.map', '.js'].map((end) => outputFiles.find(({ path }) => path.endsWith(end)).text);
    const { sources, sourcesContent, mappings } = JSON.parse(map);
    const files = Object.keys(metafile.inputs).filter((file) => !file.startsWith('windlass:')).map((file) => resolve(root, file));
    const names = sources.map((source) => relative(root, resolve(root, source)));
    // Places in what others wrote are of no help, and would be weight.
    const own = names.map((name) => !name.startsWith('windlass:') && !`/${name}`.includes('/node_modules/'));
    return {
        code,
        files,
        sources: {
            sources: names.filter((_, index) => own[index]),
            texts: sourcesContent.filter((_, index) => own[index]),
            mappings: only(own, mappings),
            before: 0,
        },
    };
}

/** Bundles once. What esbuild says of the author's source is in the `errors` of what it throws. */
export async function bundle(entry, root = process.cwd()) {
    return read(await build(options(entry, root)), root);
}
