// Installs packages of Debian, Ubuntu and what is made from them.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Keeps a machine without network from waiting for minutes; another apt-get ends soon. */
const PATIENCE = ['-o', 'Acquire::http::Timeout=20', '-o', 'Acquire::Retries=1', '-o', 'DPkg::Lock::Timeout=120'];

/** Installs what is missing of these, and shows each command before it runs. Returns a status for the process. */
export function installDebian(wanted, { dryRun = false } = {}) {
  const missing = wanted.filter((name) => !isInstalled(name));
  if (missing.length === 0) {
    console.log(`All is there: ${wanted.join(', ')}.`);
    return 0;
  }
  const root = process.getuid?.() === 0;
  if (!root && !isInPath('sudo')) {
    console.error(`Installing needs root. Run as root: apt-get install --no-install-recommends ${missing.join(' ')}`);
    return 77;
  }
  const apt = [...(root ? [] : ['sudo']), 'apt-get', ...PATIENCE];
  const steps = [
    [...apt, 'update'],
    [...apt, 'install', '--yes', '--no-install-recommends', ...missing],
  ];
  for (const step of steps) console.log(step.join(' '));
  if (dryRun) return 0;
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
  return 0;
}

function isInstalled(name) {
  const { stdout } = spawnSync('dpkg-query', ['-W', '-f', '$' + '{Status}', name], { encoding: 'utf8' });
  return stdout === 'install ok installed';
}

export function isInPath(name) {
  return (process.env.PATH ?? '').split(path.delimiter).some((folder) => fs.existsSync(path.join(folder, name)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = installDebian(process.argv.slice(2));
