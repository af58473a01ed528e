// The manifest of a plugin: what it says of itself, as the host reads it.

/** Version of the contract, `windlass:plugin`. */
const CONTRACT = '0.1';
const HINTS = { readOnly: 'readOnlyHint', destructive: 'destructiveHint', idempotent: 'idempotentHint', openWorld: 'openWorldHint' };

function annotations(tool) {
    const hints = Object.entries(HINTS).filter(([name]) => tool[name] !== undefined);
    return hints.length > 0 ? Object.fromEntries(hints.map(([name, hint]) => [hint, tool[name]])) : undefined;
}

const ofTool = (tool) => ({
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.input,
    outputSchema: tool.output,
    annotations: annotations(tool),
    taskSupport: tool.taskSupport,
    askFirst: tool.askFirst,
});

/** `name` and `version` may be missing: the build takes those of package.json. */
export function manifest({ name, version, description, permissions, tools }) {
    const all = [...permissions, ...tools.flatMap((tool) => tool.permissions)];
    return { name, version, description, contract: CONTRACT, permissions: [...new Set(all)], tools: tools.map(ofTool) };
}
