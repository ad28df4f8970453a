import type { Transaction } from '../../../../db/database.ts';
import { ConflictError, type FieldProblem } from '../../../../lib/errors.ts';
import { newId } from '../../../../lib/ids.ts';
import type { Scope } from '../../../../platform.ts';
import { usePoolSecrets } from '../tls.ts';
import type { Edit, NewPart } from '../tree/edits.ts';
import { placeMembers } from './member-places.ts';
import { membersOf, monitorOf, NO_SECRETS, persistenceOf, poolSecretsOf, type WantedMember } from './rules.ts';
import { MAX_POOLS, type NewPool } from './schema.ts';

export interface WantedPool {
  pool: NewPart<'lb_pools'>;
  members: WantedMember[];
  /** The prefix of its fields in the request. */
  at: string;
}

/** Returns the pool that a request asks for, and adds its problems. `at` is the prefix of its fields. */
export function wantedPool(given: NewPool, at: string, problems: FieldProblem[]): WantedPool {
  const { protocol, healthmonitor = null, session_persistence = null } = given;
  return {
    pool: {
      name: given.name,
      protocol,
      lb_algorithm: given.lb_algorithm,
      admin_state_up: true,
      session_persistence: persistenceOf(session_persistence, protocol, `${at}session_persistence`, problems),
      health_monitor: healthmonitor && monitorOf(healthmonitor, null, protocol, `${at}healthmonitor.`, problems),
      timeout_client_data: given.timeout_client_data ?? null,
      timeout_member_connect: given.timeout_member_connect ?? null,
      timeout_member_data: given.timeout_member_data ?? null,
      ...poolSecretsOf(given, NO_SECRETS, protocol, at, problems),
    },
    members: membersOf(given.members ?? [], `${at}members.`, problems),
    at,
  };
}

/** IDs of what was inserted, as tasks show them. */
export interface MadePools {
  pools: string[];
  members: string[];
  healthmonitors: string[];
}

/** Writes pools with their members. @throws InvalidError for members that are nowhere */
export async function insertPools(
  tx: Transaction,
  scope: Scope,
  edit: Edit,
  wanted: readonly WantedPool[],
): Promise<MadePools> {
  const withIds = wanted.map((one) => ({ id: newId(), ...one }));
  const placed = await placeMembers(
    tx,
    scope,
    withIds.flatMap(({ members }) => members),
  );
  const pools = await edit.insert(
    'lb_pools',
    withIds.map(({ id, pool }) => ({ ...pool, id })),
  );
  for (const { id, pool, at } of withIds) await usePoolSecrets(tx, edit, { ...pool, id }, { at });
  const poolIds = withIds.flatMap(({ id, members }) => members.map(() => id));
  const members = await edit.insert(
    'lb_members',
    placed.map((member, index) => ({ ...member, pool_id: poolIds[index] ?? '' })),
  );
  return {
    pools,
    members,
    healthmonitors: wanted.flatMap(({ pool }) => pool.health_monitor?.id ?? []),
  };
}

/** @throws ConflictError */
export async function refuseMorePools(tx: Transaction, loadBalancerId: string): Promise<void> {
  const { count } = await tx.sql
    .selectFrom('lb_pools')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('load_balancer_id', '=', loadBalancerId)
    .executeTakeFirstOrThrow();
  if (Number(count) < MAX_POOLS) return;
  throw new ConflictError(
    `Load balancer ${loadBalancerId} already has ${MAX_POOLS} pools, the maximum; delete one first`,
  );
}
