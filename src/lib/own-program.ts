import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from './package-root.ts';

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
