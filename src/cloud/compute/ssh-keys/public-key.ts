import { createHash } from 'node:crypto';
import { MATERIAL_CHECKS } from './key-material.ts';

/** Encodes a `string` of the SSH protocol (RFC 4251 section 5): four bytes of length, then the bytes. */
export function sshString(content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Splits a blob into the strings that it consists of; undefined if it contains anything else. */
export function splitSshStrings(blob: Buffer): Buffer[] | undefined {
  const strings: Buffer[] = [];
  for (let at = 0; at < blob.length; ) {
    if (at + 4 > blob.length) return undefined;
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return undefined;
    strings.push(blob.subarray(at + 4, end));
    at = end;
  }
  return strings;
}

export interface PublicKey {
  /** One line: type, key, and the comment if there is one. */
  text: string;
  /** As `ssh-keygen -l` shows it: `SHA256:` and 43 characters. */
  fingerprint: string;
}

const TYPES = [...MATERIAL_CHECKS.keys()].join(', ');
const LINE = /^(\S+)[ \t]+(\S+)(?:[ \t].*)?$/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const CONTROL_CHARACTER = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Parses a line of a `.pub` file. Returns a text that says what is wrong if it can't. */
export function parsePublicKey(given: string): PublicKey | string {
  const text = given.trim();
  if (text.includes('PRIVATE KEY')) {
    return 'This is a private key; keep it secret. Send the content of the .pub file.';
  }
  if (/[\r\n]/.test(text)) return 'Must be a single key on one line.';
  const [, type = '', encoded = ''] = LINE.exec(text) ?? [];
  const materialFault = MATERIAL_CHECKS.get(type);
  if (!materialFault) return `Must start with the key type, one of: ${TYPES}.`;
  if (CONTROL_CHARACTER.test(text)) return 'Must not contain control characters.';
  const blob = Buffer.from(encoded, 'base64');
  // Buffer.from skips characters that aren't base64, so only a text that reads back the same was base64.
  if (blob.toString('base64') !== encoded) {
    return 'The part after the key type is not base64. Copy the whole line from the .pub file.';
  }
  const [innerType, ...fields] = splitSshStrings(blob) ?? [];
  if (innerType?.toString('latin1') !== type) {
    return `The key is damaged or not a valid ${type} key. Copy the whole line from the .pub file.`;
  }
  return materialFault(fields) ?? { text, fingerprint: fingerprintOf(blob) };
}

export function fingerprintOf(blob: Buffer): string {
  const digest = createHash('sha256').update(blob).digest('base64');
  return `SHA256:${digest.replaceAll('=', '')}`;
}
