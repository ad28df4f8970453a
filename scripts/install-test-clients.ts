// Installs the clients and tools that the tests run, outside the checkout, in the versions that test/clients pins.
// Run before "npm test" with --if-possible: what can't be had is said there, and the tests that need it are skipped.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const REQUIREMENTS = fileURLToPath(new URL('../test/clients/python/requirements.txt', import.meta.url));

/** Where the Python clients of these requirements live; each set of versions has a folder of its own. */
export function pythonClients() {
  const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  const hash = createHash('sha256').update(fs.readFileSync(REQUIREMENTS)).digest('hex').slice(0, 12);
  const folder = path.join(cache, 'tradewind', `python-clients-${hash}`);
  const python = path.join(folder, 'bin', 'python');
  // Written last: an installation that was interrupted doesn't count.
  const marker = path.join(folder, '.complete');
  return { folder, python, marker, installed: fs.existsSync(marker) };
}

/** Answers why it can't be done. */
function install(): string | undefined {
  const { folder, python, marker, installed } = pythonClients();
  if (installed) return undefined;
  console.log(`Installing the Python clients of the tests to ${folder} ...`);
  fs.rmSync(folder, { recursive: true, force: true });
  const steps: [string, ...string[]][] = [
    ['python3', '-m', 'venv', folder],
    [python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--requirement', REQUIREMENTS],
  ];
  for (const [command, ...args] of steps) {
    const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8', timeout: 300_000 });
    if (status === 0) continue;
    const why = error?.message ?? stderr.trim().split('\n').at(-1);
    return `${[command, ...args].join(' ')}: ${why}`;
  }
  fs.writeFileSync(marker, '');
  return undefined;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const fault = install();
  if (fault !== undefined) {
    console.log(
      `The Python clients can't be installed (${fault}). Tests that need them are skipped, each says so.`,
    );
    process.exitCode = process.argv.includes('--if-possible') ? 0 : 1;
  }
}
