// Installs what AI tasks need: npm's packages (src/engines/package.json) and the programs that npm doesn't have: ffmpeg,
// pocketsphinx with its English model, and bubblewrap. Says what it does before it does it. Run by "tradewind engines install", "npm run install:engines", and
// before "npm test" with --tests --if-possible; Debian, Ubuntu and what is made from them.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = path.join(ROOT, 'src/engines');
/** The bundle finds the packages through this link, which npm leaves out of the package. */
const BUNDLED_AT = path.join(ROOT, 'dist/src/engines');
/** The last one isolates analyses. */
const PACKAGES = ['ffmpeg', 'pocketsphinx', 'pocketsphinx-en-us', 'bubblewrap'];
/** Keeps a machine without network from waiting for minutes; another apt-get ends soon. */
const PATIENCE = [
  '-o',
  'Acquire::http::Timeout=20',
  '-o',
  'Acquire::Retries=1',
  '-o',
  'DPkg::Lock::Timeout=120',
];
/** Speech and pictures for the tests of the engines, and the programs for backups. */
const TEST_PACKAGES = [
  'flite',
  'pocketsphinx-testdata',
  'asterisk-core-sounds-en',
  'asterisk-core-sounds-en-g722',
  'asterisk-core-sounds-es-g722',
  'opencv-doc',
  'python3-skimage',
  'postgresql-client',
  'faketime',
];

const OPTIONS = {
  '--tests': 'installs what the tests need as well',
  '--dry-run': 'only shows',
  '--if-possible': 'is content without, and never asks for a password',
};
const options = process.argv.slice(2);
const unknown = options.find((option) => !Object.hasOwn(OPTIONS, option));
if (unknown !== undefined) {
  const known = Object.entries(OPTIONS).map(([option, does]) => `  ${option} ${does}`);
  console.error([`There is no option ${unknown}.`, ...known].join('\n'));
  process.exit(64);
}
const wanted = [...PACKAGES, ...(options.includes('--tests') ? TEST_PACKAGES : [])];
const packages = installPackages();
if (packages !== 0) process.exit(packages);
process.exit(options.includes('--if-possible') ? installIfPossible() : install());

/** Tests have them already. */
function installPackages() {
  if (options.includes('--if-possible')) return 0;
  console.log(`cd ${FOLDER} && npm ci --omit=dev (about 240 MB)`);
  if (options.includes('--dry-run')) return 0;
  try {
    fs.accessSync(FOLDER, fs.constants.W_OK);
  } catch {
    console.error(
      `${FOLDER} can't be written by this user. Run this as its owner, or install Tradewind in a folder of your own: npm install tradewind`,
    );
    return 73;
  }
  const { status, error } = spawnSync(
    'npm',
    ['ci', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: FOLDER,
      stdio: 'inherit',
    },
  );
  if (status !== 0) console.error(error?.message ?? 'npm failed; what it says is above.');
  else linkPackages();
  return status ?? 1;
}

function linkPackages() {
  const link = path.join(BUNDLED_AT, 'node_modules');
  if (!fs.existsSync(BUNDLED_AT) || fs.existsSync(link)) return;
  fs.symlinkSync(path.relative(BUNDLED_AT, path.join(FOLDER, 'node_modules')), link);
}

function installIfPossible() {
  const apt = programIsThere('apt-get');
  const missing = apt ? wanted.filter((name) => !isInstalled(name)) : wanted;
  if (missing.length === 0) return 0;
  const possible = apt && process.getuid?.() === 0;
  if (possible && install() === 0) return 0;
  const why = possible ? 'they could not be installed' : 'installing them needs Debian and root';
  console.log(
    `Engines for AI tasks are missing (${missing.join(', ')}): ${why}. Tests that need them are skipped, each says so.`,
  );
  return 0;
}

function install() {
  if (!programIsThere('apt-get')) return explain();
  const missing = wanted.filter((name) => !isInstalled(name));
  if (missing.length === 0) {
    console.log(`All is there: ${wanted.join(', ')}.`);
    return 0;
  }
  const root = process.getuid?.() === 0;
  if (!root && !programIsThere('sudo')) {
    console.error(
      `Installing needs root. Run as root: apt-get install --no-install-recommends ${missing.join(' ')}`,
    );
    return 77;
  }
  const prefix = root ? [] : ['sudo'];
  const apt = [...prefix, 'apt-get', ...PATIENCE];
  const steps = [
    [...apt, 'update'],
    [...apt, 'install', '--yes', '--no-install-recommends', ...missing],
  ];
  for (const step of steps) console.log(step.join(' '));
  if (options.includes('--dry-run')) return 0;
  for (const [command, ...args] of steps) {
    const isUpdate = args.at(-1) === 'update';
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const { status, error } = spawnSync(command, args, { stdio: 'inherit', env });
    // If one package source is broken, the others may still work.
    if (status !== 0 && !isUpdate) {
      console.error(error?.message ?? `${command} failed; what it says is above.`);
      return status ?? 1;
    }
  }
  console.log(
    'Done. "npx tradewind doctor" shows what Tradewind can do now; a running one sees it after a restart.',
  );
  return 0;
}

function explain() {
  console.error(
    [
      'This system has no apt-get. Install by its own means:',
      '  ffmpeg and ffprobe 5 or newer (macOS: brew install ffmpeg; Fedora: dnf install ffmpeg-free; Alpine: apk add ffmpeg)',
      '  bubblewrap 0.8 or newer (Linux only), which shuts analyses in; setpriv, prlimit and choom of util-linux, which limit them',
      '  pocketsphinx_batch 5prealpha with its en-us model, or a speech model of your own (docs/ai-engines.md)',
      'Programs outside of PATH are named by TRADEWIND_FFMPEG, TRADEWIND_FFPROBE and TRADEWIND_POCKETSPHINX.',
    ].join('\n'),
  );
  return 69;
}

function isInstalled(name) {
  const { stdout } = spawnSync('dpkg-query', ['-W', '-f', '$' + '{Status}', name], { encoding: 'utf8' });
  return stdout === 'install ok installed';
}

function programIsThere(name) {
  return (process.env.PATH ?? '')
    .split(path.delimiter)
    .some((folder) => fs.existsSync(path.join(folder, name)));
}
