// Bundles the program into the given folder, by default dist. Loading one file instead of a thousand halves the time
// that a start spends on code. Types are checked by "npm run check", not here.
import fs from 'node:fs';
import { build } from 'esbuild';

const [outdir = 'dist'] = process.argv.slice(2);
const ENGINES = 'src/engines';
// Packages with many small modules. The others are loaded from node_modules; some of them need their own files there.
const BUNDLED = ['kysely', 'typebox'];

await bundle(['src/main.ts', 'src/start/worker-thread.ts'], '.');
// Bundled separately, because they load their packages from a folder of their own.
await bundle([`${ENGINES}/child/main.ts`], ENGINES);
fs.symlinkSync(`../../../${ENGINES}/node_modules`, `${outdir}/${ENGINES}/node_modules`);

async function bundle(entryPoints, folder) {
  const packages = [...packagesOf('.'), ...packagesOf(ENGINES)].filter((name) => !BUNDLED.includes(name));
  await build({
    entryPoints,
    outbase: folder,
    outdir: `${outdir}/${folder}`,
    external: packages.flatMap((name) => [name, `${name}/*`]),
    bundle: true,
    splitting: true,
    sourcemap: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'warning',
  });
}

function packagesOf(folder) {
  const { dependencies, optionalDependencies } = JSON.parse(
    fs.readFileSync(`${folder}/package.json`, 'utf8'),
  );
  return Object.keys({ ...dependencies, ...optionalDependencies });
}
