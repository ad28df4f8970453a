import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The folder of the installation, whether run from the sources or from the bundle in `dist/`. */
export const packageRoot = findRoot(path.dirname(fileURLToPath(import.meta.url)));

function findRoot(folder: string): string {
  return fs.existsSync(path.join(folder, 'package.json')) ? folder : findRoot(path.dirname(folder));
}

const RUNS_FROM_SOURCE = import.meta.url.endsWith('.ts');

/**
 * Returns how to run one of our programs, named by its source, such as `engines/child/main.ts`: the bundle, or the source if this
 * process itself runs from source.
 */
export function ownProgram(source: string, ...nodeArgs: string[]): [string, ...string[]] {
  const node = [process.execPath, ...nodeArgs] as const;
  if (!RUNS_FROM_SOURCE) return [...node, path.join(packageRoot, 'dist', source.replace(/\.ts$/, '.js'))];
  const tsx = createRequire(import.meta.url).resolve('tsx');
  return [...node, '--import', pathToFileURL(tsx).href, path.join(packageRoot, source)];
}

/** Whether the file is one that this user may execute. */
export function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The version of this release; package.json is the only place that says it. */
export const version = readVersion();

function readVersion(): string {
  const file = fs.readFileSync(path.join(packageRoot, 'package.json'), 'utf8');
  return (JSON.parse(file) as { version: string }).version;
}
