import { createHash } from 'node:crypto';
import { MATERIAL_CHECKS } from './key-material.ts';
import { splitSshStrings } from './ssh-strings.ts';

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
