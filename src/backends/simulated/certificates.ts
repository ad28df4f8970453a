import { makeAuthority } from '../certificates/authority.ts';
import type { ClusterObservation } from '../contract/specs.ts';

/** The certificates and keys for connecting to a cluster: certificates as PEM, keys as PKCS #8. */
export type Certificates = Required<Omit<ClusterObservation, 'endpoint' | 'keepsKeys'>>;

const YEARS_VALID = 2;

/** Makes a certificate authority, and a client certificate that it signed for the cluster's administrator. */
export async function makeCertificates(): Promise<Certificates> {
  const ca = await makeAuthority('CN=kubernetes', YEARS_VALID);
  // The group that may do everything in Kubernetes (its RBAC defaults).
  const client = await ca.forClient('O=system:masters, CN=kubernetes-admin');
  return {
    caCertificate: ca.certificate,
    clientCertificate: client.certificate,
    secret: { caKey: ca.key, clientKey: client.key },
  };
}
