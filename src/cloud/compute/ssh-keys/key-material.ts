import { createPublicKey, type JsonWebKey } from 'node:crypto';

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
  if (!exponent || !modulus || rest.length > 0 || !isPositive(exponent) || !isPositive(modulus))
    return DAMAGED;
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
