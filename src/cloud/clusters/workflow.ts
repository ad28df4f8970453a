import type { Transaction } from '../../db/database.ts';
import type { TaskHandler, TaskRun } from '../../workflows/task-handler.ts';
import { releaseQuota } from '../quotas/quotas.ts';
import type { ClusterBackend, ControlPlane, Pace, PoolOfNodes } from './backend.ts';
import {
  type ClusterConfiguration,
  DEFAULT_CONFIGURATION,
  type GroupName,
} from './configuration/configuration.ts';
import { changedGroups } from './configuration/merge.ts';
import * as store from './store.ts';

const MINUTE_MS = 60_000;
const CREATE = 'create_k8s_cluster_v2';
const UPDATE = 'update_k8s_cluster_v2';
const DELETE = 'delete_k8s_cluster_v2';
/** Under the two hours for which the official clients wait. */
const DEADLINE_MS = { [CREATE]: 60 * MINUTE_MS, [UPDATE]: 30 * MINUTE_MS, [DELETE]: 60 * MINUTE_MS };

/**
 * The order in which groups are applied: the API server's own restart first, then the network that everything
 * runs over, then what runs in the cluster; Slurm last, since it needs all of it.
 */
const APPLY_ORDER: readonly GroupName[] = [
  'authentication',
  'cni',
  'autoscaler_config',
  'logging',
  'ddos_profile',
  'add_ons',
];

interface Owner {
  clientId: number;
  regionId: number;
}

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
}

interface DeletionInput {
  owner: Owner;
  clusterId: string;
  pools: string[];
}

const ownerOf = (scope: { clientId: number; region: { id: number } }): Owner => ({
  clientId: scope.clientId,
  regionId: scope.region.id,
});

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
    pools: cluster.pools.map((pool) => ({
      name: pool.name,
      flavorId: pool.flavor_id,
      nodeCount: pool.node_count,
    })),
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
export function clusterHandlers({ backend }: { backend: ClusterBackend }): TaskHandler[] {
  const create: TaskHandler<CreationInput, void> = {
    type: CREATE,
    deadlineMs: DEADLINE_MS[CREATE],
    async run(run, { controlPlane, pools, configuration }) {
      const { clusterId } = controlPlane;
      try {
        await carryOut(run, 'create control plane', (key) => backend.createControlPlane(key, controlPlane));
        for (const pool of pools) {
          await carryOut(run, `create pool ${pool.name}`, (key) => backend.createPool(key, clusterId, pool));
        }
        for (const group of inOrder(changedGroups(DEFAULT_CONFIGURATION, configuration))) {
          await carryOut(run, `apply ${group}`, (key) => backend.apply(key, clusterId, group, configuration));
        }
        await carryOut(run, 'await ready', (key) => backend.awaitReady(key, clusterId));
      } catch (error) {
        const names = pools.map((pool) => pool.name);
        return failAfter(error, () => tearDown(run, clusterId, names));
      }
    },
    async complete(tx, task, { controlPlane: { clusterId } }) {
      await store.releaseCluster(tx, { clusterId, taskId: task.id });
      return { k8s_clusters: [clusterId] };
    },
    abandon: (tx, task, { controlPlane: { clusterId }, owner }) =>
      removeCluster(tx, { clusterId, taskId: task.id }, owner),
  };

  const update: TaskHandler<UpdateInput, void> = {
    type: UPDATE,
    deadlineMs: DEADLINE_MS[UPDATE],
    async run(run, { clusterId, current, wanted, changed }) {
      const { unfinished } = await carryOut(run, 'begin change', (key) =>
        backend.beginChange(key, clusterId),
      );
      const tried: GroupName[] = [];
      try {
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
      await store.releaseCluster(tx, { clusterId, taskId: task.id }, wanted);
      return null;
    },
    abandon: (tx, task, { clusterId }) => store.releaseCluster(tx, { clusterId, taskId: task.id }),
  };

  const remove: TaskHandler<DeletionInput, void> = {
    type: DELETE,
    deadlineMs: DEADLINE_MS[DELETE],
    run: (run, { clusterId, pools }) => tearDown(run, clusterId, pools),
    async complete(tx, task, { clusterId, owner }) {
      await removeCluster(tx, { clusterId, taskId: task.id }, owner);
      return null;
    },
    // No status says "half deleted"; as Provisioned and free, the cluster can be deleted again.
    abandon: (tx, task, { clusterId }) => store.releaseCluster(tx, { clusterId, taskId: task.id }),
  };

  return [create, update, remove];

  async function tearDown(run: TaskRun, clusterId: string, poolNames: string[]): Promise<void> {
    for (const name of poolNames) {
      await carryOut(run, `delete pool ${name}`, (key) => backend.deletePool(key, clusterId, name));
    }
    await carryOut(run, 'delete control plane', (key) => backend.deleteControlPlane(key, clusterId));
  }
}

/** One piece of the backend's work, and the time until the next may begin. */
async function carryOut<Result extends Pace>(
  run: TaskRun,
  step: string,
  operation: (key: string) => Promise<Result>,
): Promise<Result> {
  const result = await run.step(step, () => operation(`${run.taskId}:${step}`));
  await run.sleep(result.settlesInMs);
  return result;
}

/** The task's reader is told what went wrong first; what went wrong while clearing up is in the server's log. */
async function failAfter(error: unknown, clearUp: () => Promise<void>): Promise<never> {
  await clearUp().catch(() => {});
  throw error;
}

function inOrder(groups: readonly GroupName[]): GroupName[] {
  return APPLY_ORDER.filter((group) => groups.includes(group));
}

async function removeCluster(
  tx: Transaction,
  held: { clusterId: string; taskId: string },
  owner: Owner,
): Promise<void> {
  if (await store.deleteCluster(tx, held)) await releaseQuota(tx, owner, 'cluster_count');
}
