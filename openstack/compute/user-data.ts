import { stringify } from 'yaml';
import type { Call } from '../../src/backends/contract/backend.ts';
import type { Specs } from '../../src/backends/contract/specs.ts';

const BOUNDARY = '==tradewind==';

/**
 * Returns what a machine reads at its first boot, in base64: the client's own user data, and a password where one is wanted, which
 * cloud-init sets. Both are parts of one message then.
 */
export async function userDataOf({ secrets, username }: Specs['machine'], call: Call): Promise<string | undefined> {
  const own = secrets.user_data ? await call.secret('user_data') : undefined;
  const password = secrets.password ? await call.secret('password') : undefined;
  if (password === undefined) return own;
  const settings = cloudConfig(password, username);
  if (own === undefined) return base64(settings);
  return base64(
    [
      `Content-Type: multipart/mixed; boundary="${BOUNDARY}"\nMIME-Version: 1.0\n`,
      part('text/cloud-config', base64(settings)),
      // cloud-init finds out by itself what it is.
      part('text/plain', own),
      `--${BOUNDARY}--\n`,
    ].join('\n'),
  );
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const cloudConfig = (password: string, username: string | undefined): string =>
  `#cloud-config\n${stringify({
    ...(username !== undefined && { user: username }),
    password,
    chpasswd: { expire: false },
    ssh_pwauth: true,
  })}`;

/** `content` is in base64. */
const part = (type: string, content: string): string =>
  `--${BOUNDARY}\nContent-Type: ${type}\nMIME-Version: 1.0\nContent-Transfer-Encoding: base64\n\n${content}\n`;
