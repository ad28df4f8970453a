import { createPrivateKey, randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { type KeyPair, provideDecoratorMetadata } from '../../../src/backends/certificates/authority.ts';

const OWN = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const RSA = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const;

/** Signs as kubeadm does, with the authority that Cluster API has made: an RSA key in PKCS #1. */
export async function signedBy(authority: KeyPair, subject: string, names: readonly string[] = []): Promise<KeyPair> {
  provideDecoratorMetadata();
  const x509 = await import('@peculiar/x509');
  const der = createPrivateKey(authority.key).export({ type: 'pkcs8', format: 'der' });
  const signingKey = await webcrypto.subtle.importKey('pkcs8', der, RSA, false, ['sign']);
  const { publicKey, privateKey } = await webcrypto.subtle.generateKey(OWN, true, ['sign', 'verify']);
  const usage = names.length > 0 ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth;
  const issuer = new x509.X509Certificate(authority.certificate);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: `01${randomBytes(15).toString('hex')}`,
    notBefore: issuer.notBefore,
    notAfter: new Date(Date.now() + 86_400_000),
    subject,
    issuer: issuer.subject,
    publicKey,
    signingKey,
    signingAlgorithm: RSA,
    extensions: [
      new x509.ExtendedKeyUsageExtension([usage]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) ? 'ip' : 'dns', value }) as const),
      ),
    ].slice(0, names.length > 0 ? 2 : 1),
  });
  const key = await webcrypto.subtle.exportKey('pkcs8', privateKey);
  return {
    certificate: `${certificate.toString('pem')}\n`,
    key: `${x509.PemConverter.encode(key, 'PRIVATE KEY')}\n`,
  };
}
