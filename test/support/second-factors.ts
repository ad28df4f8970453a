import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { type TOTP, URI } from 'otpauth';
import { expect } from 'vitest';
import type { HttpClient } from './http-client.ts';
import { PASSWORD, type Person } from './logins.ts';

const OWN = '/tradewind/v1/second_factors';

/** Returns the code that an app shows at that time. */
export const codeAt = (uri: string, timestamp: number): string => (URI.parse(uri) as TOTP).generate({ timestamp });

/** Sets an app that makes codes up for a person, and confirms it at that time. */
export async function addApp(
  person: Pick<Person, 'http'>,
  now = Date.now(),
): Promise<{ uri: string; secret: string; id: string; codes: string[] }> {
  const made = await person.http.post(`${OWN}/totp`, { name: 'Phone', password: PASSWORD });
  expect(made.status, made.text).toBe(201);
  const { uri, secret } = made.body;
  const confirmed = await person.http.post(`${OWN}/totp/confirm`, { code: codeAt(uri, now) });
  expect(confirmed.status, confirmed.text).toBe(200);
  const { id, recovery_codes: codes } = confirmed.body;
  return { uri, secret, id, codes };
}

interface Where {
  origin: string;
  rpId: string;
}
export interface Authenticator {
  id: string;
  /** What a browser answers to options to make a passkey. */
  create(options: { challenge: string }, at?: Partial<Where>): object;
  /** What a browser answers to options to log in. */
  get(options: { challenge: string }, at?: Partial<Where>): object;
}

/** A passkey in software, for the pages of that origin. */
export function softAuthenticator({ origin, rpId }: Where, { counts = true } = {}): Authenticator {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const credentialId = randomBytes(32);
  const id = credentialId.toString('base64url');
  let counter = 0;

  const clientData = (type: string, challenge: string, from: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: from, crossOrigin: false }));
  const authData = (flags: number, rp: string, more: Buffer[] = []) => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counts ? ++counter : 0);
    return Buffer.concat([sha256(rp), Buffer.from([flags]), count, ...more]);
  };
  const answer = (response: object) => ({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response });

  return {
    id,
    create({ challenge }, at = {}) {
      const length = Buffer.from([0, credentialId.length]);
      // COSE (RFC 9052): EC2, ES256, P-256.
      const key = Buffer.concat([
        Buffer.from('a5010203262001215820', 'hex'),
        Buffer.from(x, 'base64url'),
        Buffer.from('225820', 'hex'),
        Buffer.from(y, 'base64url'),
      ]);
      const data = authData(0x45, at.rpId ?? rpId, [Buffer.alloc(16), length, credentialId, key]);
      // CBOR (RFC 8949): {fmt: "none", attStmt: {}, authData}.
      const attestation = Buffer.concat([
        Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
        Buffer.from([data.length]),
        data,
      ]);
      return answer({
        clientDataJSON: clientData('webauthn.create', challenge, at.origin ?? origin).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      });
    },
    get({ challenge }, at = {}) {
      const client = clientData('webauthn.get', challenge, at.origin ?? origin);
      const data = authData(0x05, at.rpId ?? rpId);
      return answer({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', Buffer.concat([data, sha256(client)]), privateKey).toString('base64url'),
      });
    },
  };
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

/** Adds a passkey to a person's second factors. */
export async function addPasskey(person: { http: HttpClient }, authenticator: Authenticator, name = 'Laptop') {
  const options = await person.http.post(`${OWN}/passkey_options`, { password: PASSWORD });
  expect(options.status, options.text).toBe(200);
  return person.http.post(`${OWN}/passkeys`, { name, passkey: authenticator.create(options.body) });
}
