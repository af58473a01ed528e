// A plugin and its tools, as their author writes them down.

/** Fields that are taken; another one is a slip of the pen, and said. */
const OF_PLUGIN = ['name', 'version', 'description', 'permissions', 'tools'];
const OF_TOOL = [
    'name', 'title', 'description', 'input', 'output', 'permissions', 'run', 'taskSupport', 'askFirst',
    'readOnly', 'destructive', 'idempotent', 'openWorld',
];

function check(what, given, fields) {
    if (given === null || typeof given !== 'object') throw new TypeError(`${what} wants an object`);
    for (const field of Object.keys(given)) {
        if (!fields.includes(field)) throw new TypeError(`${what} knows no \`${field}\`; it knows ${fields.join(', ')}`);
    }
}

/** A tool: its name, what it does, JSON Schemas of its input and its structured outcome, and the function that runs. */
export function tool(given) {
    const what = `tool(${typeof given?.name === 'string' ? `'${given.name}'` : ''})`;
    check(what, given, OF_TOOL);
    if (typeof given.name !== 'string') throw new TypeError('tool() wants a name');
    if (typeof given.run !== 'function') throw new TypeError(`${what} wants a function \`run\``);
    return { input: { type: 'object' }, permissions: [], ...given };
}

/** A plugin. Its name and version are those of package.json, unless it says others. */
export function plugin(given) {
    check('plugin()', given, OF_PLUGIN);
    if (!Array.isArray(given.tools) || given.tools.length === 0) throw new TypeError('plugin() wants a list of tools');
    return { permissions: [], ...given, tools: given.tools.map((one) => (typeof one?.run === 'function' && one.permissions ? one : tool(one))) };
}
