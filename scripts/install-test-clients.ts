// Installs the clients and tools that the tests run, outside the checkout and without root, in the versions
// that test/clients pins or Debian has. Run before "npm test" with --if-possible: what can't be installed is
// reported, and its tests are skipped.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const REQUIREMENTS = fileURLToPath(new URL('../test/clients/python/requirements.txt', import.meta.url));
const CACHE = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'tradewind');
const PROGRAMS = path.join(CACHE, 'programs');
/**
 * Programs and their Debian packages. They are unpacked, not installed, as one of them would start a service.
 */
const PACKAGES = { promtool: 'prometheus', kubectl: 'kubernetes-client' };
/** Keeps a machine without network from waiting for minutes. */
const PATIENCE = ['-o', 'Acquire::http::Timeout=20', '-o', 'Acquire::Retries=1'];

/** Returns where the Python clients of these requirements are; each set of versions has its own folder. */
export function pythonClients() {
  const hash = createHash('sha256').update(fs.readFileSync(REQUIREMENTS)).digest('hex').slice(0, 12);
  const folder = path.join(CACHE, `python-clients-${hash}`);
  const python = path.join(folder, 'bin', 'python');
  // Written last, so that an interrupted installation doesn't count.
  const marker = path.join(folder, '.complete');
  return { folder, python, marker, installed: fs.existsSync(marker) };
}

/** Returns the system's program, else ours, else undefined. */
export function program(name: keyof typeof PACKAGES): string | undefined {
  const own = path.join(PROGRAMS, name);
  return [name, own].find((each) => spawnSync(each, ['--help']).error === undefined);
}

/** These functions return why the installation failed. */
function installPython(): string | undefined {
  const { folder, python, marker, installed } = pythonClients();
  if (installed) return undefined;
  console.log(`Installing the Python clients of the tests to ${folder} ...`);
  fs.rmSync(folder, { recursive: true, force: true });
  const fault =
    run('python3', '-m', 'venv', folder) ??
    run(python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS);
  if (fault === undefined) fs.writeFileSync(marker, '');
  return fault;
}

function installProgram(name: keyof typeof PACKAGES): string | undefined {
  if (program(name) !== undefined) return undefined;
  console.log(`Unpacking ${name} from Debian's ${PACKAGES[name]} to ${PROGRAMS} ...`);
  fs.mkdirSync(PROGRAMS, { recursive: true });
  const folder = fs.mkdtempSync(path.join(PROGRAMS, '.unpacking-'));
  try {
    const download = () => runIn(folder, 'apt-get', ...PATIENCE, 'download', PACKAGES[name]);
    // Only root can update the package lists.
    const fault = download() && (run('apt-get', ...PATIENCE, 'update') ?? download());
    if (fault !== undefined) return fault;
    const [file = ''] = fs.readdirSync(folder);
    const unpacked = runIn(folder, 'dpkg', '--extract', file, '.');
    if (unpacked !== undefined) return unpacked;
    fs.renameSync(path.join(folder, 'usr/bin', name), path.join(PROGRAMS, name));
    return program(name) === undefined ? `${name} doesn't start` : undefined;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

function run(command: string, ...args: string[]): string | undefined {
  return runIn('.', command, ...args);
}

function runIn(cwd: string, command: string, ...args: string[]): string | undefined {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 300_000 });
  if (status === 0) return undefined;
  return `${[command, ...args].join(' ')}: ${error?.message ?? stderr.trim().split('\n').at(-1)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const faults = [installPython(), installProgram('promtool'), installProgram('kubectl')];
  for (const fault of faults.filter((each) => each !== undefined)) {
    console.log(`Not installed: ${fault}. Tests that need it are skipped, each says so.`);
    process.exitCode = process.argv.includes('--if-possible') ? 0 : 1;
  }
}
