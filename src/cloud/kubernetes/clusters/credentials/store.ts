import { X509Certificate } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { ClusterObservation } from '../../../../backends/contract/specs.ts';
import type { Sql } from '../../../../db/database.ts';
import type { Tables } from '../../../../db/tables.ts';
import type { Secrets } from '../../../../secrets/secrets.ts';

export type CredentialsRow = Selectable<Tables['kubernetes_credentials']>;

/** Stores the credentials that the cluster's backend created, unless the cluster keeps them. */
export async function keepCredentials(db: Sql, secrets: Secrets, clusterId: string, observed: ClusterObservation) {
  if (observed.keepsKeys) return;
  const { endpoint, caCertificate, clientCertificate, secret } = observed;
  if (!secret) throw new Error(`The backend of cluster ${clusterId} returned no keys`);
  const { validFrom, validTo } = new X509Certificate(clientCertificate);
  await db
    .insertInto('kubernetes_credentials')
    .values({
      cluster_id: clusterId,
      endpoint,
      ca_certificate: caCertificate,
      ca_key: secrets.seal('kubernetes_credentials.ca_key', [clusterId], secret.caKey),
      client_certificate: clientCertificate,
      client_key: secrets.seal('kubernetes_credentials.client_key', [clusterId], secret.clientKey),
      created_at: new Date(validFrom),
      expires_at: new Date(validTo),
    })
    .execute();
}

export async function findCredentials(
  db: Sql,
  secrets: Secrets,
  clusterId: string,
): Promise<CredentialsRow | undefined> {
  const row = await db
    .selectFrom('kubernetes_credentials')
    .selectAll()
    .where('cluster_id', '=', clusterId)
    .executeTakeFirst();
  return (
    row && {
      ...row,
      ca_key: await secrets.open('kubernetes_credentials.ca_key', [row.cluster_id], row.ca_key),
      client_key: await secrets.open('kubernetes_credentials.client_key', [row.cluster_id], row.client_key),
    }
  );
}
