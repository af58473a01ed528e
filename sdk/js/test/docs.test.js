// Every plugin and every test of the guide: typed, loaded, run.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { bundle } from '../src/build/bundle.js';
import { entryOf, manifestOf } from '../src/build/plugin.js';
import { plugin } from '../src/testing/index.js';
import { project } from './project.js';

const guide = readFileSync(new URL('../../../docs/plugins-js.md', import.meta.url), 'utf8');
const SDK = fileURLToPath(new URL('..', import.meta.url));

/** Files by name; each main module begins another plugin. */
const plugins = [];
for (const [, text] of guide.matchAll(/^```(?:js|ts)\n(.*?)^```$/gms)) {
    const [, name] = /^\/\/ (\S+)\n/.exec(text) ?? [];
    assert.ok(name, `a block of the guide begins with the name of its file: ${text.slice(0, 60)}`);
    if (name.startsWith('src/index.')) plugins.push({});
    plugins.at(-1)[name] = text;
}

/** Runs Node in a folder; what it printed, and its exit code. */
const node = (root, ...words) =>
    new Promise((done) => {
        const env = { ...process.env };
        // The runner of these tests would else take what the other says for its own.
        delete env.NODE_TEST_CONTEXT;
        execFile(process.execPath, words, { cwd: root, env }, (error, out, said) => done({ code: error?.code ?? 0, text: out + said }));
    });

function folder(t, files) {
    const root = project(t, { 'package.json': '{"type": "module"}', ...files });
    mkdirSync(join(root, 'node_modules'));
    symlinkSync(SDK, join(root, 'node_modules/windlass'));
    return root;
}

assert.ok(plugins.length >= 4, String(plugins.length));
for (const files of plugins) {
    test(`the guide: ${Object.keys(files).join(', ')} of ${/name: '(\w+)'/.exec(Object.values(files)[0])[1]}`, async (t) => {
        const root = folder(t, files);
        const { tools } = await manifestOf(await bundle(entryOf(root), root), root);
        assert.ok(tools.length > 0);
        const compilerOptions = { checkJs: true, strict: true, noEmit: true, target: 'es2024', lib: ['es2024'], module: 'nodenext', types: ['windlass/globals'] };
        writeFileSync(join(root, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
        const typed = await node(root, createRequire(import.meta.url).resolve('typescript/package.json').replace('package.json', 'bin/tsc'));
        assert.equal(typed.code, 0, typed.text);
        const tests = Object.keys(files).filter((name) => name.startsWith('test/'));
        if (tests.length === 0) return;
        const run = await node(root, '--test', ...tests);
        assert.equal(run.code, 0, run.text);
        assert.match(run.text, /pass [1-9]/);
    });
}

test('the guide: the first and the last plugin do what they say', async (t) => {
    const greeter = await plugin(undefined, folder(t, plugins[0]));
    const run = greeter.run('greet', { name: 'Ada' });
    assert.deepEqual([run.outcome.structured, run.log.length, run.slept], [{ text: 'Hello, Ada!' }, 1, 100]);
    const sums = await plugin(undefined, folder(t, plugins.at(-1)));
    assert.deepEqual(sums.run('sum', { numbers: [1, 2.6], round: true }).outcome.structured, { total: 4 });
});
