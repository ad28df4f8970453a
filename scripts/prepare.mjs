// Runs before every start: installs what serving needs and builds, each only if necessary; otherwise it is silent.
// With --dev it also installs what checks and tests need.
// Built-ins only, and nothing that an old Node can't read: it must be able to say that Node is too old.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkNode } from './node-version.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const SOURCES = [
  'src',
  'console/src',
  'console/index.html',
  'console/theme.js',
  'console/icon.svg',
  'console/package-lock.json',
  'cli',
  'engines',
  'kubernetes',
  'openstack',
  'postgres',
  'simulation',
  'test-kit',
  'migrations',
  'package.json',
  'scripts/build.mjs',
  'scripts/entry.mjs',
  'scripts/not-bundled.mjs',
  'scripts/source-lines.mjs',
  'scripts/package.json',
];
const BUILD_STAMP = at('dist/.sources');
const DEV = process.argv.includes('--dev');
/** Folders with their own manifest, so that nobody installs what they don't need: engines take 240 MB. */
const BUILD_TOOLS = ['scripts', 'console'];
const FOR_TESTS = ['engines', 'test', 'console/types'];
const API_DOCUMENT = 'openapi/openapi.json';
const API_TYPES = 'console/types/api.d.ts';

try {
  checkNode();
  if (!buildIsFresh() || staleFolders().length > 0 || !typesAreFresh()) {
    const unlock = lock();
    try {
      // Another start may have done the work while this one waited for the lock.
      const built = buildIsFresh();
      for (const folder of staleFolders(built ? [] : BUILD_TOOLS)) install(folder);
      if (!built) build();
      if (!typesAreFresh()) writeTypes();
    } finally {
      unlock();
    }
  }
} catch (error) {
  console.error(`tradewind: ${error.message}`);
  process.exitCode = 1;
}

function at(name) {
  return path.join(ROOT, name);
}

function staleFolders(more = []) {
  const folders = ['.', ...more, ...(DEV ? [...BUILD_TOOLS, ...FOR_TESTS] : [])];
  return [...new Set(folders)].filter((folder) => !dependenciesAreFresh(folder));
}

/** Whether npm's record of its last complete install has every package of the lock file. */
function dependenciesAreFresh(folder) {
  const installed = installedIn(folder);
  if (!installed) return false;
  const wanted = readJson(`${folder}/package-lock.json`).packages;
  return Object.keys(wanted).every((name) => {
    const want = wanted[name];
    if (name === '' || want.link || (!DEV && (want.dev || want.devOptional))) return true;
    const have = installed[name];
    // Optional packages are only for some platforms.
    if (!have) return Boolean(want.optional);
    return have.version === want.version && have.integrity === want.integrity && fs.existsSync(at(`${folder}/${name}`));
  });
}

function installedIn(folder) {
  const file = `${folder}/node_modules/.package-lock.json`;
  return fs.existsSync(at(file)) ? readJson(file).packages : undefined;
}

function install(folder) {
  console.log(`tradewind: installing ${folder === '.' ? 'dependencies' : `what ${folder} needs`} ...`);
  // Keeps the development tools where they are installed.
  const dev = DEV || Object.values(installedIn(folder) || {}).some((have) => have.dev);
  const result = npm(folder, [
    'ci',
    dev ? '--include=dev' : '--omit=dev',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]);
  if (result.status !== 0) throw new Error(whyInstallFailed(result.output));
}

function npm(folder, args) {
  const cli = process.env.npm_execpath;
  const [command, ...rest] = cli && /\.c?js$/.test(cli) ? [process.execPath, cli, ...args] : ['npm', ...args];
  const result = spawnSync(command, rest, { cwd: at(folder), encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (result.error) throw new Error(`npm can't be run (${result.error.message}). Install npm 10 or newer.`);
  return { status: result.status, output: `${result.stdout}${result.stderr}`.trim() };
}

function whyInstallFailed(output) {
  const code = (/\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/.exec(output) || [])[1];
  if (code)
    return `the npm registry can't be reached (${code}). Check the network or proxy ("npm ping") and start again.`;
  if (/\b(EACCES|EPERM|EROFS)\b/.test(output))
    return `${ROOT} can't be written by this user, and its dependencies must be installed. Run "npm ci" once as its owner.`;
  if (/\bENOSPC\b/.test(output))
    return 'the disk is full; the dependencies need about 130 MB, those of tests another 600.';
  return `the dependencies can't be installed. npm says:\n${output}`;
}

/** Whether dist was built from exactly these sources. Compares times and sizes first, and contents if those differ. */
function buildIsFresh() {
  if (!fs.existsSync(BUILD_STAMP)) return false;
  const [looks, contents] = fs.readFileSync(BUILD_STAMP, 'utf8').split('\n');
  if (looks === fingerprint(looksOf)) return true;
  if (contents !== fingerprint(contentsOf)) return false;
  try {
    writeStamp('dist');
  } catch {
    // Only the owner may write. The next start compares contents again.
  }
  return true;
}

function writeStamp(folder) {
  fs.writeFileSync(at(`${folder}/.sources`), `${fingerprint(looksOf)}\n${fingerprint(contentsOf)}\n`);
}

function looksOf(_name, stat) {
  return `${stat.size}\n${stat.mtimeMs}`;
}

function contentsOf(name) {
  return fs.readFileSync(at(name));
}

function fingerprint(of) {
  const hash = createHash('sha256');
  const add = (name) => {
    const stat = fs.statSync(at(name));
    if (stat.isDirectory()) {
      for (const entry of fs.readdirSync(at(name)).sort()) if (entry !== 'node_modules') add(`${name}/${entry}`);
    } else if (!name.endsWith('.test.ts')) hash.update(`${name}\n`).update(of(name, stat)).update('\n');
  };
  for (const name of SOURCES) add(name);
  return hash.digest('hex');
}

function build() {
  console.log('tradewind: building ...');
  try {
    fs.rmSync(at('dist.new'), { recursive: true, force: true });
    fs.mkdirSync(at('dist.new'));
    // Written first, so that changes during the build are built next time.
    writeStamp('dist.new');
    const result = spawnSync(process.execPath, ['scripts/build.mjs', 'dist.new'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    if (result.status !== 0) throw new Error(`the build failed:\n${result.stdout}${result.stderr}`.trim());
    // Built in a folder beside it and then renamed, so that no start sees half a build, and no outdated files remain.
    fs.rmSync(at('dist'), { recursive: true, force: true });
    fs.renameSync(at('dist.new'), at('dist'));
  } catch (error) {
    fs.rmSync(at('dist.new'), { recursive: true, force: true });
    if (error.code === 'EACCES' || error.code === 'EROFS')
      throw new Error(
        `${ROOT} can't be written by this user, and Tradewind must be built. Run "npm run prestart" once as its owner.`,
      );
    throw error;
  }
}

/** Only checks read the types of the API; the build of the console leaves them out. */
function typesAreFresh() {
  return (
    !DEV ||
    (fs.existsSync(at(API_TYPES)) && fs.statSync(at(API_TYPES)).mtimeMs >= fs.statSync(at(API_DOCUMENT)).mtimeMs)
  );
}

function writeTypes() {
  const generator = at('console/types/node_modules/openapi-typescript/bin/cli.js');
  const result = spawnSync(process.execPath, [generator, API_DOCUMENT, '-o', API_TYPES], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (result.status !== 0) throw new Error(`the types of the API can't be written:\n${result.stderr}`);
}

/** The kernel holds the lock on package.json, so it ends with this process. Without flock(1), starts may overlap. */
function lock() {
  const DARWIN_O_EXLOCK = 0x20;
  const darwin = process.platform === 'darwin';
  const fd = fs.openSync(at('package.json'), fs.constants.O_RDONLY | (darwin ? DARWIN_O_EXLOCK : 0));
  if (!darwin) spawnSync('flock', ['-x', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] });
  return () => fs.closeSync(fd);
}

function readJson(name) {
  return JSON.parse(fs.readFileSync(at(name), 'utf8'));
}
