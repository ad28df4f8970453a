import type { Database } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import { ConflictError, NotFoundError } from '../../../lib/errors.ts';
import { placeOf } from '../../projects/place.ts';
import type { Scope } from '../../projects/service.ts';
import { findCluster } from '../store.ts';
import { makeCertificates } from './certificates.ts';
import { type CredentialsRow, findCredentials, keepCredentials } from './store.ts';

const YEARS_VALID = 2;

export interface ClusterCredentials {
  /** Makes the authority and the administrator's certificate of a cluster, once. Keys go nowhere but to their table. */
  make(clusterId: string): Promise<void>;
  /** @throws NotFoundError, also for a cluster without any; ConflictError while the cluster is being created */
  get(scope: Scope, name: string): Promise<CredentialsRow>;
}

export function createClusterCredentials(deps: { database: Database; clock: Clock }): ClusterCredentials {
  const { database, clock } = deps;
  return {
    async make(clusterId) {
      const now = clock.now();
      // Certificates count in whole seconds.
      const notBefore = new Date(Math.floor(now.getTime() / 1000) * 1000);
      const notAfter = new Date(notBefore);
      notAfter.setUTCFullYear(notAfter.getUTCFullYear() + YEARS_VALID);
      const certificates = await makeCertificates({ notBefore, notAfter });
      await keepCredentials(database.sql, {
        cluster_id: clusterId,
        ...certificates,
        created_at: notBefore,
        expires_at: notAfter,
      });
    },

    async get(scope, name) {
      const cluster = await findCluster(database.sql, placeOf(scope), name);
      if (!cluster) throw new NotFoundError('Cluster', name);
      const row = await findCredentials(database.sql, cluster.id);
      if (row && cluster.status !== 'Provisioning') return row;
      if (cluster.status !== 'Provisioning') throw new NotFoundError('Kubeconfig of cluster', name);
      throw new ConflictError(
        `Cluster ${name} is being created by task ${cluster.task_id}: wait until the task has ended, then try again`,
      );
    },
  };
}
