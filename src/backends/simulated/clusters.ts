import { sql } from 'kysely';
import type { ClusterBackend, Pace } from '../../cloud/clusters/backend.ts';
import type { Database, Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { TaskFailure } from '../../workflows/task-handler.ts';
import type { SimulatedClusterTables } from './cluster-tables.ts';

/** Applying logging to a topic of this name always fails, so that clients can see what a failed task looks like. */
export const FAILING_TOPIC = 'simulate-failure';

type Pools = Record<string, number>;
type KnownSettings = Record<string, { revision: number }>;
type Phase = SimulatedClusterTables['simulated_clusters']['phase'];

/** How long each operation takes at speed 1: a creation about 2 s in all, a change about 0.5 s. */
const SETTLES_IN_MS = {
  createControlPlane: 900,
  createPool: 100,
  beginChange: 100,
  apply: 40,
  awaitReady: 160,
  startNodes: 600,
  resizePool: 200,
  configurePool: 100,
  upgradeControlPlane: 400,
  upgradePool: 100,
  deletePool: 100,
  deleteControlPlane: 400,
} as const;

interface Operation {
  key: string;
  clusterId: string;
  name: string;
  detail?: string;
  /** Phases in which it is possible. */
  from: readonly Phase[];
  set: {
    phase?: Phase;
    pools?: (now: Pools) => Pools;
    /** By pool; older ones than those known are ignored. */
    poolSettings?: KnownSettings;
    settings?: object;
    version?: string;
  };
}

/**
 * Clusters that only exist in two tables of their own. Every operation takes effect once per key, as a state machine
 * with a revision that counts the effects; nobody waits here, since the tasks do.
 */
export function createSimulatedClusters(deps: {
  database: Database;
  clock: Clock;
  speed: number;
}): ClusterBackend {
  const { database, clock, speed } = deps;
  const pace = (ms: number): Pace => ({ settlesInMs: Math.round(ms / speed) });

  return {
    async createControlPlane(key, { clusterId, version }) {
      await database.transaction(async (tx) => {
        const { numInsertedOrUpdatedRows } = await tx.sql
          .insertInto('simulated_clusters')
          .values({
            cluster_id: clusterId,
            phase: 'building',
            version,
            pools: JSON.stringify({}),
            settings: JSON.stringify({}),
            pool_settings: JSON.stringify({}),
            revision: 1,
          })
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows === 1n) {
          await record(tx, { key, clusterId, name: 'createControlPlane' }, 1);
        }
      });
      return pace(SETTLES_IN_MS.createControlPlane);
    },

    async createPool(key, clusterId, { name, nodeCount, settings }) {
      await once({
        key,
        clusterId,
        name: 'createPool',
        detail: name,
        from: ['building', 'changing'],
        set: { pools: (now) => ({ ...now, [name]: nodeCount }), poolSettings: { [name]: settings } },
      });
      return pace(SETTLES_IN_MS.createPool);
    },

    async resizePool(key, clusterId, { name, nodeCount }) {
      await once({
        key,
        clusterId,
        name: 'resizePool',
        detail: name,
        from: ['changing'],
        set: { pools: (now) => ({ ...now, [name]: nodeCount }) },
      });
      return pace(SETTLES_IN_MS.resizePool);
    },

    async replaceNode(key, clusterId, poolName, { goneId }) {
      const detail = `${poolName} ${goneId}`;
      await once({ key, clusterId, name: 'replaceNode', detail, from: ['changing'], set: {} });
      return pace(SETTLES_IN_MS.resizePool);
    },

    async configurePool(key, clusterId, poolName, settings) {
      await database.transaction(async (tx) => {
        const cluster = await lock(tx, clusterId);
        if (!cluster || !Object.hasOwn(cluster.pools, poolName) || (await isRecorded(tx, key))) return;
        const known = cluster.pool_settings[poolName];
        if (known && known.revision >= settings.revision) return;
        const revision = cluster.revision + 1;
        await tx.sql
          .updateTable('simulated_clusters')
          .set({
            revision,
            pool_settings: sql`pool_settings || ${JSON.stringify({ [poolName]: settings })}::jsonb`,
          })
          .where('cluster_id', '=', clusterId)
          .execute();
        await record(tx, { key, clusterId, name: 'configurePool', detail: poolName }, revision);
      });
      return pace(SETTLES_IN_MS.configurePool);
    },

    async keepPools(key, clusterId, pools) {
      const kept = Object.fromEntries(pools.map(({ name, nodeCount }) => [name, nodeCount]));
      const poolSettings = Object.fromEntries(pools.map(({ name, settings }) => [name, settings]));
      const set = { pools: () => kept, poolSettings };
      await once({ key, clusterId, name: 'keepPools', from: ['changing'], set });
      return pace(SETTLES_IN_MS.resizePool);
    },

    async beginChange(key, clusterId, pools) {
      const { phase, pool_settings: known } = await once({
        key,
        clusterId,
        name: 'beginChange',
        from: ['ready', 'changing'],
        set: { phase: 'changing' },
      });
      const missed = pools.some(({ name, settings }) => (known[name]?.revision ?? -1) < settings.revision);
      return { ...pace(SETTLES_IN_MS.beginChange), unfinished: phase === 'changing' || missed };
    },

    async apply(key, clusterId, group, configuration) {
      if (group === 'logging' && configuration.logging?.topic_name === FAILING_TOPIC) {
        throw new TaskFailure(
          `Logging could not be set up: the simulated log service refused topic ${FAILING_TOPIC}, which stands for a failure`,
        );
      }
      await once({
        key,
        clusterId,
        name: 'apply',
        detail: group,
        from: ['building', 'changing'],
        set: { settings: { [group]: configuration[group] } },
      });
      return pace(SETTLES_IN_MS.apply);
    },

    async upgradeControlPlane(key, clusterId, version) {
      await once({
        key,
        clusterId,
        name: 'upgradeControlPlane',
        detail: version,
        from: ['changing'],
        set: { version },
      });
      return pace(SETTLES_IN_MS.upgradeControlPlane);
    },

    async upgradePool(key, clusterId, poolName) {
      await once({ key, clusterId, name: 'upgradePool', detail: poolName, from: ['changing'], set: {} });
      return pace(SETTLES_IN_MS.upgradePool);
    },

    async awaitReady(key, clusterId) {
      const { phase } = await once({
        key,
        clusterId,
        name: 'awaitReady',
        from: ['building', 'changing'],
        set: { phase: 'ready' },
      });
      return pace(phase === 'building' ? SETTLES_IN_MS.startNodes : SETTLES_IN_MS.awaitReady);
    },

    async deletePool(key, clusterId, poolName) {
      await database.transaction(async (tx) => {
        const cluster = await lock(tx, clusterId);
        if (!cluster || !Object.hasOwn(cluster.pools, poolName)) return;
        const { [poolName]: _, ...pools } = cluster.pools;
        const revision = cluster.revision + 1;
        await tx.sql
          .updateTable('simulated_clusters')
          .set({
            phase: cluster.phase === 'changing' ? 'changing' : 'deleting',
            pools: JSON.stringify(pools),
            pool_settings: JSON.stringify(settingsOf(pools, cluster.pool_settings)),
            revision,
          })
          .where('cluster_id', '=', clusterId)
          .execute();
        await record(tx, { key, clusterId, name: 'deletePool', detail: poolName }, revision);
      });
      return pace(SETTLES_IN_MS.deletePool);
    },

    async deleteControlPlane(_key, clusterId) {
      await database.sql.deleteFrom('simulated_clusters').where('cluster_id', '=', clusterId).execute();
      return pace(SETTLES_IN_MS.deleteControlPlane);
    },
  };

  /** Changes the cluster and records it, unless that was done already. Answers it as it was before. */
  async function once({ key, clusterId, name, detail, from, set }: Operation) {
    return database.transaction(async (tx) => {
      const cluster = await lock(tx, clusterId);
      if (!cluster) throw new TaskFailure(`The simulated infrastructure has no cluster ${clusterId}`);
      if (await isRecorded(tx, key)) return cluster;
      if (!from.includes(cluster.phase)) {
        throw new TaskFailure(`The simulated cluster is ${cluster.phase}, which does not allow ${name}`);
      }
      const revision = cluster.revision + 1;
      const pools = set.pools ? set.pools(cluster.pools) : cluster.pools;
      await tx.sql
        .updateTable('simulated_clusters')
        .set({
          revision,
          phase: set.phase ?? cluster.phase,
          version: set.version ?? cluster.version,
          pools: JSON.stringify(pools),
          pool_settings: JSON.stringify(settingsOf(pools, cluster.pool_settings, set.poolSettings)),
          settings: sql`settings || ${JSON.stringify(set.settings ?? {})}::jsonb`,
        })
        .where('cluster_id', '=', clusterId)
        .execute();
      await record(tx, { key, clusterId, name, ...(detail !== undefined && { detail }) }, revision);
      return cluster;
    });
  }

  async function record(
    tx: Transaction,
    operation: Pick<Operation, 'key' | 'clusterId' | 'name' | 'detail'>,
    revision: number,
  ): Promise<void> {
    await tx.sql
      .insertInto('simulated_cluster_operations')
      .values({
        key: operation.key,
        cluster_id: operation.clusterId,
        operation: operation.name,
        detail: operation.detail ?? null,
        revision,
        applied_at: clock.now(),
      })
      .execute();
  }
}

/** The newest settings of each pool that there is. */
function settingsOf(pools: Pools, known: KnownSettings, given: KnownSettings = {}): KnownSettings {
  const names = Object.keys(pools);
  return Object.fromEntries(
    names.flatMap((name) => {
      const [old, next] = [known[name], given[name]];
      const newest = !old || (next && next.revision > old.revision) ? next : old;
      return newest ? [[name, newest]] : [];
    }),
  );
}

async function lock(tx: Transaction, clusterId: string) {
  return tx.sql
    .selectFrom('simulated_clusters')
    .selectAll()
    .where('cluster_id', '=', clusterId)
    .forUpdate()
    .executeTakeFirst();
}

async function isRecorded(tx: Transaction, key: string): Promise<boolean> {
  const row = await tx.sql
    .selectFrom('simulated_cluster_operations')
    .select('key')
    .where('key', '=', key)
    .executeTakeFirst();
  return row !== undefined;
}
