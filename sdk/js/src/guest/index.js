// What the build bundles once for all plugins: what plugins import, and what a component exports.
import './first.js';
import { contents, drives, facts, given } from '../index.js';
import { manifest } from './manifest.js';
import { tool } from './run.js';

export * from '../index.js';

/** What a bundle answers: the manifest for the build, and the contract's `tool` for the host. */
export function component(plugin) {
    if (!plugin?.tools) throw new TypeError('the main module exports no plugin: write `export default plugin({ … })`');
    return { manifest: manifest(plugin), tool: tool(plugin, drives, contents, facts, given.sources) };
}
