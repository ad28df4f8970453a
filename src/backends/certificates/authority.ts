import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';

/**
 * The part of the decorator metadata proposal that `tsyringe`, a dependency of `@peculiar/x509`, needs from
 * `Reflect`: metadata of a class, by key. Must run before that library is loaded.
 */
const known = new WeakMap<object, Map<unknown, unknown>>();

function getOwnMetadata(key: unknown, target: object): unknown {
  return known.get(target)?.get(key);
}

function getMetadata(key: unknown, target: object): unknown {
  for (let at: object | null = target; at; at = Object.getPrototypeOf(at)) {
    if (known.get(at)?.has(key)) return getOwnMetadata(key, at);
  }
  return undefined;
}

function defineMetadata(key: unknown, value: unknown, target: object): void {
  const entries = known.get(target) ?? new Map<unknown, unknown>();
  known.set(target, entries.set(key, value));
}

/** Does nothing if there is another implementation. */
export function provideDecoratorMetadata(): void {
  if ('getMetadata' in Reflect) return;
  Object.assign(Reflect, { defineMetadata, getMetadata, getOwnMetadata });
}

/** A certificate as PEM, and its private key as PKCS #8 in PEM. */
export interface KeyPair {
  certificate: string;
  key: string;
}

export interface Authority extends KeyPair {
  /** Signs a certificate for a client, such as `O=system:masters, CN=kubernetes-admin`. */
  forClient(subject: string): Promise<KeyPair>;
  /** Signs a certificate for a server with these names and addresses. */
  forServer(subject: string, names: readonly string[]): Promise<KeyPair>;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** Makes a certificate authority. What it signs expires when it does. */
export async function makeAuthority(name: string, yearsValid: number): Promise<Authority> {
  const valid = { notBefore: new Date(), notAfter: new Date() };
  valid.notAfter.setUTCFullYear(valid.notBefore.getUTCFullYear() + yearsValid);
  // Loaded when the first cluster is made, since no start needs it.
  provideDecoratorMetadata();
  const x509 = await import('@peculiar/x509');
  const own = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...valid,
    serialNumber: serialNumber(),
    name,
    keys: own,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(own.publicKey),
    ],
  });

  async function issue(subject: string, usage: string, names: readonly string[] = []): Promise<KeyPair> {
    const { publicKey, privateKey } = await newKeys();
    const known = names.map((value) => ({ type: isIP(value) ? 'ip' : 'dns', value }) as const);
    const issued = await x509.X509CertificateGenerator.create({
      ...valid,
      serialNumber: serialNumber(),
      subject,
      issuer: certificate.subject,
      publicKey,
      signingKey: own.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([usage]),
        await x509.AuthorityKeyIdentifierExtension.create(own.publicKey),
        ...(known.length > 0 ? [new x509.SubjectAlternativeNameExtension(known)] : []),
      ],
    });
    return { certificate: `${issued.toString('pem')}\n`, key: await pemOf(privateKey, 'pkcs8') };
  }

  return {
    certificate: `${certificate.toString('pem')}\n`,
    key: await pemOf(own.privateKey, 'pkcs8'),
    forClient: (subject) => issue(subject, x509.ExtendedKeyUsage.clientAuth),
    forServer: (subject, names) => issue(subject, x509.ExtendedKeyUsage.serverAuth, names),
  };
}

/** Makes a key pair for signatures, in PEM. */
export async function makeSigningKeys(): Promise<{ publicKey: string; privateKey: string }> {
  const { publicKey, privateKey } = await newKeys();
  return { publicKey: await pemOf(publicKey, 'spki'), privateKey: await pemOf(privateKey, 'pkcs8') };
}

const newKeys = () => webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);

async function pemOf(key: webcrypto.CryptoKey, format: 'pkcs8' | 'spki'): Promise<string> {
  const { PemConverter } = await import('@peculiar/x509');
  const label = format === 'pkcs8' ? 'PRIVATE KEY' : 'PUBLIC KEY';
  return `${PemConverter.encode(await webcrypto.subtle.exportKey(format, key), label)}\n`;
}

/** Positive and unguessable (CA/Browser Forum baseline requirements, 7.1). */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString('hex');
}
