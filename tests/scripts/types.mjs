// Writes the scripts of the guide, the order, and the scripts of tests that are to end well into a folder, each as the
// function that it is, with a tsconfig.json: the types of windlass.d.ts must hold for them.
//
// node types.mjs FOLDER

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
const root = join(import.meta.dirname, '../..');
const read = (file) => readFileSync(join(root, file), 'utf8');

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const write = (name, script) => writeFileSync(join(folder, `${name.replace(/\W+/g, '-')}.js`), `export const run = async () => {${script}\n};\n`);

const guide = read('docs/scripts.md').split('```js\n').slice(1).map((rest) => rest.split('```')[0]);
guide.forEach((script, at) => write(`guide-${at + 1}`, script));
write('order', read('examples/order-script/order.js'));
for (const table of ['api', 'pages']) {
    const cases = read(`tests/scripts/${table}.txt`).split(/^=== /m).slice(1);
    for (const one of cases.filter((one) => !/^--- (fails|cause)/m.test(one))) {
        const [name, ...lines] = one.split('\n');
        write(`${table}-${name}`, lines.filter((line) => !line.startsWith('--- ')).join('\n'));
    }
}
// What functions that run in a page see there, and what an editor knows anyway.
writeFileSync(join(folder, 'page.d.ts'), ['document', 'window', 'localStorage', 'scrollY', 'performance'].map((name) => `declare const ${name}: any;\n`).join(''));
const compilerOptions = {
    strict: true, useUnknownInCatchVariables: false, noImplicitAny: false, noEmit: true, allowJs: true, checkJs: true,
    target: 'es2024', lib: ['es2024'], module: 'esnext', types: [],
};
writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.js', 'page.d.ts', join(root, 'sdk/js/src/windlass.d.ts')] }, null, 2));
