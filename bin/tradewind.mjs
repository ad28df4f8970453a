#!/usr/bin/env node
// Installs and builds first if necessary, so that `npx tradewind` works in a fresh clone.
await import('../scripts/prepare.mjs');
if (!process.exitCode) await import('../dist/src/main.js');
