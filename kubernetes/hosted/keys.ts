import fs from 'node:fs';
import path from 'node:path';
import ipaddr from 'ipaddr.js';
import { stringify } from 'yaml';
import { type KeyPair, makeAuthority, makeSigningKeys } from '../../src/backends/certificates/authority.ts';
import type { ClusterSpec } from '../../src/backends/contract/specs.ts';
import { encoded } from '../base64.ts';
import { FILES, type HostedCluster, urlOf } from './files.ts';

const YEARS_VALID = 10;

/** Writes the cluster's authority and all that it signs into the folder. */
export async function writeKeys(folder: string, cluster: HostedCluster, spec: ClusterSpec): Promise<void> {
  const ca = await makeAuthority('CN=kubernetes', YEARS_VALID);
  const [server, admin, controllerManager, scheduler, kwok, accounts] = await Promise.all([
    ca.forServer('CN=kube-apiserver', serverNames(cluster, spec)),
    // The group that may do everything in Kubernetes (its RBAC defaults).
    ca.forClient('O=system:masters, CN=kubernetes-admin'),
    ca.forClient('CN=system:kube-controller-manager'),
    ca.forClient('CN=system:kube-scheduler'),
    ca.forClient('O=system:masters, CN=kwok'),
    makeSigningKeys(),
  ]);
  const config = (user: KeyPair) => kubeconfig(urlOf(cluster), ca.certificate, user);
  const texts: Record<string, string> = {
    [FILES.caCertificate]: ca.certificate,
    [FILES.caKey]: ca.key,
    [FILES.serverCertificate]: server.certificate,
    [FILES.serverKey]: server.key,
    [FILES.adminCertificate]: admin.certificate,
    [FILES.adminKey]: admin.key,
    [FILES.accountsPublicKey]: accounts.publicKey,
    [FILES.accountsKey]: accounts.privateKey,
    [FILES.controllerManagerConfig]: config(controllerManager),
    [FILES.schedulerConfig]: config(scheduler),
    [FILES.kwokConfig]: config(kwok),
  };
  fs.mkdirSync(path.join(folder, 'pki'), { mode: 0o700 });
  for (const [file, text] of Object.entries(texts)) {
    fs.writeFileSync(path.join(folder, file), text, { mode: 0o600, flush: true });
  }
}

/** What clients may call the API server, outside and inside the cluster. */
function serverNames({ address }: HostedCluster, { services }: ClusterSpec): string[] {
  const inside = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
  return [
    ...new Set([address, '127.0.0.1']),
    'localhost',
    ...inside,
    'kubernetes.default.svc.cluster.local',
    firstAddressOf(services.ipv4),
  ];
}

/** The address of the service "kubernetes". */
function firstAddressOf(cidr: string): string {
  const bytes = ipaddr.IPv4.networkAddressFromCIDR(cidr).toByteArray();
  bytes[3] = (bytes[3] ?? 0) + 1;
  return ipaddr.fromByteArray(bytes).toString();
}

function kubeconfig(server: string, caCertificate: string, { certificate, key }: KeyPair): string {
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'own', cluster: { server, 'certificate-authority-data': encoded(caCertificate) } }],
      users: [
        {
          name: 'own',
          user: { 'client-certificate-data': encoded(certificate), 'client-key-data': encoded(key) },
        },
      ],
      contexts: [{ name: 'own', context: { cluster: 'own', user: 'own' } }],
      'current-context': 'own',
    },
    { lineWidth: 0 },
  );
}
