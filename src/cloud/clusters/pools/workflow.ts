import type { Database } from '../../../db/database.ts';
import type { TaskHandler } from '../../../workflows/task-handler.ts';
import type { Nodes } from '../../instances/nodes/service.ts';
import type { ClusterBackend, NodeReplacement, PoolOfNodes } from '../backend.ts';
import type { ClusterRow, NewPool, PoolRow } from '../store.ts';
import { releaseCluster } from '../store.ts';
import {
  carryOut,
  failAfter,
  giveBack,
  MINUTE_MS,
  nodesOf,
  type Owner,
  openChange,
  ownerOf,
  removeCluster,
  type Standing,
  standingOf,
  tearDown,
} from '../work-steps.ts';
import * as store from './store.ts';

const CREATE = 'create_k8s_cluster_pool_v2';
const RESIZE = 'resize_k8s_cluster_v2';
const DELETE = 'delete_k8s_cluster_pool_v2';
/** Not published: the published operation answers the pool and no task. */
const CONFIGURE = 'update_k8s_cluster_pool_v2';
const DEADLINE_MS = 60 * MINUTE_MS;

interface PoolInput {
  clusterId: string;
  poolId: string;
  /** As it is to be, and before a deletion as it is. */
  pool: PoolOfNodes;
  /** The cluster before the change. */
  standing: Standing;
}
interface ResizeInput extends PoolInput {
  /** Of a node that is replaced, while their number stays. */
  replaced?: NodeReplacement;
}
interface ConfigurationInput {
  clusterId: string;
  poolId: string;
}
interface DeletionInput extends PoolInput {
  owner: Owner;
  /** Whether the cluster goes with it. */
  last: boolean;
}

const work = <Input extends object>(type: string, input: Input) => ({
  type,
  input,
  deadlineMs: DEADLINE_MS,
});

export function poolCreationWork(cluster: ClusterRow, pool: NewPool) {
  return work<PoolInput>(CREATE, {
    clusterId: cluster.id,
    poolId: pool.id,
    pool: nodesOf(pool),
    standing: standingOf(cluster),
  });
}

export function resizeWork(
  cluster: ClusterRow,
  pool: PoolRow,
  nodeCount: number,
  replaced?: NodeReplacement,
) {
  return work<ResizeInput>(RESIZE, {
    clusterId: cluster.id,
    poolId: pool.id,
    pool: nodesOf({ ...pool, node_count: nodeCount }),
    standing: standingOf(cluster),
    ...(replaced && { replaced }),
  });
}

export function configurationWork(clusterId: string, poolId: string) {
  return work<ConfigurationInput>(CONFIGURE, { clusterId, poolId });
}

export function poolDeletionWork(
  cluster: ClusterRow,
  pool: PoolRow,
  scope: { clientId: number; region: { id: number } },
) {
  return work<DeletionInput>(DELETE, {
    owner: ownerOf(scope),
    clusterId: cluster.id,
    poolId: pool.id,
    pool: nodesOf(pool),
    standing: standingOf(cluster),
    last: cluster.pools.length === 1,
  });
}

/** The long work on single pools. */
export function poolHandlers({
  database,
  backend,
  nodes,
}: {
  database: Database;
  backend: ClusterBackend;
  nodes: Nodes;
}): TaskHandler[] {
  const create: TaskHandler<PoolInput, void> = {
    type: CREATE,
    deadlineMs: DEADLINE_MS,
    async run(run, { clusterId, pool, standing }) {
      await openChange(run, backend, clusterId, standing);
      try {
        await carryOut(run, 'create pool', (key) => backend.createPool(key, clusterId, pool));
        await carryOut(run, 'await ready', (key) => backend.awaitReady(key, clusterId));
      } catch (error) {
        return failAfter(error, async () => {
          await carryOut(run, 'delete pool', (key) => backend.deletePool(key, clusterId, pool.name));
          await carryOut(run, 'await ready again', (key) => backend.awaitReady(key, clusterId));
        });
      }
    },
    async complete(tx, task, { clusterId, poolId }) {
      await nodes.finish(tx, task.id);
      await store.markPool(tx, poolId, null);
      await releaseCluster(tx, { clusterId, taskId: task.id });
      return { k8s_pools: [poolId] };
    },
    async abandon(tx, task, { clusterId, poolId }) {
      const freed = await nodes.takeBack(tx, task.id);
      if (await releaseCluster(tx, { clusterId, taskId: task.id })) await store.deletePool(tx, poolId);
      await giveBack(tx, freed);
    },
  };

  const resize: TaskHandler<ResizeInput, void> = {
    type: RESIZE,
    deadlineMs: DEADLINE_MS,
    async run(run, { clusterId, pool, standing, replaced }) {
      await openChange(run, backend, clusterId, standing);
      try {
        await carryOut(run, 'resize pool', (key) =>
          replaced
            ? backend.replaceNode(key, clusterId, pool.name, replaced)
            : backend.resizePool(key, clusterId, pool),
        );
        await carryOut(run, 'await ready', (key) => backend.awaitReady(key, clusterId));
      } catch (error) {
        return failAfter(error, async () => {
          await carryOut(run, 'put back pools', (key) => backend.keepPools(key, clusterId, standing.pools));
          await carryOut(run, 'await ready again', (key) => backend.awaitReady(key, clusterId));
        });
      }
    },
    async complete(tx, task, { clusterId, poolId, pool }) {
      const freed = await nodes.finish(tx, task.id);
      await store.setNodeCount(tx, poolId, pool.nodeCount);
      await releaseCluster(tx, { clusterId, taskId: task.id });
      await giveBack(tx, freed);
      return null;
    },
    async abandon(tx, task, { clusterId }) {
      const freed = await nodes.takeBack(tx, task.id);
      await releaseCluster(tx, { clusterId, taskId: task.id });
      await giveBack(tx, freed);
    },
  };

  const remove: TaskHandler<DeletionInput, void> = {
    type: DELETE,
    deadlineMs: DEADLINE_MS,
    async run(run, { clusterId, pool, standing, last }) {
      if (last) return tearDown(run, backend, clusterId, [pool.name]);
      await openChange(run, backend, clusterId, standing);
      await carryOut(run, 'delete pool', (key) => backend.deletePool(key, clusterId, pool.name));
      await carryOut(run, 'await ready', (key) => backend.awaitReady(key, clusterId));
    },
    async complete(tx, task, { clusterId, poolId, owner, last }) {
      const held = { clusterId, taskId: task.id };
      const freed = await nodes.finish(tx, task.id);
      if (last) {
        await removeCluster(tx, held, owner, freed);
        return null;
      }
      if (await releaseCluster(tx, held)) await store.deletePool(tx, poolId);
      await giveBack(tx, freed);
      return null;
    },
    // Running and free, the pool can be deleted again.
    async abandon(tx, task, { clusterId, poolId }) {
      await nodes.takeBack(tx, task.id);
      if (await releaseCluster(tx, { clusterId, taskId: task.id })) await store.markPool(tx, poolId, null);
    },
  };

  // Holds nothing: the pool shows its settings already, and the newest of them reach the infrastructure in the end.
  const configure: TaskHandler<ConfigurationInput, void> = {
    type: CONFIGURE,
    deadlineMs: DEADLINE_MS,
    async run(run, { clusterId, poolId }) {
      await carryOut(run, 'configure pool', async (key) => {
        const pool = await store.findPool(database.sql, poolId);
        if (!pool) return { settlesInMs: 0 };
        const { name, settings } = nodesOf(pool);
        return backend.configurePool(key, clusterId, name, settings);
      });
    },
    complete: async () => null,
    // The next change of the cluster finds the settings missing and brings them.
    abandon: async () => {},
  };

  return [create, resize, remove, configure];
}
