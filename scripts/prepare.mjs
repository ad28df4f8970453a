// Runs before every start: installs the dependencies and builds, each only if necessary. Otherwise prints nothing.
// Uses only built-ins, and no syntax that an old Node can't parse: it must be able to say that Node is too old.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const OLDEST_NODE = [20, 19];
const SOURCES = ['src', 'migrations', 'package.json', 'scripts/build.mjs'];
const BUILD_STAMP = at('dist/.sources');

try {
  checkNode();
  if (!buildIsFresh() || !dependenciesAreFresh({ dev: false })) {
    const unlock = lock();
    try {
      // Another start may have done the work while this one waited for the lock.
      const built = buildIsFresh();
      if (!dependenciesAreFresh({ dev: !built })) install();
      if (!built) build();
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

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw new Error(
    `Node ${OLDEST_NODE.join('.')} or newer is needed, this is ${process.versions.node}. Get one from https://nodejs.org/en/download.`,
  );
}

/** Whether npm's record of its last complete install has every package of the lock file. */
function dependenciesAreFresh({ dev }) {
  if (!fs.existsSync(at('node_modules/.package-lock.json'))) return false;
  const wanted = readJson('package-lock.json').packages;
  const installed = readJson('node_modules/.package-lock.json').packages;
  return Object.keys(wanted).every((folder) => {
    const want = wanted[folder];
    if (folder === '' || want.link || (!dev && (want.dev || want.devOptional))) return true;
    const have = installed[folder];
    // Optional packages are only for some platforms.
    if (!have) return Boolean(want.optional);
    return have.version === want.version && have.integrity === want.integrity && fs.existsSync(at(folder));
  });
}

function install() {
  console.log('tradewind: installing dependencies (a minute or so, once) ...');
  const options = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const result = npm(['ci', ...options]);
  if (result.status !== 0) throw new Error(whyInstallFailed(result.output));
}

function npm(args) {
  const cli = process.env.npm_execpath;
  const [command, ...rest] = cli && /\.c?js$/.test(cli) ? [process.execPath, cli, ...args] : ['npm', ...args];
  const result = spawnSync(command, rest, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (result.error) throw new Error(`npm can't be run (${result.error.message}). Install npm 10 or newer.`);
  return { status: result.status, output: `${result.stdout}${result.stderr}`.trim() };
}

function whyInstallFailed(output) {
  const code = (/\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/.exec(output) ||
    [])[1];
  if (code)
    return `the npm registry can't be reached (${code}). Check the network or proxy ("npm ping") and start again.`;
  if (/\b(EACCES|EPERM|EROFS)\b/.test(output))
    return `${ROOT} can't be written by this user, and its dependencies must be installed. Run "npm ci" once as its owner.`;
  if (/\bENOSPC\b/.test(output)) return 'the disk is full; the dependencies need about 700 MB.';
  return `the dependencies can't be installed. npm says:\n${output}`;
}

/** Whether dist was made from exactly these sources; times alone would miss a deleted or restored file. */
function buildIsFresh() {
  return fs.existsSync(BUILD_STAMP) && fs.readFileSync(BUILD_STAMP, 'utf8') === fingerprint();
}

function fingerprint() {
  const hash = createHash('sha256');
  const add = (name) => {
    const stat = fs.statSync(at(name));
    if (stat.isDirectory()) for (const entry of fs.readdirSync(at(name)).sort()) add(`${name}/${entry}`);
    else if (!name.endsWith('.test.ts')) hash.update(`${name}\n${stat.size}\n${stat.mtimeMs}\n`);
  };
  for (const name of SOURCES) add(name);
  return hash.digest('hex');
}

function build() {
  console.log('tradewind: building ...');
  // Read first: changes during the build are built the next time.
  const sources = fingerprint();
  try {
    fs.rmSync(at('dist.new'), { recursive: true, force: true });
    fs.mkdirSync(at('dist.new'));
    const result = spawnSync(process.execPath, ['scripts/build.mjs', 'dist.new'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    if (result.status !== 0) throw new Error(`the build failed:\n${result.stdout}${result.stderr}`.trim());
    fs.writeFileSync(at('dist.new/.sources'), sources);
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
