#!/usr/bin/env node
// Builds a plugin: bundles its main module, reads its manifest, makes the component.
import { run } from './src/build/cli.js';

process.exitCode = await run(process.argv.slice(2));
