#!/usr/bin/env node
// Built-ins only, and nothing that an old Node can't read, before the version of Node is known.
import fs from 'node:fs';
import { checkNode } from '../scripts/node-version.mjs';

try {
  checkNode();
} catch (error) {
  console.error(`tradewind: ${error.message}`);
  process.exit(1);
}
// A checkout installs and builds first if necessary, so that `npx tradewind` works in a fresh clone. The npm package
// comes built, without this script.
const prepare = new URL('../scripts/prepare.mjs', import.meta.url);
if (fs.existsSync(prepare)) await import(prepare.href);
if (!process.exitCode) await import('../dist/src/main.js');
