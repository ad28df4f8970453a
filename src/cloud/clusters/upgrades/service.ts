import type { Database } from '../../../db/database.ts';
import { InvalidError, NotFoundError } from '../../../lib/errors.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { placeOf } from '../../projects/place.ts';
import type { Scope } from '../../projects/service.ts';
import type { Tasks } from '../../tasks/service.ts';
import { lockFreeCluster } from '../free-cluster.ts';
import { findCluster, holdCluster } from '../store.ts';
import { upgradeVersions } from './versions.ts';
import { upgradeWork } from './workflow.ts';

export interface ClusterUpgrades {
  /** Versions that the cluster may go to, oldest first, each with its leading `v`. @throws NotFoundError */
  versions(scope: Scope, name: string): Promise<string[]>;
  /** @throws NotFoundError, InvalidError for any other version, ConflictError while a task holds the cluster */
  start(scope: Scope, name: string, version: string): Promise<string>;
}

export function createClusterUpgrades(deps: {
  database: Database;
  catalog: Catalog;
  tasks: Tasks;
}): ClusterUpgrades {
  const { database, catalog, tasks } = deps;

  return {
    async versions(scope, name) {
      const cluster = await findCluster(database.sql, placeOf(scope), name);
      if (!cluster) throw new NotFoundError('Cluster', name);
      return upgradeVersions(cluster.version, catalog.kubernetesVersions);
    },

    async start(scope, name, asked) {
      const version = `v${asked.replace(/^v/, '')}`;
      return database.accept(scope.principal, async (tx) => {
        const cluster = await lockFreeCluster(tx, scope, name);
        const possible = upgradeVersions(cluster.version, catalog.kubernetesVersions);
        if (!possible.includes(version)) throw wrongVersion(version, cluster.version, possible);
        const taskId = await tasks.start(tx, scope, {
          data: { cluster_name: name, version },
          ...upgradeWork(cluster, version),
        });
        await holdCluster(tx, cluster.id, { taskId, status: 'Provisioned' });
        return taskId;
      });
    },
  };
}

function wrongVersion(wanted: string, current: string, possible: readonly string[]): InvalidError {
  const choice =
    possible.length === 0 ? 'there is no version to go to' : `must be one of: ${possible.join(', ')}`;
  const message = `The cluster can't go from ${current} to ${wanted}: ${choice}.`;
  return new InvalidError([{ field: 'version', message }]);
}
