import fs from 'node:fs';
import { SettingError } from '../lib/operator-error.ts';
import type { BackendEntry } from './contract/placement.ts';

/** Others may neither read nor write it, and its group may not write it. */
const SHUT = 0o027;
const MOST_BYTES = 65_536;

/** The contents of the files of secrets, by name, without the line's end. @throws SettingError naming each that can't be used */
export function readSecrets({ name, secrets }: BackendEntry): Record<string, string> {
  const problems: string[] = [];
  const texts: Record<string, string> = {};
  for (const [secret, file] of Object.entries(secrets)) {
    const read = contentOf(file);
    if ('text' in read) texts[secret] = read.text;
    else problems.push(`backends.yaml: secret ${secret} of backend ${name}: ${file} ${read.problem}`);
  }
  if (problems.length > 0) throw new SettingError(problems.join('\n'));
  return texts;
}

function contentOf(file: string): { text: string } | { problem: string } {
  try {
    const { mode, size } = fs.statSync(file);
    if ((mode & SHUT) !== 0) {
      const octal = (mode & 0o777).toString(8);
      return {
        problem: `is open to other users (mode ${octal}); close it (chmod 600) and change the secret`,
      };
    }
    if (size > MOST_BYTES) return { problem: `has ${size} bytes, which is no secret` };
    const text = fs.readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    return text === '' ? { problem: 'is empty' } : { text };
  } catch (error) {
    return { problem: `can't be read (${(error as NodeJS.ErrnoException).code})` };
  }
}
