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
/** Where the lines come from, once somebody asks. */
let list;
Error.prepareStackTrace = withSources;
const module = { exports: {} };
if (writes) process.once('exit', () => fs.writeFileSync(cache, script.createCachedData()));
script.runInThisContext()(createRequire(filename), module, module.exports, filename, folder);

/** Names the lines of our sources in a stack trace. Their list is read when somebody looks at the first one. */
function withSources(error, frames) {
  const [head, ...lines] = [error, ...frames].map((each) => {
    try {
      return String(each);
    } catch {
      return '<error>';
    }
  });
  const named = lines.map((line) =>
    // The compiled code remembers the folder of the build, so only the end of the path is certain.
    line.replace(/[^( ]*[\\/]src[\\/]bundle\.js:(\d+):(\d+)/, (place, at, column) =>
      sourceOf(Number(at), Number(column), place),
    ),
  );
  return [head, ...named].join('\n    at ');
}

function sourceOf(line, column, place) {
  try {
    list ??= JSON.parse(fs.readFileSync(`${filename}.lines`, 'utf8'));
  } catch {
    list = { sources: [], places: [] };
  }
  const { sources, places } = list;
  let [low, high] = [0, places.length / 4];
  while (low < high) {
    const middle = (low + high) >> 1;
    const isAfter = places[middle * 4] - line || places[middle * 4 + 1] - column;
    if (isAfter > 0) high = middle;
    else low = middle + 1;
  }
  const [begins, , source, sourceLine] = places.slice((low - 1) * 4, low * 4);
  if (sources[source] === undefined) return place;
  return sourceLine === 0
    ? `${sources[source]} in bundle.js:${line}:${column}`
    : `${sources[source]}:${sourceLine + line - begins}`;
}
