// Installs the clients and tools that the tests run, outside the checkout and without root, in the versions
// that test/clients pins or Debian has. Run before "npm test" with --if-possible: what can't be installed is
// reported, and its tests are skipped.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CACHE, installPython, pythonPackages, run, runIn } from './cache.ts';

const REQUIREMENTS = fileURLToPath(new URL('../test/clients/python/requirements.txt', import.meta.url));
const PROGRAMS = path.join(CACHE, 'programs');
/**
 * Programs and their Debian packages. They are unpacked, not installed, as one of them would start a service.
 */
const PACKAGES = { promtool: 'prometheus', kubectl: 'kubernetes-client' };
/** Keeps a machine without network from waiting for minutes. */
const PATIENCE = ['-o', 'Acquire::http::Timeout=20', '-o', 'Acquire::Retries=1'];

export const pythonClients = () => pythonPackages('python-clients', REQUIREMENTS);

/** Returns the system's program, else ours, else undefined. */
export function program(name: keyof typeof PACKAGES): string | undefined {
  const own = path.join(PROGRAMS, name);
  return [name, own].find((each) => spawnSync(each, ['--help']).error === undefined);
}

/** Returns why the installation failed. */
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const faults = [
    installPython('python-clients', REQUIREMENTS),
    installProgram('promtool'),
    installProgram('kubectl'),
  ];
  for (const fault of faults.filter((each) => each !== undefined)) {
    console.log(`Not installed: ${fault}. Tests that need it are skipped, each says so.`);
    process.exitCode = process.argv.includes('--if-possible') ? 0 : 1;
  }
}
