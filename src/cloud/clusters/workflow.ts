import type { TaskHandler } from '../../workflows/task-handler.ts';
import type { Nodes } from '../instances/nodes/service.ts';
import type { ClusterBackend, ControlPlane, PoolOfNodes } from './backend.ts';
import {
  type ClusterConfiguration,
  DEFAULT_CONFIGURATION,
  type GroupName,
} from './configuration/configuration.ts';
import { changedGroups } from './configuration/merge.ts';
import { keepLogTopic, type LogTopics } from './log-topics.ts';
import * as store from './store.ts';
import {
  APPLY_ORDER,
  carryOut,
  failAfter,
  MINUTE_MS,
  nodesOf,
  type Owner,
  ownerOf,
  removeCluster,
  tearDown,
} from './work-steps.ts';

const CREATE = 'create_k8s_cluster_v2';
const UPDATE = 'update_k8s_cluster_v2';
const DELETE = 'delete_k8s_cluster_v2';
/** Under the two hours for which the official clients wait. */
const DEADLINE_MS = { [CREATE]: 60 * MINUTE_MS, [UPDATE]: 30 * MINUTE_MS, [DELETE]: 60 * MINUTE_MS };

interface CreationInput {
  owner: Owner;
  controlPlane: ControlPlane;
  pools: PoolOfNodes[];
  configuration: ClusterConfiguration;
}

interface UpdateInput {
  clusterId: string;
  current: ClusterConfiguration;
  wanted: ClusterConfiguration;
  changed: GroupName[];
  /** Tasks that were accepted by an earlier release lack it. */
  pools?: PoolOfNodes[];
}

interface DeletionInput {
  owner: Owner;
  clusterId: string;
  pools: string[];
}

/** What a task of each kind is started with, its `data` apart. */
function work(type: keyof typeof DEADLINE_MS, input: object) {
  return { type, input, deadlineMs: DEADLINE_MS[type] };
}

export function creationWork(
  clusterId: string,
  scope: { clientId: number; region: { id: number } },
  cluster: { name: string; version: string; configuration: ClusterConfiguration; pools: store.NewPool[] },
) {
  return work(CREATE, {
    owner: ownerOf(scope),
    controlPlane: { clusterId, name: cluster.name, version: cluster.version },
    pools: cluster.pools.map(nodesOf),
    configuration: cluster.configuration,
  } satisfies CreationInput);
}

export function updateWork(clusterId: string, change: Omit<UpdateInput, 'clusterId'>) {
  return work(UPDATE, { clusterId, ...change } satisfies UpdateInput);
}

export function deletionWork(cluster: store.ClusterRow, scope: { clientId: number; region: { id: number } }) {
  return work(DELETE, {
    owner: ownerOf(scope),
    clusterId: cluster.id,
    pools: cluster.pools.map((pool) => pool.name),
  } satisfies DeletionInput);
}

/** The long work on clusters. */
export function clusterHandlers({
  backend,
  nodes,
  credentials,
  topics,
}: {
  backend: ClusterBackend;
  nodes: Nodes;
  credentials: { make(clusterId: string): Promise<void> };
  topics: LogTopics;
}): TaskHandler[] {
  const create: TaskHandler<CreationInput, void> = {
    type: CREATE,
    deadlineMs: DEADLINE_MS[CREATE],
    async run(run, { controlPlane, pools, configuration }) {
      const { clusterId } = controlPlane;
      try {
        await carryOut(run, 'create control plane', (key) => backend.createControlPlane(key, controlPlane));
        // The keys go straight to their table: what a step returns is recorded by the engine.
        await run.step('make credentials', () => credentials.make(clusterId));
        for (const pool of pools) {
          await carryOut(run, `create pool ${pool.name}`, (key) => backend.createPool(key, clusterId, pool));
        }
        for (const group of inOrder(changedGroups(DEFAULT_CONFIGURATION, configuration))) {
          await carryOut(run, `apply ${group}`, (key) => backend.apply(key, clusterId, group, configuration));
        }
        await carryOut(run, 'await ready', (key) => backend.awaitReady(key, clusterId));
      } catch (error) {
        const names = pools.map((pool) => pool.name);
        return failAfter(error, () => tearDown(run, backend, clusterId, names));
      }
    },
    async complete(tx, task, { controlPlane: { clusterId } }) {
      await nodes.finish(tx, task.id);
      await store.releaseCluster(tx, { clusterId, taskId: task.id });
      await keepLogTopic(tx, topics, clusterId);
      return { k8s_clusters: [clusterId] };
    },
    async abandon(tx, task, { controlPlane: { clusterId }, owner }) {
      const freed = await nodes.takeBack(tx, task.id);
      await removeCluster(tx, { clusterId, taskId: task.id }, owner, freed);
    },
  };

  const update: TaskHandler<UpdateInput, void> = {
    type: UPDATE,
    deadlineMs: DEADLINE_MS[UPDATE],
    async run(run, { clusterId, pools, current, wanted, changed }) {
      const { unfinished } = await carryOut(run, 'begin change', (key) =>
        backend.beginChange(key, clusterId, pools ?? []),
      );
      const tried: GroupName[] = [];
      try {
        if (unfinished && pools) {
          await carryOut(run, 'keep pools', (key) => backend.keepPools(key, clusterId, pools));
        }
        // What an earlier change left behind is nowhere written down, so every group is applied again.
        for (const group of unfinished ? APPLY_ORDER : inOrder(changed)) {
          tried.unshift(group);
          await carryOut(run, `apply ${group}`, (key) => backend.apply(key, clusterId, group, wanted));
        }
        await carryOut(run, 'await ready', (key) => backend.awaitReady(key, clusterId));
      } catch (error) {
        return failAfter(error, async () => {
          // Also the group that failed: a part of it may have been applied.
          for (const group of tried) {
            await carryOut(run, `put back ${group}`, (key) => backend.apply(key, clusterId, group, current));
          }
          await carryOut(run, 'await ready again', (key) => backend.awaitReady(key, clusterId));
        });
      }
    },
    async complete(tx, task, { clusterId, wanted }) {
      await store.releaseCluster(tx, { clusterId, taskId: task.id }, { configuration: wanted });
      await keepLogTopic(tx, topics, clusterId);
      return null;
    },
    async abandon(tx, task, { clusterId }) {
      await store.releaseCluster(tx, { clusterId, taskId: task.id });
    },
  };

  const remove: TaskHandler<DeletionInput, void> = {
    type: DELETE,
    deadlineMs: DEADLINE_MS[DELETE],
    run: (run, { clusterId, pools }) => tearDown(run, backend, clusterId, pools),
    async complete(tx, task, { clusterId, owner }) {
      const freed = await nodes.finish(tx, task.id);
      await removeCluster(tx, { clusterId, taskId: task.id }, owner, freed);
      return null;
    },
    // No status says "half deleted"; as Provisioned and free, the cluster can be deleted again.
    async abandon(tx, task, { clusterId }) {
      await nodes.takeBack(tx, task.id);
      await store.releaseCluster(tx, { clusterId, taskId: task.id });
    },
  };

  return [create, update, remove];
}

function inOrder(groups: readonly GroupName[]): GroupName[] {
  return APPLY_ORDER.filter((group) => groups.includes(group));
}
