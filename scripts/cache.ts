import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** What tests and benchmarks install for themselves is kept here, outside the checkout and without root. */
export const CACHE = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'tradewind');

interface Installation {
  folder: string;
  installed: boolean;
}

/** Returns where the Python packages of a requirements file are; each set of versions has its own folder. */
export function pythonPackages(name: string, requirements: string): Installation & { python: string } {
  const hash = createHash('sha256').update(fs.readFileSync(requirements)).digest('hex').slice(0, 12);
  const installation = inCache(`${name}-${hash}`);
  return { ...installation, python: path.join(installation.folder, 'bin', 'python') };
}

/** Returns why the installation failed. */
export function installPython(name: string, requirements: string): string | undefined {
  const { folder, python } = pythonPackages(name, requirements);
  return once(
    folder,
    () =>
      run('python3', '-m', 'venv', folder) ??
      run(python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements),
  );
}

export function npmPackage(name: string, version: string): Installation {
  return inCache(`${path.basename(name)}-${version}`);
}

/** Returns why the installation failed. */
export function installNpm(name: string, version: string): string | undefined {
  const { folder } = npmPackage(name, version);
  const words = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  return once(folder, () => run('npm', 'install', '--prefix', folder, ...words, `${name}@${version}`));
}

/** These return why the program failed. */
export function run(command: string, ...args: string[]): string | undefined {
  return runIn('.', command, ...args);
}

export function runIn(cwd: string, command: string, ...args: string[]): string | undefined {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 300_000 });
  if (status === 0) return undefined;
  return `${[command, ...args].join(' ')}: ${error?.message ?? stderr.trim().split('\n').at(-1)}`;
}

function inCache(name: string): Installation {
  const folder = path.join(CACHE, name);
  return { folder, installed: fs.existsSync(markerIn(folder)) };
}

function once(folder: string, install: () => string | undefined): string | undefined {
  if (fs.existsSync(markerIn(folder))) return undefined;
  console.log(`Installing to ${folder} ...`);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const fault = install();
  if (fault === undefined) fs.writeFileSync(markerIn(folder), '');
  return fault;
}

/** Written last, so that an interrupted installation doesn't count. */
const markerIn = (folder: string) => path.join(folder, '.complete');
