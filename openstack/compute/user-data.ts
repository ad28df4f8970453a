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
  const text = Buffer.from(own, 'base64').toString();
  return base64(
    [
      `Content-Type: multipart/mixed; boundary="${BOUNDARY}"\nMIME-Version: 1.0\n`,
      part(settings, 'text/cloud-config'),
      part(text, typeOf(text)),
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

const part = (text: string, type: string): string =>
  `--${BOUNDARY}\nContent-Type: ${type}; charset="utf-8"\nMIME-Version: 1.0\n\n${text}\n`;

/** As cloud-init tells them apart. */
const typeOf = (text: string): string =>
  text.startsWith('#cloud-config') ? 'text/cloud-config' : 'text/x-shellscript';
