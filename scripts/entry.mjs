#!/usr/bin/env node
// Becomes dist/src/main.js: runs the bundle beside it. The build left its functions compiled, for the same version
// of Node; any other compiles them itself.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

const folder = path.dirname(fileURLToPath(import.meta.url));
const filename = path.join(folder, 'bundle.js');
const cache = `${filename}.cache`;
const writes = process.env.TRADEWIND_BUILD_CACHE === 'write';
// The bundle is ASCII, which takes half the memory when it is read as Latin-1.
const script = new vm.Script(fs.readFileSync(filename, 'latin1'), {
  filename,
  cachedData: !writes && fs.existsSync(cache) ? fs.readFileSync(cache) : undefined,
  importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});
const module = { exports: {} };
if (writes) process.once('exit', () => fs.writeFileSync(cache, script.createCachedData()));
script.runInThisContext()(createRequire(filename), module, module.exports, filename, folder);
