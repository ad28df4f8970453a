import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import pLimit from 'p-limit';
import { UnavailableError } from '../../../lib/errors.ts';

/** A file can ask for millions of rounds of key derivation, so somebody else reads it, who can be stopped. */
const WITHIN_MS = 5_000;
const limit = pLimit(2);
/** Files that are being read or wait for that. The last one waits for 20 seconds at most. */
export const MOST_AT_ONCE = 10;

const TOO_SLOW = 'The PKCS #12 file could not be opened in time; try again later, or make it with fewer iterations';

/**
 * Node only takes such files as those of a server. So a server is run with it, without a network, and a client says what
 * certificates it was shown. OpenSSL refuses a key that is not of the certificate.
 */
const SCRIPT = `
  const { buffer } = require('node:stream/consumers');
  const { duplexPair } = require('node:stream');
  const tls = require('node:tls');
  buffer(process.stdin).then((pfx) => {
    const secureContext = tls.createSecureContext({ pfx, passphrase: '' });
    const [here, there] = duplexPair();
    new tls.TLSSocket(there, { isServer: true, secureContext }).on('error', () => process.exit(1));
    const client = tls.connect({ socket: here, rejectUnauthorized: false }, () => {
      const shown = [];
      for (let one = client.getPeerX509Certificate(); one && shown.length < 11; one = one.issuerCertificate)
        shown.push(one.toString());
      process.stdout.write(JSON.stringify(shown), () => process.exit(0));
    });
    client.on('error', () => process.exit(1));
  }).catch(() => process.exit(1));
`;

/** Whether the bytes are in the form of a PKCS #12 file: a sequence that begins with the number 3 (RFC 7292, 4). */
export function isPkcs12(bytes: Buffer): boolean {
  if (bytes[0] !== 0x30) return false;
  const first = bytes[1] ?? 0;
  const start = first < 0x80 ? 2 : 2 + (first & 0x7f);
  return bytes.subarray(start, start + 3).equals(Buffer.from([2, 1, 3]));
}

/**
 * Returns the server's certificate and those of its issuers; undefined if no server could be run with the file, because
 * it has a passphrase or its key isn't that of the certificate.
 * @throws UnavailableError if so many files wait already that this one had better come again later, or if it takes
 * too long
 */
export async function certificatesOf(
  pkcs12: Buffer,
  withinMs = WITHIN_MS,
): Promise<[X509Certificate, ...X509Certificate[]] | undefined> {
  if (limit.activeCount + limit.pendingCount >= MOST_AT_ONCE) {
    throw new UnavailableError('Too many PKCS #12 files are being checked at the moment; try again in a few seconds');
  }
  return limit(async () => {
    const texts = await shownWith(pkcs12, withinMs);
    const [leaf, ...issuers] = texts.map((text) => new X509Certificate(text));
    return leaf && [leaf, ...issuers];
  });
}

/** @throws UnavailableError if it takes too long: the file may be good, and the machine busy */
function shownWith(pkcs12: Buffer, timeout: number): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const options = { timeout, killSignal: 'SIGKILL', env: {} } as const;
    const child = execFile(process.execPath, ['-e', SCRIPT], options, (error, stdout) => {
      if (error?.killed) reject(new UnavailableError(TOO_SLOW));
      else resolve(error ? [] : JSON.parse(stdout));
    });
    // It may have ended before it has read everything.
    child.stdin?.on('error', () => {});
    child.stdin?.end(pkcs12);
  });
}
