// A plugin in a folder of its own.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Writes the files, and takes them away when the test ends. */
export function project(t, files) {
    const root = mkdtempSync(join(tmpdir(), 'windlass-test-'));
    t.after(() => rm(root, { recursive: true, force: true }));
    for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(root, name)), { recursive: true });
        writeFileSync(join(root, name), text);
    }
    return root;
}

/** A plugin of one tool with this body. */
export const oneTool = (body, { before = '', permissions = [], imports = '' } = {}) =>
    `import { plugin, tool, ${imports} } from 'windlass';\n${before}\nexport default plugin({ name: 'p', permissions: ${JSON.stringify(permissions)}, tools: [tool({ name: 't', async run(input, names) {\n${body}\n} })] });\n`;
