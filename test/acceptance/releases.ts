import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { PARTS } from '../../scripts/source-files.ts';
import { ROOT, temporaryFolder } from './processes.ts';

/**
 * The release that this one has to work beside, by any name that git knows: the tag of the last release. None
 * has been published yet, so this is the first commit whose processes ask the database whether they can work
 * with it. A breaking migration moves it.
 */
const PREVIOUS = 'HEAD^{/^Migrate is a step of its own, and a release knows}';

const COPIED = ['src', 'console', ...PARTS, 'migrations', 'scripts', 'package.json'];
/** Entries that each checkout has for itself. */
const OWN = ['.git', 'data', 'dist', 'dist.new'];

/** Sources without git history, such as an archive, have no previous release. */
export const hasHistory = fs.existsSync(path.join(ROOT, '.git'));

/** Builds the previous release, once per commit. Returns its folder. */
export function buildPreviousRelease(): string {
  const commit = run('git', ['rev-parse', '--verify', PREVIOUS], ROOT).trim();
  const folder = path.join(ROOT, 'node_modules/.cache/tradewind', commit);
  if (fs.existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  fs.mkdirSync(unfinished, { recursive: true });
  const archive = `${unfinished}.tar`;
  run('git', ['archive', '--output', archive, commit], ROOT);
  run('tar', ['-xf', archive, '-C', unfinished], ROOT);
  fs.rmSync(archive);
  // Below node_modules, the build finds the packages of this release.
  if (dependenciesOf(unfinished) !== dependenciesOf(ROOT))
    run('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], unfinished);
  bundle(unfinished);
  fs.renameSync(unfinished, folder);
  return folder;
}

/** Builds a changed copy of these sources. Returns its folder. */
export function copyOfThisRelease(change: (folder: string) => void): string {
  const folder = temporaryFolder();
  for (const name of fs.readdirSync(ROOT)) {
    const [from, to] = [path.join(ROOT, name), path.join(folder, name)];
    if (COPIED.includes(name)) {
      fs.cpSync(from, to, { recursive: true, filter: isSource });
      const installed = path.join(from, 'node_modules');
      if (fs.existsSync(installed)) fs.symlinkSync(installed, path.join(to, 'node_modules'));
    } else if (!OWN.includes(name)) fs.symlinkSync(from, to);
  }
  change(folder);
  bundle(folder);
  return folder;
}

/** Makes a repository of these sources, and a clone with the installed packages. */
export function checkoutOfThisRelease(origin: string, checkout: string): void {
  const files = run('git', ['ls-files', '--cached', '--others', '--exclude-standard'], ROOT).split('\n');
  for (const file of files.filter((name) => fs.existsSync(path.join(ROOT, name)) && name !== ''))
    fs.cpSync(path.join(ROOT, file), path.join(origin, file));
  run('git', ['init', '-q', '-b', 'main'], origin);
  commitAll(origin);
  run('git', ['clone', '-q', origin, checkout], ROOT);
  for (const folder of ['node_modules', 'scripts/node_modules', 'console/node_modules'])
    fs.symlinkSync(path.join(ROOT, folder), path.join(checkout, folder));
}

const isSource = (file: string) => path.basename(file) !== 'node_modules';

export function commitAll(folder: string): void {
  run('git', ['add', '-A'], folder);
  run('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '-qm', 'A release'], folder);
}

function bundle(folder: string): void {
  run('node', ['scripts/build.mjs'], folder);
}

function dependenciesOf(folder: string): string {
  return JSON.stringify(JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).dependencies);
}

function run(program: string, args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed in ${cwd}:\n${stderr}`);
  return stdout;
}
