import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

const ITERATIONS = 4096;

/**
 * What a broker checks a password by with SASL SCRAM-SHA-512 (RFC 5802, RFC 5803), in the form in which brokers keep
 * it: the password can't be told from it, and it lets nobody in.
 */
export async function scramCredential(password: string): Promise<string> {
  const salt = randomBytes(32);
  const salted = await promisify(pbkdf2)(password, salt, ITERATIONS, 64, 'sha512');
  const keyed = (text: string) => createHmac('sha512', salted).update(text).digest();
  const stored = createHash('sha512').update(keyed('Client Key')).digest('base64');
  const server = keyed('Server Key').toString('base64');
  return `SCRAM-SHA-512$${ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`;
}
