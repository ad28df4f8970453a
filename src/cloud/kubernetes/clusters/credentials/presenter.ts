import { stringify } from 'yaml';
import { isoSeconds } from '../../../../lib/timestamps.ts';
import type { CredentialsRow } from './store.ts';

export function presentedCertificates(row: CredentialsRow) {
  return { certificate: row.ca_certificate, key: row.ca_key };
}

export function presentedKubeconfig(clusterName: string, row: CredentialsRow) {
  const authority = base64(row.ca_certificate);
  const certificate = base64(row.client_certificate);
  const key = base64(row.client_key);
  const user = `${clusterName}-admin`;
  const context = `${user}@${clusterName}`;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: clusterName, cluster: { server: row.endpoint, 'certificate-authority-data': authority } },
    ],
    users: [{ name: user, user: { 'client-certificate-data': certificate, 'client-key-data': key } }],
    contexts: [{ name: context, context: { cluster: clusterName, user } }],
    'current-context': context,
  };
  return {
    config: stringify(config, { lineWidth: 0 }),
    host: row.endpoint,
    client_certificate: certificate,
    client_key: key,
    cluster_ca_certificate: authority,
    created_at: isoSeconds(row.created_at),
    expires_at: isoSeconds(row.expires_at),
  };
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
