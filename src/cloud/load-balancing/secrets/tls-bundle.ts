import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { FieldProblem } from '../../../lib/errors.ts';
import { isoSeconds } from '../../../lib/time.ts';
import type { TlsPayload } from './schema.ts';

/** Public chains have two or three. */
const MOST_CERTIFICATES = 10;
/** Of one name. An issuer with a new key, or signed by another root, has two or three. */
const MOST_NAMESAKES = 3;
const RSA_BITS = { least: 2048, most: 8192 };
/** Of 65,537, 17 are needed. With short keys OpenSSL takes any, and a check with a long one takes as long as signing. */
const EXPONENT_BITS = 32;
const CURVES = ['prime256v1', 'secp384r1', 'secp521r1'];
const KEY_KINDS = `RSA with ${RSA_BITS.least} to ${RSA_BITS.most} bits and an exponent of at most ${EXPONENT_BITS} bits, ECDSA on P-256, P-384 or P-521, or Ed25519`;

const BEGIN = '-----BEGIN CERTIFICATE-----';

/**
 * Returns why no server could be run with the bundle: what clients would refuse, except for who signed it, since a
 * client may trust its own authority.
 */
export function bundleProblems({ certificate, certificate_chain, private_key }: TlsPayload, now: Date): FieldProblem[] {
  const problem = (field: keyof TlsPayload, message: string | undefined): FieldProblem[] =>
    message === undefined ? [] : [{ field: `payload.${field}`, message }];
  const leaves = certificatesIn(certificate);
  const chain = certificatesIn(certificate_chain);
  const key = keyIn(private_key);
  const leaf = typeof leaves === 'string' ? leaves : onlyOf(leaves);
  const found = [
    ...(typeof leaf === 'string' ? problem('certificate', leaf) : problem('certificate', timeProblem(leaf, now))),
    ...(typeof chain === 'string' ? problem('certificate_chain', chain) : []),
    ...(typeof key === 'string' ? problem('private_key', key) : []),
  ];
  if (typeof leaf === 'string') return found;
  return [
    ...found,
    ...(typeof key === 'string' || leaf.checkPrivateKey(key)
      ? []
      : problem('private_key', 'Is not the key of the certificate.')),
    ...(typeof chain === 'string' ? [] : problem('certificate_chain', chainProblem(leaf, chain, now))),
  ];
}

/** Returns the certificates of a text in PEM format, or what is wrong with them. */
export function certificatesIn(text: string): X509Certificate[] | string {
  const [, ...blocks] = text.split(BEGIN);
  if (blocks.length === 0 && text.trim() !== '') return 'Contains no certificate in PEM format.';
  if (blocks.length > MOST_CERTIFICATES) return `Contains more than ${MOST_CERTIFICATES} certificates.`;
  const read: X509Certificate[] = [];
  for (const block of blocks) {
    try {
      read.push(new X509Certificate(BEGIN + block));
    } catch {
      return `Certificate ${read.length + 1} can't be read.`;
    }
  }
  return read;
}

function onlyOf([leaf, ...others]: X509Certificate[]): X509Certificate | string {
  if (!leaf) return 'Contains no certificate in PEM format.';
  if (others.length > 0) return 'Contains several certificates; move all but the first to certificate_chain.';
  return leaf;
}

/** Returns why no server can be run with the certificate and its key. */
export function serverProblem(leaf: X509Certificate, chain: X509Certificate[], now: Date): string | undefined {
  if (!isUsable(leaf.publicKey)) return `Use another kind of key: ${KEY_KINDS}.`;
  return timeProblem(leaf, now) ?? chainProblem(leaf, chain, now);
}

function keyIn(text: string): KeyObject | string {
  // In either of the forms that OpenSSL writes.
  if (/^-----BEGIN ENCRYPTED|^Proc-Type: 4,ENCRYPTED/m.test(text)) {
    return 'Is encrypted; decrypt it first, for example with "openssl pkey".';
  }
  try {
    const key = createPrivateKey(text);
    return isUsable(key) ? key : `Use another kind of key: ${KEY_KINDS}.`;
  } catch {
    return 'Is not a private key in PEM format.';
  }
}

function isUsable({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean {
  if (type === 'ed25519') return true;
  if (type === 'ec') return CURVES.includes(details?.namedCurve ?? '');
  const { modulusLength: bits = 0, publicExponent = 0n } = details ?? {};
  return (
    type === 'rsa' && bits >= RSA_BITS.least && bits <= RSA_BITS.most && publicExponent < 2n ** BigInt(EXPONENT_BITS)
  );
}

export function timeProblem(certificate: X509Certificate, now: Date): string | undefined {
  const [from, to] = [new Date(certificate.validFrom), new Date(certificate.validTo)];
  if (now > to) return `${titleOf(certificate)} expired at ${isoSeconds(to)}.`;
  return now < from ? `${titleOf(certificate)} is not valid before ${isoSeconds(from)}.` : undefined;
}

/**
 * Follows the issuers from the leaf up, as OpenSSL does (`X509_verify_cert`): in whatever order they are listed, past those
 * that belong to nothing, and no further than they reach, since clients have the rest. Nor do clients look at the time of
 * a listed root: they have their own copy (RFC 5280, 6.1.1). The keys come from a stranger, and each check takes time:
 * there are no more checks than it needs, and none with a key that would take long.
 */
function chainProblem(leaf: X509Certificate, given: X509Certificate[], now: Date): string | undefined {
  const byFingerprint = new Map(given.map((one) => [one.fingerprint256, one]));
  byFingerprint.delete(leaf.fingerprint256);
  let left = [...byFingerprint.values()];
  for (let issued = leaf; !signedItself(issued); ) {
    const named = left.filter((one) => issued.checkIssued(one));
    const [first] = named;
    if (!first) return issued === leaf && left[0] ? noIssuer(leaf, left[0]) : undefined;
    if (named.length > MOST_NAMESAKES) {
      return `More than ${MOST_NAMESAKES} certificates have the name of ${titleOf(first)}; list only those that are needed.`;
    }
    const { issuer, problem } = issuerAmong(named, issued, now);
    if (!issuer) return problem ?? `${titleOf(issued)} is not signed with the key of ${titleOf(first)}.`;
    left = left.filter((one) => one !== issuer);
    issued = issuer;
  }
  return undefined;
}

/** Finds the first signer that may sign, or says what is wrong with the first other one. */
function issuerAmong(
  named: X509Certificate[],
  issued: X509Certificate,
  now: Date,
): { issuer?: X509Certificate; problem?: string | undefined } {
  let problem: string | undefined;
  let keyProblem: string | undefined;
  // An issuer that got a new certificate for the same key may be listed with both.
  for (const one of named) {
    if (!isUsable(one.publicKey)) {
      keyProblem ??= `${titleOf(one)} has another kind of key than ${KEY_KINDS}.`;
    } else if (isSigned(issued, one)) {
      const its = issuerProblem(one, now);
      if (its === undefined) return { issuer: one };
      problem ??= its;
    }
  }
  return { problem: problem ?? keyProblem };
}

const noIssuer = (leaf: X509Certificate, listed: X509Certificate) =>
  `${titleOf(listed)} did not issue ${titleOf(leaf)}, and no other certificate of the chain did; add that of its issuer.`;

function issuerProblem(issuer: X509Certificate, now: Date): string | undefined {
  const isRoot = signedItself(issuer);
  if (!issuer.ca && !(isRoot && isVersion1(issuer))) {
    return `${titleOf(issuer)} may not issue certificates: its basic constraints don't say that it is an authority.`;
  }
  return isRoot ? undefined : timeProblem(issuer, now);
}

function signedItself(certificate: X509Certificate): boolean {
  return certificate.checkIssued(certificate) && isSigned(certificate, certificate);
}

/** Whether it is of the time before there were basic constraints: its first field is no version (RFC 5280, 4.1). */
function isVersion1({ raw }: X509Certificate): boolean {
  const contentsAt = (at: number) => {
    const length = raw[at + 1] ?? 0;
    return at + 2 + (length < 0x80 ? 0 : length & 0x7f);
  };
  return raw[contentsAt(contentsAt(0))] !== 0xa0;
}

function isSigned(issued: X509Certificate, issuer: X509Certificate): boolean {
  const key = issuer.publicKey;
  try {
    return isUsable(key) && issued.verify(key);
  } catch {
    // OpenSSL doesn't know the algorithm.
    return false;
  }
}

function titleOf({ subject, serialNumber }: X509Certificate): string {
  return `Certificate ${(subject ?? `no. ${serialNumber}`).replaceAll('\n', ', ').slice(0, 200)}`;
}
