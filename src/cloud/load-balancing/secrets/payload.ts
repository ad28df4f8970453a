import { X509Certificate } from 'node:crypto';
import { InvalidError } from '../../../lib/errors.ts';
import { certificatesOf, isPkcs12 } from './pkcs12.ts';
import { MOST_BYTES } from './schema.ts';
import type { StoredSecretRow } from './store.ts';
import { certificatesIn, serverProblem, timeProblem } from './tls-bundle.ts';

/**
 * Returns what the payload can be used for. A certificate must be one; listeners also take an opaque PKCS #12 file, as
 * Octavia does. @throws InvalidError
 */
export async function usefulness(
  type: StoredSecretRow['secret_type'],
  base64: string,
  now: Date,
): Promise<StoredSecretRow['holds']> {
  const bytes = decoded(base64);
  if (type !== 'certificate' && type !== 'opaque') return 'bytes';
  const { holds, problem } = isPkcs12(bytes)
    ? { holds: 'tls' as const, problem: await pkcs12Problem(bytes, now) }
    : { holds: 'certificates' as const, problem: certificatesProblem(bytes, now) };
  if (problem === undefined) return holds;
  if (type === 'opaque') return 'bytes';
  throw new InvalidError({ payload: [problem] });
}

/** `Buffer` skips what isn't base64. */
function decoded(base64: string): Buffer {
  const bytes = Buffer.from(base64, 'base64');
  const text = base64.replaceAll(/[\r\n]/g, '');
  if (bytes.toString('base64') !== text) throw new InvalidError({ payload: ['Is not base64.'] });
  if (bytes.length > MOST_BYTES) {
    throw new InvalidError({ payload: [`Has ${bytes.length} bytes; at most ${MOST_BYTES} are allowed.`] });
  }
  return bytes;
}

async function pkcs12Problem(bytes: Buffer, now: Date): Promise<string | undefined> {
  const shown = await certificatesOf(bytes);
  if (!shown) {
    return 'Is a PKCS #12 file that no server can use: it must have no passphrase, and contain a certificate and its key.';
  }
  const [leaf, ...issuers] = shown;
  return serverProblem(leaf, issuers, now);
}

function certificatesProblem(bytes: Buffer, now: Date): string | undefined {
  const read = bytes[0] === 0x30 ? inDer(bytes) : certificatesIn(bytes.toString('latin1'));
  if (typeof read === 'string') return read;
  if (read.length === 0) return 'Contains no certificate.';
  return read.map((one) => timeProblem(one, now)).find((problem) => problem !== undefined);
}

function inDer(bytes: Buffer): X509Certificate[] | string {
  try {
    return [new X509Certificate(bytes)];
  } catch {
    return 'Is not a certificate in DER format, and not a PKCS #12 file.';
  }
}
