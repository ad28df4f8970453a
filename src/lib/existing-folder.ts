import fs from 'node:fs';
import path from 'node:path';

/** The folder, or the nearest above it that is there. */
export function existingFolder(folder: string): string {
  return fs.existsSync(folder) ? folder : existingFolder(path.dirname(folder));
}
