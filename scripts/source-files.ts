import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** What a reader of the server need not open: each has one door. */
export const PARTS = ['cli', 'engines', 'kubernetes', 'openstack', 'postgres', 'simulation', 'test-kit'];

/**
 * Returns every TypeScript file in a folder of a checkout, by default `src`, such as `src/lib/ids.ts`, without the packages
 * that are installed there. None if the folder isn't there.
 */
export function sourceFiles(root = ROOT, folder = 'src'): string[] {
  if (!fs.existsSync(path.join(root, folder))) return [];
  return fs
    .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.split(path.sep).includes('node_modules'))
    .map((file) => `${folder}/${file}`);
}
