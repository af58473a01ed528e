// Makes src/names.d.ts (what a module imports) and src/globals.d.ts (what is there without an import) of
// src/windlass.d.ts, where both are globals, as scripts have them. `node types/make.mjs` writes, `node types/make.mjs --check` compares.
import { readFileSync, writeFileSync } from 'node:fs';

const file = (name) => new URL(`../src/${name}.d.ts`, import.meta.url);
/** A plugin's tool gets its input as an argument. */
const LEFT_OUT = ['input'];
/** What other engines have as globals, too. */
const GLOBALS = ['console', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'TextEncoder', 'TextDecoder'];
/** Those that scripts' types don't name. */
const ENGINE = 'declare function queueMicrotask(run: () => void): void;\ndeclare const performance: { now(): number };\n';

/** The statements at the top, `[name, text]`, each with the comment above it. */
function statements(text) {
    const found = [];
    let lines = [];
    for (const line of text.split('\n')) {
        lines.push(line);
        if (!/^(?:(?:declare|interface|type) .*[;}]|\}.*)$/.test(line)) continue;
        const statement = lines.splice(0).join('\n');
        found.push([/^(?:declare (?:const|function|class)|interface|type) (\w+)/m.exec(statement)[1], statement]);
    }
    return found;
}

const all = statements(readFileSync(file('windlass'), 'utf8').replace(/^(?:\/\/.*\n)+/, '')).filter(([name]) => !LEFT_OUT.includes(name));
const exported = ([, text]) => text.replace(/^declare /m, 'export declare ').replace(/^(interface|type) /m, 'export $1 ');
const written = (what, lines) => `// ${what} Made of windlass.d.ts by \`node types/make.mjs\`.\n${lines.join('\n')}\n`;
const names = written('What a plugin imports of the API.', all.filter(([name]) => !GLOBALS.includes(name)).map(exported));
const globals = written('What a plugin has without an import.', all.filter(([name]) => GLOBALS.includes(name)).map(([, text]) => text.replaceAll('Millis', 'number'))) + ENGINE;

for (const [name, text] of Object.entries({ names, globals })) {
    if (!process.argv.includes('--check')) {
        writeFileSync(file(name), text);
    } else if (readFileSync(file(name), 'utf8') !== text) {
        console.error(`src/${name}.d.ts is not what src/windlass.d.ts makes: run \`node types/make.mjs\``);
        process.exitCode = 1;
    }
}
