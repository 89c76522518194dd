#!/usr/bin/env node
// The package's `minstrel`, and the npm scripts. Plain JavaScript, because older versions of Node must be able to report their version.
import './preload.js';

const { runByName } = await import('./minstrel.ts');
await runByName(process.argv.slice(2));
