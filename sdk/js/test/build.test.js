// The build: what it refuses, and what it makes.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { bundle } from '../src/build/bundle.js';
import { stamp } from '../src/build/component.js';
import { interfaces, quick, world } from '../src/build/module.js';
import { manifestOf } from '../src/build/plugin.js';
import { SourceMap } from '../src/guest/map.js';
import { oneTool, project } from './project.js';

const command = new URL('../build.mjs', import.meta.url).pathname;

/** Runs the command in a folder; what it says on standard error, and its exit code. */
const built = (root, ...words) =>
    new Promise((done) => execFile(process.execPath, [command, ...words], { cwd: root }, (error, out, said) => done({ code: error?.code ?? 0, said, out })));

const MISTAKES = {
    'a text that does not parse': ['export default plugin({ tools: [ } )', /✘ \[ERROR\] Unexpected "}"\n\n {4}src\/index\.js:1:33:/],
    'a module that is not there': ["import './none.js';", /Could not resolve "\.\/none\.js"\n\n {4}src\/index\.js:1:7:/],
    'a module of Node': ["import { readFile } from 'node:fs';\nreadFile();", /a plugin has no `node:fs`[^]*src\/index\.js:1:25:/],
    'the module for tests': ["import { refuse } from 'windlass/testing';\nrefuse();", /`windlass\/testing` is for tests/],
    'an await at the top': ['await 1;', /Top-level await is not available[^]*src\/index\.js:1:0:/],
    'a call while it is loaded': ["import { log } from 'windlass';\n\nlog.info('too early');", /^the plugin can't be loaded: Error: `log\.write` was called while the plugin's modules are loaded[^]*\(src\/index\.js:3:5\)\n\n[^]*> 3 \| log\.info/],
    'an error while it is loaded': ["const shop = undefined;\nshop.open();\nexport default 1;", /^the plugin can't be loaded: TypeError: [^]*\(src\/index\.js:2:6\)/],
    'nothing by default': ['export const a = 1;', /^the plugin can't be loaded: TypeError: the main module exports no plugin: write `export default plugin\(\{ … \}\)`\n$/],
    'a slip of the pen': ["import { plugin } from 'windlass';\nexport default plugin({ tool: [] });", /plugin\(\) knows no `tool`; it knows name, [^]*\(src\/index\.js:2:16\)/],
    'a tool without a function': ["import { plugin, tool } from 'windlass';\nexport default plugin({ tools: [tool({ name: 'buy' })] });", /tool\('buy'\) wants a function `run`[^]*\(src\/index\.js:2:33\)/],
    'no name': ["import { plugin, tool } from 'windlass';\nexport default plugin({ tools: [tool({ name: 'buy', run() {} })] });", /^the plugin has no name/],
};
for (const [name, [text, wanted]] of Object.entries(MISTAKES)) {
    test(`refused: ${name}`, async (t) => {
        const { code, said } = await built(project(t, { 'src/index.js': text }));
        assert.equal(code, 1);
        assert.match(said, wanted);
    });
}

test('a package.json that does not read is told in a line', async (t) => {
    const root = project(t, { 'src/index.js': oneTool(''), 'package.json': '{' });
    const { code, said } = await built(root, '--quick');
    assert.equal(code, 1);
    assert.match(said, /^package\.json is no JSON: [^\n]+\n$/);
});

test('the manifest is what the modules say, and package.json where they say nothing', async (t) => {
    const source = `import { plugin, tool } from 'windlass';
        const run = () => { throw new Error('a tool was run to read the manifest'); };
        export default plugin({ permissions: ['browser *'], tools: [
            tool({ name: 'look', title: 'Look', description: 'Looks.', readOnly: true, openWorld: false, permissions: ['http *', 'browser *'], run }),
            tool({ name: 'buy', input: { type: 'object', required: ['a'], properties: { a: {} } }, output: { type: 'object' }, taskSupport: 'required', run }),
        ] });`;
    const root = project(t, { 'package.json': '{"name": "shop", "version": "1.2.3"}', 'index.js': source });
    assert.deepEqual(await manifestOf(await bundle('index.js', root), root), {
        name: 'shop',
        version: '1.2.3',
        contract: '0.1',
        permissions: ['browser *', 'http *'],
        tools: [
            { name: 'look', title: 'Look', description: 'Looks.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true, openWorldHint: false } },
            { name: 'buy', inputSchema: { type: 'object', required: ['a'], properties: { a: {} } }, outputSchema: { type: 'object' }, taskSupport: 'required' },
        ],
    });
});

test('a component imports what its permissions are about, and nothing else', () => {
    const always = ['log', 'task', 'input', 'state', 'artifacts'];
    assert.deepEqual(interfaces([]), always);
    assert.deepEqual(interfaces(['browser https://a.example', 'browser-state *']), [...always, 'browser']);
    assert.deepEqual(interfaces(['secret a']), [...always, 'http']);
    assert.deepEqual(interfaces(['secret a', 'browser *']), [...always, 'browser']);
    assert.deepEqual(interfaces(['http *', 'reveal a']), [...always, 'http', 'secrets']);
    assert.match(world(['http *']), /import windlass:plugin\/http@0\.1\.0;/);
});

test('the manifest is a custom section behind the component', () => {
    const bytes = stamp(Buffer.from([0, 97]), { name: 'x'.repeat(200) });
    const json = JSON.stringify({ name: 'x'.repeat(200) });
    const length = 1 + 'windlass:manifest'.length + json.length;
    assert.deepEqual([...bytes.subarray(0, 6)], [0, 97, 0, (length & 0x7f) | 0x80, length >> 7, 17]);
    assert.equal(bytes.subarray(6).toString(), `windlass:manifest${json}`);
});

test('every name that the types say is exported, and no other', async () => {
    const types = readFileSync(new URL('../src/names.d.ts', import.meta.url), 'utf8');
    const declared = [...types.matchAll(/^export declare (?:const|function|class) (\w+)/gm)].map(([, name]) => name);
    const exported = Object.keys(await import('windlass')).filter((name) => !['plugin', 'tool', 'contents', 'drives', 'facts', 'given'].includes(name));
    assert.deepEqual([...new Set(declared)].sort(), exported.sort());
});

test('outside of a tool the names say where they work', async () => {
    const { log, page } = await import('windlass');
    assert.throws(() => log.info('x'), /`log\.info` works in a tool that runs: see windlass\/testing/);
    assert.throws(() => page.getByRole('button'), /`page\.getByRole` works in a tool/);
});

test('a bundle goes into a room, if it fits', async (t) => {
    const made = await bundle('index.js', project(t, { 'index.js': oneTool("return 'ä';") }));
    const room = Buffer.concat([Buffer.from('before'), Buffer.from('windlass:room\n'), Buffer.alloc(200_000, 32)]);
    const { finish, fits } = quick(made, [], 200_000);
    const filled = finish(room);
    assert.equal(filled.length, room.length);
    assert.match(filled.toString('latin1'), /^beforewindlass:room\n__windlass\.sources = \{"sources":\["index\.js"\]/);
    assert.ok(fits && filled.every((byte) => byte < 128), 'ASCII');
    assert.equal(quick(made, [], 1000).fits, false);
    assert.throws(() => finish(Buffer.from('none')), /no room/);
});

test('the map has the places of the authors sources, and no others', async (t) => {
    const root = project(t, { 'index.js': `import './more.js';\n${oneTool('return names.none.a;')}`, 'more.js': '// a comment\n\nexport const more = () => {\n    throw new Error("x");\n};\nmore.name;' });
    const { code, sources } = await bundle('index.js', root);
    assert.deepEqual(sources.sources, ['more.js', 'index.js']);
    const map = new SourceMap(sources);
    const lines = code.split('\n');
    const place = (text) => {
        const line = lines.findIndex((one) => one.includes(text));
        const found = map.place(line + 1, lines[line].indexOf(text) + 1);
        return found && `${found.file}:${found.line}:${found.column}`;
    };
    assert.equal(place('new Error("x")'), 'more.js:4:11');
    assert.equal(place('names.none.a'), 'index.js:5:8');
    assert.equal(place('Promise resolver is not'), undefined);
});

test('statements stay apart, each with its own line', async (t) => {
    const body = 'const items = await names.read();\n// It is here that it goes wrong.\nreturn items[0].price;';
    const { code, sources } = await bundle('index.js', project(t, { 'index.js': oneTool(body) }));
    const lines = code.split('\n');
    const line = lines.findIndex((one) => one.includes('items[0].price'));
    assert.ok(line >= 0, 'a name that is used once is not written out where it is used');
    const found = new SourceMap(sources).place(line + 1, lines[line].indexOf('items[0]') + 1);
    assert.match(sources.texts[0].split('\n')[found.line - 1], /return items\[0\]\.price/);
});

test('the command builds, and builds again in a moment', async (t) => {
    const root = project(t, { 'src/index.js': oneTool('return 1;') });
    for (const words of [[], ['--quick'], ['--quick', '--out', 'there/p.wasm'], ['src/index.js', '-o', 'x.wasm']]) {
        const { code, said, out } = await built(root, ...words);
        assert.equal(code, 0, said);
        const file = words.includes('--out') ? 'there/p.wasm' : words.includes('-o') ? 'x.wasm' : 'dist/p.wasm';
        assert.match(out, new RegExp(`^${file}: p 0\\.1\\.0 with t; \\d\\.\\d+ MB, built in`));
        assert.deepEqual([...readFileSync(join(root, file)).subarray(0, 4)], [0, 0x61, 0x73, 0x6d]);
    }
    assert.equal((await built(root, '--dance')).code, 1);
    assert.match((await built(root, '--help')).out, /^windlass-build \[ENTRY\]/);
});
