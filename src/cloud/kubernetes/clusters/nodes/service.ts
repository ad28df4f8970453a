import type { Database } from '../../../../db/database.ts';
import { NotFoundError } from '../../../../lib/errors.ts';
import { found } from '../../../../lib/found.ts';
import { isUuid, newTaskId } from '../../../../lib/ids.ts';
import type { PageQuery } from '../../../../lib/page.ts';
import type { Instances } from '../../../compute/instances/service.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import { overdrawQuotas } from '../../../ground/quotas/in-transaction.ts';
import type { Tasks } from '../../../ground/tasks/service.ts';
import { lockFreeCluster, poolOf } from '../free-cluster.ts';
import { RESIZE_POOL } from '../pools/tasks.ts';
import { type ClusterRow, findCluster, holdCluster, type PoolRow } from '../store.ts';
import { clusterPooled } from '../wanted.ts';
import { inWordsOfCluster, type PoolNodes } from './pool-nodes.ts';
import * as store from './store.ts';

/** Where to look for nodes: in a whole cluster, or in one of its pools. */
export interface NodesOf {
  clusterName: string;
  poolName?: string;
}

/** The nodes of clusters, as instances. */
export interface ClusterNodes {
  /** Lists the newest node first. @throws NotFoundError for the cluster or the pool */
  list(scope: Scope, of: NodesOf, page: PageQuery): ReturnType<Instances['shown']>;
  /** Starts the task that replaces a node. @throws NotFoundError, ConflictError while a task holds the cluster */
  delete(scope: Scope, of: NodesOf, instanceId: string): Promise<void>;
}

export function createClusterNodes(deps: {
  database: Database;
  tasks: Tasks;
  instances: Pick<Instances, 'shown'>;
  poolNodes: PoolNodes;
}): ClusterNodes {
  const { database, tasks, instances, poolNodes } = deps;

  return {
    async list(scope, of, page) {
      const { clusterName: name } = of;
      const cluster = found('Cluster', name, await findCluster(database.sql, scope, name));
      const poolIds = poolsIn(cluster, of).map(({ id }) => id);
      return instances.shown(scope, { ...page, poolIds, include_baremetal: true });
    },

    async delete(scope, of, instanceId) {
      await database.accept(scope.principal, async (tx) => {
        const cluster = await lockFreeCluster(tx, scope, of.clusterName);
        const poolId = isUuid(instanceId) ? await store.poolOfNode(tx, instanceId) : undefined;
        const pool = poolsIn(cluster, of).find(({ id }) => id === poolId);
        if (!pool) throw new NotFoundError('Node', instanceId);
        const [taskId, goneId] = [newTaskId(), instanceId.toLowerCase()];
        const quotas = await poolNodes
          .replace(tx, scope, cluster, { id: goneId, pool }, taskId)
          .catch(inWordsOfCluster);
        await holdCluster(tx, cluster.id, { taskId, status: 'Provisioned' });
        await tasks.begin(tx, scope, {
          id: taskId,
          task: RESIZE_POOL,
          data: { cluster_name: cluster.name, pool_name: pool.name, instance_id: goneId },
          input: { clusterId: cluster.id, poolId: pool.id, nodeCount: pool.node_count },
          wants: [await clusterPooled(tx, cluster)],
        });
        // The node that is removed releases the same quotas.
        await overdrawQuotas(tx, scope, quotas);
      });
    },
  };
}

/** @throws NotFoundError for the pool */
function poolsIn(cluster: ClusterRow, { poolName }: NodesOf): PoolRow[] {
  return poolName === undefined ? cluster.pools : [poolOf(cluster, poolName)];
}
