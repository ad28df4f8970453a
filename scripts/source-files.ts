import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Returns every TypeScript file below `src` of a checkout, such as `src/lib/ids.ts`, without the packages that are installed there. */
export function sourceFiles(root = ROOT): string[] {
  return fs
    .readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.split(path.sep).includes('node_modules'))
    .map((file) => `src/${file}`);
}
