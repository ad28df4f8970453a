import fs from 'node:fs';
import path from 'node:path';

/** Forbidden bits: others may neither read nor write the file, and its group may not write it. */
const SHUT = 0o027;
const MOST_BYTES = 65_536;

/** Returns the contents of a file with a secret, without the final line break, or why it can't be used. */
export function readSecretFile(file: string): { text: string } | { problem: string; code?: string } {
  try {
    const { mode, size } = fs.statSync(file);
    if ((mode & SHUT) !== 0) {
      const octal = (mode & 0o777).toString(8);
      return {
        problem: `is open to other users (mode ${octal}); close it (chmod 600) and change the secret`,
      };
    }
    if (size > MOST_BYTES) return { problem: `has ${size} bytes, which is too large for a secret` };
    const text = fs.readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    return text === '' ? { problem: 'is empty' } : { text };
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    return { problem: `can't be read (${code})`, code };
  }
}

/** Returns the folder, or its nearest ancestor that exists. */
export function existingFolder(folder: string): string {
  return fs.existsSync(folder) ? folder : existingFolder(path.dirname(folder));
}
