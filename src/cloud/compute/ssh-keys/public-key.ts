import { createHash, createPublicKey, type JsonWebKey } from 'node:crypto';

// OpenSSH's own limits: sshd's RequiredRSASize, and the longest modulus that it reads.
const MIN_RSA_BITS = 1024;
const MAX_RSA_BITS = 16_384;

const CURVES: Record<string, { name: string; bytes: number } | undefined> = {
  nistp256: { name: 'P-256', bytes: 32 },
  nistp384: { name: 'P-384', bytes: 48 },
  nistp521: { name: 'P-521', bytes: 66 },
};
const UNCOMPRESSED_POINT = 4;

type Check = (fields: Buffer[]) => string | undefined;

/**
 * Checks of the numbers in a key, by key type. They get the fields after the type's name, as laid out in RFC 4253 6.6,
 * RFC 5656 3.1, RFC 8709 4 and OpenSSH's PROTOCOL.u2f.
 */
export const MATERIAL_CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['ssh-ed25519', ed25519Fault],
  ['ssh-rsa', rsaFault],
  ['ecdsa-sha2-nistp256', (fields) => ecdsaFault(fields, 'nistp256')],
  ['ecdsa-sha2-nistp384', (fields) => ecdsaFault(fields, 'nistp384')],
  ['ecdsa-sha2-nistp521', (fields) => ecdsaFault(fields, 'nistp521')],
  ['sk-ssh-ed25519@openssh.com', onDevice(ed25519Fault)],
  ['sk-ecdsa-sha2-nistp256@openssh.com', onDevice((fields) => ecdsaFault(fields, 'nistp256'))],
]);

const DAMAGED = "The key is damaged: its content doesn't match its type. Copy it again from the .pub file.";

function ed25519Fault(fields: Buffer[]): string | undefined {
  const [point, ...rest] = fields;
  if (!point || rest.length > 0 || point.length !== 32) return DAMAGED;
  return opens({ kty: 'OKP', crv: 'Ed25519', x: base64url(point) }) ? undefined : DAMAGED;
}

function ecdsaFault(fields: Buffer[], curveName: string): string | undefined {
  const [name, point, ...rest] = fields;
  const curve = CURVES[curveName];
  if (!curve || name?.toString('latin1') !== curveName || !point || rest.length > 0) return DAMAGED;
  if (point.length !== 1 + 2 * curve.bytes || point[0] !== UNCOMPRESSED_POINT) return DAMAGED;
  const x = base64url(point.subarray(1, 1 + curve.bytes));
  const y = base64url(point.subarray(1 + curve.bytes));
  // OpenSSL refuses a point that isn't on the curve.
  return opens({ kty: 'EC', crv: curve.name, x, y }) ? undefined : DAMAGED;
}

function rsaFault(fields: Buffer[]): string | undefined {
  const [exponent, modulus, ...rest] = fields;
  if (!exponent || !modulus || rest.length > 0 || !isPositive(exponent) || !isPositive(modulus)) return DAMAGED;
  const key = opens({ kty: 'RSA', e: base64url(exponent), n: base64url(modulus) });
  const bits = key?.asymmetricKeyDetails?.modulusLength;
  if (bits === undefined) return DAMAGED;
  const isOdd = (number: Buffer) => ((number.at(-1) ?? 0) & 1) === 1;
  if (!isOdd(exponent) || !isOdd(modulus) || exponent.equals(Buffer.of(1))) return DAMAGED;
  if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS) {
    return `An RSA key must have ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits, but this one has ${bits}. Create another key, preferably Ed25519.`;
  }
  return undefined;
}

/** Checks a key on a security token, which ends with what the key is for. */
function onDevice(check: Check): Check {
  return (fields) => ((fields.at(-1)?.length ?? 0) > 0 ? check(fields.slice(0, -1)) : DAMAGED);
}

/** Whether an `mpint` (RFC 4251 section 5) is above zero, without a sign bit and unnecessary leading zeros. */
function isPositive(number: Buffer): boolean {
  const [first, second = 0] = number;
  if (first === undefined || first >= 0x80) return false;
  return first !== 0 || second >= 0x80;
}

function opens(key: JsonWebKey) {
  try {
    return createPublicKey({ key, format: 'jwk' });
  } catch {
    return undefined;
  }
}

function base64url(bytes: Buffer): string {
  return bytes.toString('base64url');
}

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
