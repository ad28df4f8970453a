// Bundles the program into the given folder, by default dist. Loading one file instead of two thousand, compiled in
// advance, takes a third of the time (ADR 15). Types are checked by "npm run check", not here.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { NOT_BUNDLED } from './not-bundled.mjs';
import { sourceLines } from './source-lines.mjs';

const [outdir = 'dist'] = process.argv.slice(2);
const ENGINES = 'engines';
const REFERENCE_PAGE = 'node_modules/@fastify/swagger-ui/static';

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  logLevel: 'warning',
  metafile: true,
};

const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
/** The template library has letters in regular expressions, which a bundle can't have; see requireAscii. */
const asciiTemplates = {
  name: 'ascii-templates',
  setup(bundling) {
    bundling.onLoad({ filter: /node_modules\/liquidjs\/.+\.m?js$/ }, ({ path: file }) => ({
      contents: fs.readFileSync(file, 'utf8').replace(/[^\0-\x7f]/g, escaped),
      loader: 'js',
    }));
  },
};

/** The fonts of invoices come along, and the library for all other fonts does not. */
const standardFonts = {
  name: 'standard-fonts',
  setup(bundling) {
    bundling.onLoad({ filter: /node_modules\/pdfkit\/js\/pdfkit\.node\.mjs$/ }, ({ path: file }) => ({
      contents: fs
        .readFileSync(file, 'utf8')
        .replace(/require\$1\('#standard-fonts\/(Helvetica|HelveticaBold)'\)/g, "require('./standard-fonts/$1.cjs')"),
      loader: 'js',
    }));
    bundling.onLoad({ filter: /node_modules\/fontkit\/.+\.m?js$/ }, () => ({
      contents: "export const create = () => { throw new Error('Only standard fonts are there') };",
    }));
  },
};

/** The command line of a server is a bundle of its own, so that the server doesn't load it. */
const CLIENT = '../cli/main.cjs';
const clientApart = {
  name: 'client-apart',
  setup: ({ onResolve }) => onResolve({ filter: /^\.\.\/cli\/main\.ts$/ }, () => ({ path: CLIENT, external: true })),
};
// Built first: the server is run below, for its help.
const client = await build({
  ...shared,
  minify: true,
  keepNames: true,
  entryPoints: ['cli/main.ts'],
  outfile: `${outdir}/src/${CLIENT}`,
  format: 'cjs',
  define: { 'import.meta.url': 'bundleUrl' },
  banner: { js: 'const bundleUrl = require("node:url").pathToFileURL(__filename).href;' },
});
// Beside it, since only commands read it that ask a server.
fs.copyFileSync('cli/api/operations.json', `${outdir}/cli/operations.json`);
const server = await build({
  ...shared,
  // The server keeps the text in memory. Names stay, for the traces of errors.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  entryPoints: ['src/main.ts'],
  outfile: `${outdir}/src/bundle.js`,
  external: [...NOT_BUNDLED, 'pg-native'],
  plugins: [clientApart, asciiTemplates, standardFonts],
  // Code that was compiled in advance can't import, but require.
  supported: { 'dynamic-import': false },
  format: 'cjs',
  define: { 'import.meta.url': 'bundleUrl' },
  // A function, which scripts/entry.mjs calls.
  banner: {
    js: '(function (require, module, exports, __filename, __dirname) { const bundleUrl = require("node:url").pathToFileURL(__filename).href;',
  },
  footer: { js: '})' },
  sourcemap: 'external',
  sourcesContent: false,
});
requireAscii(`${outdir}/src/bundle.js`);
const map = `${outdir}/src/bundle.js.map`;
fs.writeFileSync(
  `${outdir}/src/bundle.js.lines`,
  JSON.stringify(sourceLines(JSON.parse(fs.readFileSync(map, 'utf8')))),
);
fs.rmSync(map);
fs.copyFileSync('scripts/entry.mjs', `${outdir}/src/main.js`);
fs.cpSync(REFERENCE_PAGE, `${outdir}/src/reference-page`, {
  recursive: true,
  filter: (name) => !/\/swagger-ui\.js$|\.map$/.test(name),
});
compileInAdvance(`${outdir}/src/main.js`);

// Bundled separately, because they load their packages from a folder of their own.
const child = await build({
  ...shared,
  entryPoints: [`${ENGINES}/child/main.ts`],
  outbase: ENGINES,
  outdir: `${outdir}/${ENGINES}`,
  external: packagesOf(ENGINES).flatMap((name) => [name, `${name}/*`]),
  splitting: true,
  sourcemap: true,
  format: 'esm',
  // For bundled packages that are CommonJS.
  banner: {
    js: 'import { createRequire as requireFor } from "node:module"; const require = requireFor(import.meta.url);',
  },
});
// Outlives the server that starts it, so it should be small.
const supervisor = await build({
  ...shared,
  entryPoints: ['kubernetes/hosted/supervisor/main.ts'],
  outfile: `${outdir}/kubernetes/hosted/supervisor/main.js`,
  format: 'esm',
});
const consolePages = await buildConsole(`${outdir}/console`);
const enginePackages = `${outdir}/${ENGINES}/node_modules`;
fs.rmSync(enginePackages, { force: true });
fs.symlinkSync(`../../${ENGINES}/node_modules`, enginePackages);

const bundled = [server, client, child, supervisor, ...consolePages]
  .flatMap(({ metafile }) => Object.keys(metafile.inputs))
  .flatMap((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
const packages = [...new Set([...bundled, path.dirname(REFERENCE_PAGE)])].sort();
fs.writeFileSync(`${outdir}/licences.txt`, licencesOf(packages).join(`\n\n${'-'.repeat(80)}\n\n`));

/** The files of the console. All but the page have a hash of their contents in their names, so that browsers keep them. */
async function buildConsole(folder) {
  const common = {
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    outdir: `${folder}/assets`,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
  };
  const named = ({ metafile }, entry) => {
    const [file, { cssBundle }] =
      Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === entry) ?? [];
    return { file: address(file), style: cssBundle && address(cssBundle) };
  };
  const address = (file) => `/console/assets/${path.basename(file)}`;
  const worker = await build({ ...common, entryPoints: ['console/src/worker/main.ts'] });
  const files = await build({
    ...common,
    entryPoints: ['console/theme.js', 'console/icon.svg'],
    loader: { '.svg': 'copy' },
  });
  const main = await build({
    ...common,
    entryPoints: ['console/src/main.tsx'],
    splitting: true,
    jsx: 'automatic',
    define: {
      WORKER: JSON.stringify(named(worker, 'console/src/worker/main.ts').file),
      'process.env.NODE_ENV': '"production"',
    },
  });
  const { file, style } = named(main, 'console/src/main.tsx');
  const [theme, icon] = ['theme.js', 'icon.svg'].map((name) => named(files, `console/${name}`).file);
  const filled = (page, names) =>
    fs.readFileSync(page, 'utf8').replace(/"(MAIN|STYLE|THEME|ICON)"/g, (_, name) => `"${names[name]}"`);
  fs.writeFileSync(
    `${folder}/index.html`,
    filled('console/index.html', { MAIN: file, STYLE: style, THEME: theme, ICON: icon }),
  );
  const links = await build({
    ...common,
    entryPoints: ['console/src/links/main.ts', 'console/icon.svg'],
    loader: { '.svg': 'copy' },
    outdir: `${folder}/links`,
  });
  // Relative, since they may lie below a path of a proxy.
  const relative = (name) => name.replace('/console/assets/', 'links/');
  const page = named(links, 'console/src/links/main.ts');
  fs.writeFileSync(
    `${folder}/links/page.html`,
    filled('console/src/links/page.html', {
      MAIN: relative(page.file),
      STYLE: relative(page.style),
      ICON: relative(named(links, 'console/icon.svg').file),
    }),
  );
  return [worker, files, main, links];
}

/** The bundle is read as Latin-1. Of all text, esbuild leaves only that of regular expressions as it is. */
function requireAscii(file) {
  const [found] = /.{0,40}[^\0-\x7f]/.exec(fs.readFileSync(file, 'utf8')) ?? [];
  if (found !== undefined) throw new Error(`Write this in ASCII, with escapes such as \\u00b5: ${found}`);
}

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
  return Object.keys(JSON.parse(fs.readFileSync(`${folder}/package.json`, 'utf8')).dependencies);
}

/** Their licences want to be with copies of them. */
function licencesOf(packages) {
  return packages.map((folder) => {
    const { name, version, license } = JSON.parse(fs.readFileSync(`${folder}/package.json`, 'utf8'));
    const texts = fs
      .readdirSync(folder)
      .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
      .map((file) => fs.readFileSync(`${folder}/${file}`, 'utf8').trim());
    return [`${name} ${version} (${license})`, ...texts].join('\n\n');
  });
}
