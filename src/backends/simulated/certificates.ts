import { randomBytes, webcrypto } from 'node:crypto';
import type { ClusterObservation } from '../contract/specs.ts';
import { provideDecoratorMetadata } from './decorator-metadata.ts';

/** The certificates and keys for connecting to a cluster: certificates as PEM, keys as PKCS #8. */
export type Certificates = Required<Omit<ClusterObservation, 'endpoint'>>;

const YEARS_VALID = 2;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** Makes a certificate authority, and a client certificate that it signed for the cluster's administrator. */
export async function makeCertificates(): Promise<Certificates> {
  const valid = { notBefore: new Date(), notAfter: new Date() };
  valid.notAfter.setUTCFullYear(valid.notBefore.getUTCFullYear() + YEARS_VALID);
  // Loaded when the first cluster is made, since no start needs it.
  provideDecoratorMetadata();
  const x509 = await import('@peculiar/x509');
  const newKeys = () => webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const [ca, client] = await Promise.all([newKeys(), newKeys()]);
  const caCertificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...valid,
    serialNumber: serialNumber(),
    name: 'CN=kubernetes',
    keys: ca,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(ca.publicKey),
    ],
  });
  const clientCertificate = await x509.X509CertificateGenerator.create({
    ...valid,
    serialNumber: serialNumber(),
    // The group that may do everything in Kubernetes (its RBAC defaults).
    subject: 'O=system:masters, CN=kubernetes-admin',
    issuer: caCertificate.subject,
    publicKey: client.publicKey,
    signingKey: ca.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
      await x509.AuthorityKeyIdentifierExtension.create(ca.publicKey),
    ],
  });
  const keyText = async ({ privateKey }: typeof ca) =>
    `${x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', privateKey), 'PRIVATE KEY')}\n`;
  return {
    caCertificate: `${caCertificate.toString('pem')}\n`,
    clientCertificate: `${clientCertificate.toString('pem')}\n`,
    secret: { caKey: await keyText(ca), clientKey: await keyText(client) },
  };
}

/** Positive and unguessable (CA/Browser Forum baseline requirements, 7.1). */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString('hex');
}
