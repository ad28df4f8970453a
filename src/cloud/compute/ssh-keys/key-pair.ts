import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { fingerprintOf, type PublicKey } from './public-key.ts';
import { sshString, uint32 } from './ssh-strings.ts';

const TYPE = 'ssh-ed25519';
const MAGIC = 'openssh-key-v1\0';
const BLOCK = 8;

/** Creates an Ed25519 key pair. `privateKey` is a file for OpenSSH, without a passphrase (OpenSSH's PROTOCOL.key). */
export async function newKeyPair(comment: string): Promise<PublicKey & { privateKey: string }> {
  const pair = await promisify(generateKeyPair)('ed25519');
  const { x = '', d = '' } = pair.privateKey.export({ format: 'jwk' });
  const point = Buffer.from(x, 'base64url');
  const seed = Buffer.from(d, 'base64url');
  const blob = Buffer.concat([sshString(TYPE), sshString(point)]);
  return {
    text: `${TYPE} ${blob.toString('base64')} ${comment}`,
    fingerprint: fingerprintOf(blob),
    privateKey: armoured(
      Buffer.concat([
        Buffer.from(MAGIC),
        sshString('none'),
        sshString('none'),
        sshString(''),
        uint32(1),
        sshString(blob),
        sshString(secretSection(point, seed, comment)),
      ]),
    ),
  };
}

function secretSection(point: Buffer, seed: Buffer, comment: string): Buffer {
  // The same random number twice lets a reader check the decryption.
  const check = randomBytes(4);
  const section = Buffer.concat([
    check,
    check,
    sshString(TYPE),
    sshString(point),
    sshString(Buffer.concat([seed, point])),
    sshString(comment),
  ]);
  const missing = (BLOCK - (section.length % BLOCK)) % BLOCK;
  return Buffer.concat([section, Buffer.from(Array.from({ length: missing }, (_, index) => index + 1))]);
}

function armoured(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,70}/g) ?? [];
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join(
    '\n',
  );
}
