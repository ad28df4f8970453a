import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** AES-256-GCM with a random nonce for each text: one key is safe for some billions of them. */
const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const KEY_BYTES = 32;
/** What an empty text becomes. */
export const SHORTEST_BYTES = NONCE_BYTES + TAG_BYTES;

/** Returns nonce, tag and ciphertext. The result can't be moved to another place than `place`. */
export function encrypt(key: Buffer, place: string, content: Buffer | string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(
    Buffer.from(place),
  );
  const encrypted = Buffer.concat([cipher.update(content), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
}

/** @throws if the bytes were encrypted with another key or for another place, or were changed */
export function decrypt(key: Buffer, place: string, bytes: Buffer): Buffer {
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(place))
    .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
