import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

const ITERATIONS = 4096;

/**
 * Returns the form in which brokers store a password for SASL SCRAM-SHA-512 (RFC 5802, RFC 5803). It doesn't reveal
 * the password, and nobody can log in with it.
 */
export async function scramCredential(password: string): Promise<string> {
  const salt = randomBytes(32);
  const salted = await promisify(pbkdf2)(password, salt, ITERATIONS, 64, 'sha512');
  const keyed = (text: string) => createHmac('sha512', salted).update(text).digest();
  const stored = createHash('sha512').update(keyed('Client Key')).digest('base64');
  const server = keyed('Server Key').toString('base64');
  return `SCRAM-SHA-512$${ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`;
}
