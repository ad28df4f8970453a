import { SettingError } from '../lib/operator-error.ts';
import { readSecretFile } from '../lib/secret-file.ts';
import type { BackendEntry } from './contract/placement.ts';

/**
 * Reads the files of the secrets, without the final line break, by name.
 * @throws SettingError naming each file that can't be used
 */
export function readSecrets({ name, secrets }: BackendEntry): Record<string, string> {
  const problems: string[] = [];
  const texts: Record<string, string> = {};
  for (const [secret, file] of Object.entries(secrets)) {
    const read = readSecretFile(file);
    if ('text' in read) texts[secret] = read.text;
    else problems.push(`backends.yaml: secret ${secret} of backend ${name}: ${file} ${read.problem}`);
  }
  if (problems.length > 0) throw new SettingError(problems.join('\n'));
  return texts;
}
