import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { MachineSpec } from '../../../backends/contract/specs.ts';
import type { Transaction } from '../../../db/database.ts';
import type { Place } from '../../../db/place.ts';
import { ConflictError, InvalidError } from '../../../lib/errors.ts';
import { refuseHeld } from '../../../lib/held.ts';
import { isUuid } from '../../../lib/ids.ts';
import { refuseDoomed } from '../../ground/tasks/in-transaction.ts';
import { insertGroups, keepGroup } from './store.ts';
import type { GroupPolicy } from './tables.ts';

/** What instances and pools do with placement groups. Lock instances before them. */

/**
 * Puts an instance into a group, which can't be deleted then. The instance must be in none.
 * @throws InvalidError for an unknown group, ConflictError for one of a pool or one that is or will be deleted
 */
export async function join(
  tx: Transaction,
  place: Place,
  groupId: string,
  instanceId: string,
): Promise<void> {
  const group = isUuid(groupId) ? await keepGroup(tx, place, groupId) : undefined;
  if (!group) {
    throw new InvalidError({
      servergroup_id: [`No placement group ${groupId} in this project and region.`],
    });
  }
  refuseHeld(`Placement group ${group.id}`, group);
  if (group.pool_id !== null) {
    throw new ConflictError(
      `Placement group ${group.id} belongs to pool ${group.pool_id} of a cluster; only its nodes can be in it`,
    );
  }
  await refuseDoomed(tx, place, `Placement group ${group.id}`, { type: 'delete_servergroup', id: group.id });
  const member = { instance_id: instanceId, server_group_id: group.id };
  await tx.sql.insertInto('server_group_members').values(member).execute();
}

export async function leave(tx: Transaction, instanceId: string): Promise<void> {
  await tx.sql.deleteFrom('server_group_members').where('instance_id', '=', instanceId).execute();
}

/** The spec of a machine in no group. */
export function withoutGroup({ serverGroupId: _, ...spec }: MachineSpec): MachineSpec {
  return spec;
}

/** Returns the group that the instance is in. */
export async function groupOf(tx: Transaction, instanceId: string): Promise<string | undefined> {
  const member = await tx.sql
    .selectFrom('server_group_members')
    .select('server_group_id')
    .where('instance_id', '=', instanceId)
    .executeTakeFirst();
  return member?.server_group_id;
}

export interface PoolWithPolicy {
  id: string;
  name: string;
  servergroup_policy: string | null;
}

/** How many groups such pools need. */
export const groupsFor = (pools: readonly { servergroup_policy?: string | null }[]): number =>
  pools.filter(({ servergroup_policy: policy }) => (policy ?? null) !== null).length;

/** Makes the groups of new pools. The caller takes their quota, one for each pool with a policy. */
export async function addForPools(
  tx: Transaction,
  place: Place,
  clusterName: string,
  pools: readonly PoolWithPolicy[],
): Promise<void> {
  const groups = pools.flatMap(({ id, name, servergroup_policy: policy }) =>
    policy === null
      ? []
      : [
          {
            id: randomUUID(),
            project_id: place.projectId,
            region_id: place.regionId,
            name: `${clusterName}-${name}`,
            policy: policy as GroupPolicy,
            pool_id: id,
            task_id: null,
            created_at: tx.now,
          },
        ],
  );
  await insertGroups(tx.sql, groups);
}

/** Returns how many groups go with the pool, or with all pools of a cluster. Releases nothing. */
export async function countOf(
  tx: Transaction,
  of: { poolId: string } | { clusterId: string },
): Promise<number> {
  const pools =
    'poolId' in of
      ? sql`select ${of.poolId}::uuid`
      : sql`select id from kubernetes_pools where cluster_id = ${of.clusterId}`;
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from server_groups where pool_id in (${pools})`.execute(tx.sql);
  return rows[0]?.count ?? 0;
}
