import type { Database } from '../../../db/database.ts';
import { ConflictError, NotFoundError } from '../../../lib/errors.ts';
import { found } from '../../../lib/found.ts';
import type { Secrets } from '../../../secrets/secrets.ts';
import type { Scope } from '../../projects/service.ts';
import { findCluster } from '../store.ts';
import { type CredentialsRow, findCredentials } from './store.ts';

export interface ClusterCredentials {
  /** @throws NotFoundError, also if the cluster has no credentials; ConflictError while it is being created */
  get(scope: Scope, name: string): Promise<CredentialsRow>;
}

export function createClusterCredentials(deps: { database: Database; secrets: Secrets }): ClusterCredentials {
  const { database, secrets } = deps;
  return {
    async get(scope, name) {
      const cluster = found('Cluster', name, await findCluster(database.sql, scope, name));
      const row = await findCredentials(database.sql, secrets, cluster.id);
      if (row && cluster.status !== 'Provisioning') return row;
      if (cluster.status !== 'Provisioning') throw new NotFoundError('Kubeconfig of cluster', name);
      throw new ConflictError(
        `Cluster ${name} is being created by task ${cluster.task_id}. Wait until the task has ended, then try again`,
      );
    },
  };
}
