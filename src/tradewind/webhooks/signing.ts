import { createHmac, randomBytes } from 'node:crypto';

/*
 * Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks), with symmetric signatures. The published
 * library verifies them in the tests. It is not used here: it hashes in JavaScript what node:crypto has built in.
 */

const PREFIX = 'whsec_';
const BYTES = 32;

export const newSecret = (): string => PREFIX + randomBytes(BYTES).toString('base64');

/** Whether a text is a secret that every library for the standard can decode. */
export function isSecret(text: string): boolean {
  const encoded = text.slice(PREFIX.length);
  const key = Buffer.from(encoded, 'base64');
  const isExact = key.toString('base64') === encoded;
  return text.startsWith(PREFIX) && isExact && key.length >= 24 && key.length <= 64;
}

export interface Message {
  id: string;
  body: string;
  /** When it is sent. Receivers refuse what is minutes old. */
  at: Date;
}

/** Returns the headers that prove where a message comes from: a signature for each of the secrets. */
export function signedHeaders({ id, body, at }: Message, secrets: readonly string[]): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
