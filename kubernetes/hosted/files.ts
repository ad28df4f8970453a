import net from 'node:net';

/** What a cluster keeps for as long as it lives. */
export interface HostedCluster {
  id: string;
  regionId: number;
  address: string;
  port: number;
  /** Of the control plane, with the leading `v`; it never goes back. */
  version: string;
}

/** In the cluster's folder, which is the working folder of its processes. */
export const FILES = {
  cluster: 'cluster.json',
  caCertificate: 'pki/ca.crt',
  caKey: 'pki/ca.key',
  serverCertificate: 'pki/server.crt',
  serverKey: 'pki/server.key',
  adminCertificate: 'pki/admin.crt',
  adminKey: 'pki/admin.key',
  accountsPublicKey: 'pki/service-accounts.pub',
  accountsKey: 'pki/service-accounts.key',
  controllerManagerConfig: 'controller-manager.kubeconfig',
  schedulerConfig: 'scheduler.kubeconfig',
  kwokConfig: 'kwok.kubeconfig',
  authentication: 'authentication.yaml',
} as const;

export const urlOf = ({ address, port }: Pick<HostedCluster, 'address' | 'port'>): string =>
  `https://${net.isIPv6(address) ? `[${address}]` : address}:${port}`;
