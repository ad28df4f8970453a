import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the installation, whether run from the sources or from the bundle in `dist/`. */
export const packageRoot = findRoot(path.dirname(fileURLToPath(import.meta.url)));

function findRoot(folder: string): string {
  return fs.existsSync(path.join(folder, 'package.json')) ? folder : findRoot(path.dirname(folder));
}
