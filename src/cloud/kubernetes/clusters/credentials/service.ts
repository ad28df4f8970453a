import { X509Certificate } from 'node:crypto';
import type { Logger } from 'pino';
import { asked } from '../../../../backends/contract/asking.ts';
import { ConflictError } from '../../../../lib/errors.ts';
import { found } from '../../../../lib/ids.ts';
import type { Platform } from '../../../../platform.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import { findCluster } from '../store.ts';
import { type CredentialsRow, findCredentials } from './store.ts';

/** For clusters that keep their keys. */
async function fromBackend(
  on: Platform,
  { regionId, projectId }: Scope,
  id: string,
  log: Pick<Logger, 'info'>,
): Promise<CredentialsRow | undefined> {
  const { credentialsOf } = on.backends.of(regionId, 'cluster');
  if (!credentialsOf) return undefined;
  const ref = { kind: 'cluster', id, regionId, projectId, handle: null } as const;
  const seen = await asked(log, (call) => credentialsOf(ref, call));
  if (!seen?.secret) return undefined;
  const { validFrom, validTo } = new X509Certificate(seen.clientCertificate);
  return {
    cluster_id: id,
    endpoint: seen.endpoint,
    ca_certificate: seen.caCertificate,
    ca_key: seen.secret.caKey,
    client_certificate: seen.clientCertificate,
    client_key: seen.secret.clientKey,
    created_at: new Date(validFrom),
    expires_at: new Date(validTo),
  };
}

/**
 * Records who got them, before they are given.
 * @throws NotFoundError, also if the cluster has no credentials; ConflictError while it is being created;
 * UnavailableError if the cluster keeps them and can't be asked
 */
export async function getClusterCredentials(
  on: Platform,
  scope: Scope,
  name: string,
  log: Pick<Logger, 'info'>,
): Promise<CredentialsRow> {
  const cluster = found('Cluster', name, await findCluster(on.database.sql, scope, name));
  if (cluster.status === 'Provisioning') {
    throw new ConflictError(
      `Cluster ${name} is being created by task ${cluster.task_id}. Wait until the task has ended, then try again`,
    );
  }
  const row =
    (await findCredentials(on.database.sql, on.secrets, cluster.id)) ??
    (await fromBackend(on, scope, cluster.id, log));
  const credentials = found('Kubeconfig of cluster', name, row);
  // Reading them changes nothing, but they give full control of the cluster, so the log has a record.
  await on.database.accept(async (tx) => tx.made(cluster.id));
  return credentials;
}
