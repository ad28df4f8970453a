import { Type } from 'typebox';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { listQuery, Query } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import { InstanceList, InstanceParams } from '../../../compute/instances/schema.ts';
import { CLUSTER_BASES, type ClusterBase } from '../params.ts';
import { ClusterParams, PoolParams } from '../schema.ts';
import { deleteNode, listNodes } from './service.ts';

const tags = ['Kubernetes clusters'];
const { instance_id } = InstanceParams.properties;

const NodeListQuery = Query({
  ...listQuery(),
  with_ddos: Type.Optional(
    Type.Boolean({ default: false, description: 'Include DDoS profiles; nodes have none' }),
  ),
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
