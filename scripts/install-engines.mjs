// Installs what AI tasks need: npm's packages (engines/package.json) and the programs that npm doesn't have: ffmpeg,
// pocketsphinx with its English model, and bubblewrap. Says what it does before it does it. Run by "tradewind engines install"
// and "npm run install:engines"; Debian, Ubuntu and what is made from them.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { installDebian, isInPath } from './apt.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = path.join(ROOT, 'engines');
/** The bundle finds the packages through this link, which npm leaves out of the package. */
const BUNDLED_AT = path.join(ROOT, 'dist/engines');
/** The last one isolates analyses. */
const PACKAGES = ['ffmpeg', 'pocketsphinx', 'pocketsphinx-en-us', 'bubblewrap'];

const OPTIONS = { '--dry-run': 'only shows' };
const options = process.argv.slice(2);
const unknown = options.find((option) => !Object.hasOwn(OPTIONS, option));
if (unknown !== undefined) {
  const known = Object.entries(OPTIONS).map(([option, does]) => `  ${option} ${does}`);
  console.error([`There is no option ${unknown}.`, ...known].join('\n'));
  process.exit(64);
}
const dryRun = options.includes('--dry-run');
process.exitCode = installPackages() || (isInPath('apt-get') ? installPrograms() : explain());

function installPackages() {
  console.log(`cd ${FOLDER} && npm ci --omit=dev (about 240 MB)`);
  if (dryRun) return 0;
  try {
    fs.accessSync(FOLDER, fs.constants.W_OK);
  } catch {
    console.error(
      `${FOLDER} can't be written by this user. Run this as its owner, or install Tradewind in a folder of your own: npm install tradewind`,
    );
    return 73;
  }
  const { status, error } = spawnSync('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: FOLDER,
    stdio: 'inherit',
  });
  if (status !== 0) console.error(error?.message ?? 'npm failed; what it says is above.');
  else linkPackages();
  return status ?? 1;
}

function linkPackages() {
  const link = path.join(BUNDLED_AT, 'node_modules');
  if (!fs.existsSync(BUNDLED_AT) || fs.existsSync(link)) return;
  fs.symlinkSync(path.relative(BUNDLED_AT, path.join(FOLDER, 'node_modules')), link);
}

function installPrograms() {
  const status = installDebian(PACKAGES, { dryRun });
  if (status === 0 && !dryRun)
    console.log('Done. "npx tradewind doctor" shows what Tradewind can do now; a running one sees it after a restart.');
  return status;
}

function explain() {
  console.error(
    [
      'This system has no apt-get. Install by its own means:',
      '  ffmpeg and ffprobe 5 or newer (macOS: brew install ffmpeg; Fedora: dnf install ffmpeg-free; Alpine: apk add ffmpeg)',
      '  bubblewrap 0.8 or newer (Linux only), which shuts analyses in; setpriv, prlimit and choom of util-linux, which limit them',
      '  pocketsphinx_batch 5prealpha with its en-us model, or a speech model of your own (docs/ai.md)',
      'Programs outside of PATH are named by TRADEWIND_FFMPEG, TRADEWIND_FFPROBE and TRADEWIND_POCKETSPHINX.',
    ].join('\n'),
  );
  return 69;
}
