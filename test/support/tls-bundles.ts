import { KeyObject, sign, webcrypto } from 'node:crypto';
import type { X509Certificate } from '@peculiar/x509';
import { provideDecoratorMetadata } from '../../src/backends/certificates/authority.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 86_400_000;

export interface TlsBundle {
  certificate: string;
  certificate_chain: string;
  private_key: string;
}

/** Somebody with a certificate and its key, who may issue others. */
export interface Issuer {
  pem: string;
  keys: webcrypto.CryptoKeyPair;
  certificate: X509Certificate;
}

interface Wish {
  name: string;
  by?: Issuer;
  keys?: webcrypto.CryptoKeyPair;
  /** In days from now. */
  from?: number;
  to?: number;
  ca?: boolean;
}

let serial = 0;

async function library() {
  provideDecoratorMetadata();
  return import('@peculiar/x509');
}

/** Makes a certificate that is valid now, unless it is wished otherwise. */
export async function issued({ name, by, keys, from = -1, to = 3650, ca = true }: Wish): Promise<Issuer> {
  const x509 = await library();
  const own = keys ?? (await newKeys());
  const signingKey = (by?.keys ?? own).privateKey;
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: (++serial).toString(16).padStart(16, '1'),
    subject: `CN=${name}`,
    issuer: by?.certificate.subject ?? `CN=${name}`,
    notBefore: new Date(Date.now() + from * DAY_MS),
    notAfter: new Date(Date.now() + to * DAY_MS),
    publicKey: own.publicKey,
    signingKey,
    signingAlgorithm: { hash: ALGORITHM.hash, ...signingKey.algorithm },
    extensions: [new x509.BasicConstraintsExtension(ca, undefined, true)],
  });
  return { certificate, keys: own, pem: `${certificate.toString('pem')}\n` };
}

/** Returns the certificate as one of version 1, which has no extensions. It signs itself, unless somebody else does. */
export function asVersion1({ certificate, keys }: Issuer, by = { keys }): Issuer['pem'] {
  const [signed, algorithm] = elementsOf(Buffer.from(certificate.rawData));
  if (!signed || !algorithm) throw new Error('No certificate');
  const fields = elementsOf(signed).filter(({ 0: tag }) => tag !== 0xa0 && tag !== 0xa3);
  const body = element(0x30, Buffer.concat(fields));
  const signature = sign('sha256', body, KeyObject.from(by.keys.privateKey));
  const bits = element(0x03, Buffer.concat([Buffer.from([0]), signature]));
  const text = element(0x30, Buffer.concat([body, algorithm, bits])).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${text.replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
}

/** Returns what a DER element consists of. */
function elementsOf(whole: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = bounds(whole, 0).start; at < whole.length; at = bounds(whole, at).end) {
    found.push(whole.subarray(at, bounds(whole, at).end));
  }
  return found;
}

function bounds(bytes: Buffer, at: number): { start: number; end: number } {
  const first = bytes.readUInt8(at + 1);
  const more = first < 0x80 ? 0 : first & 0x7f;
  const start = at + 2 + more;
  return { start, end: start + (more === 0 ? first : bytes.readUIntBE(at + 2, more)) };
}

function element(tag: number, contents: Buffer): Buffer {
  const header =
    contents.length < 0x80 ? [tag, contents.length] : [tag, 0x82, contents.length >> 8, contents.length & 0xff];
  return Buffer.concat([Buffer.from(header), contents]);
}

export const newKeys = () => webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);

export async function keyText({ keys }: Pick<Issuer, 'keys'>): Promise<string> {
  const { PemConverter } = await library();
  return `${PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY')}\n`;
}

/** Returns what a server needs: its certificate, those of its issuers, and its key. */
export async function tlsBundle(name = 'www.example.com'): Promise<TlsBundle> {
  const root = await issued({ name: 'Root' });
  const intermediate = await issued({ name: 'Intermediate', by: root });
  const leaf = await issued({ name, by: intermediate, ca: false });
  return {
    certificate: leaf.pem,
    certificate_chain: intermediate.pem + root.pem,
    private_key: await keyText(leaf),
  };
}
