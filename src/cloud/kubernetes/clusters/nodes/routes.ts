import { Type } from 'typebox';
import type { Transaction } from '../../../../db/database.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { NotFoundError } from '../../../../lib/errors.ts';
import { found, isUuid, newTaskId } from '../../../../lib/ids.ts';
import type { PageQuery } from '../../../../lib/page.ts';
import { listQuery, OptionalFlag, Query } from '../../../../lib/wire.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { InstanceList, InstanceParams } from '../../../compute/instances/schema.ts';
import { shownInstances } from '../../../compute/instances/service.ts';
import { overdrawQuotas } from '../../../ground/quotas/service.ts';
import { beginTask } from '../../../ground/tasks/service.ts';
import { RESIZE_POOL } from '../pools/tasks.ts';
import { CLUSTER_BASES, type ClusterBase, ClusterParams, PoolParams } from '../schema.ts';
import { lockFreeCluster, poolOf } from '../service.ts';
import { type ClusterRow, findCluster, holdCluster, type PoolRow } from '../store.ts';
import { clusterPooled } from '../tasks.ts';
import { inWordsOfCluster, replaceNode } from './pool-nodes.ts';

/** Where to look for nodes: in a whole cluster, or in one of its pools. */
export interface NodesOf {
  clusterName: string;
  poolName?: string;
}

/** Lists the newest node first. @throws NotFoundError for the cluster or the pool */
export async function listNodes(
  on: Platform,
  scope: Scope,
  of: NodesOf,
  page: PageQuery,
): ReturnType<typeof shownInstances> {
  const { clusterName: name } = of;
  const cluster = found('Cluster', name, await findCluster(on.database.sql, scope, name));
  const poolIds = poolsIn(cluster, of).map(({ id }) => id);
  return shownInstances(on, scope, { ...page, poolIds, include_baremetal: true });
}

/** Starts the task that replaces a node. @throws NotFoundError, ConflictError while a task holds the cluster */
export async function deleteNode(on: Platform, scope: Scope, of: NodesOf, instanceId: string): Promise<void> {
  await on.database.accept(async (tx) => {
    const cluster = await lockFreeCluster(tx, scope, of.clusterName);
    const poolId = isUuid(instanceId) ? await poolOfNode(tx, instanceId) : undefined;
    const pool = poolsIn(cluster, of).find(({ id }) => id === poolId);
    if (!pool) throw new NotFoundError('Node', instanceId);
    const [taskId, goneId] = [newTaskId(), instanceId.toLowerCase()];
    const quotas = await replaceNode(on, tx, scope, cluster, { id: goneId, pool }, taskId).catch(inWordsOfCluster);
    holdCluster(tx, cluster.id, { taskId, status: 'Provisioned' });
    await beginTask(on, tx, scope, {
      id: taskId,
      task: RESIZE_POOL,
      data: { cluster_name: cluster.name, pool_name: pool.name, instance_id: goneId },
      input: { clusterId: cluster.id, poolId: pool.id, nodeCount: pool.node_count },
      wants: [await clusterPooled(tx, cluster)],
    });
    // The node that is removed releases the same quotas.
    overdrawQuotas(tx, scope, quotas);
  });
}

/** @throws NotFoundError for the pool */
function poolsIn(cluster: ClusterRow, { poolName }: NodesOf): PoolRow[] {
  return poolName === undefined ? cluster.pools : [poolOf(cluster, poolName)];
}

/** Returns the pool of a node; undefined for an instance that doesn't exist or isn't a node. */
export async function poolOfNode(tx: Transaction, instanceId: string): Promise<string | undefined> {
  const row = await tx.sql.selectFrom('instances').select('pool_id').where('id', '=', instanceId).executeTakeFirst();
  return row?.pool_id ?? undefined;
}

const tags = ['Kubernetes clusters'];
const { instance_id } = InstanceParams.properties;

const NodeListQuery = Query({
  ...listQuery(),
  with_ddos: OptionalFlag({ default: false, description: 'Include DDoS profiles; nodes have none' }),
});

/** The two paths that lead to nodes. */
const WITH_NODES = [
  {
    path: '',
    name: 'Cluster',
    of: 'a Kubernetes cluster',
    params: ClusterParams,
    nodeParams: Type.Object({ ...ClusterParams.properties, instance_id }),
  },
  {
    path: '/pools/:pool_name',
    name: 'Pool',
    of: 'a pool of a Kubernetes cluster',
    params: PoolParams,
    nodeParams: Type.Object({ ...PoolParams.properties, instance_id }),
  },
];

/** Routes for the nodes of clusters, which are instances. */
export function nodeRoutes(app: Api, on: Platform): void {
  for (const base of CLUSTER_BASES) {
    for (const owner of WITH_NODES) routesOf(app, on, base, owner);
  }
}

function routesOf(app: Api, on: Platform, base: ClusterBase, owner: (typeof WITH_NODES)[number]): void {
  const at = `${base.path}/:cluster_name${owner.path}/instances`;

  const api = operations(app, { tags, params: owner.params });

  api.get(at, `listKubernetes${owner.name}Instances${base.suffix}`, `List the nodes of ${owner.of}`, {
    description: 'Newest first. Nodes are instances that can only be changed through their pool.',
    query: NodeListQuery,
    answer: InstanceList,
    handler: async ({ scope, params, query }) => {
      const { count, rows } = await listNodes(on, scope, nodesOf(params), query);
      return { count, results: rows };
    },
  });

  api.delete(
    `${at}/:instance_id`,
    `deleteKubernetes${owner.name}Instance${base.suffix}`,
    `Delete a node of ${owner.of}`,
    {
      description:
        'The pool replaces the node. Meanwhile a task holds the cluster; its ID is in `task_id` of the cluster. Returns 409 while another task holds the cluster.',
      params: owner.nodeParams,
      status: 204,
      answer: Type.Null({ description: 'Replacement has started' }),
      handler: async ({ scope, params }) => {
        await deleteNode(on, scope, nodesOf(params), params.instance_id);
        return null;
      },
    },
  );
}

function nodesOf(params: { cluster_name: string; pool_name?: string }) {
  return {
    clusterName: params.cluster_name,
    ...(params.pool_name !== undefined && { poolName: params.pool_name }),
  };
}
