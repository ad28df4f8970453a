import fs from 'node:fs';
import path from 'node:path';

/** Returns the folder, or its nearest ancestor that exists. */
export function existingFolder(folder: string): string {
  return fs.existsSync(folder) ? folder : existingFolder(path.dirname(folder));
}
