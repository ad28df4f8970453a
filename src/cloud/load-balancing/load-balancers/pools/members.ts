import { sql } from 'kysely';
import { type Transaction, violates } from '../../../../db/database.ts';
import type { HealthMonitor } from '../../../../db/json-columns.ts';
import { ConflictError, type FieldProblem, InvalidError, NotFoundError } from '../../../../lib/errors.ts';
import { orderOf } from '../../../../lib/page.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { waitingDeletion } from '../../../ground/tasks/behind/service.ts';
import { lockedPool } from '../locks.ts';
import { changeTree, changeTreeNow, type Edit } from '../tree/edits.ts';
import { balancerOf, findPart, listParts, presentedPart, presentedParts } from '../tree/parts.ts';
import type { PartRow } from '../tree/store.ts';
import * as tasks from '../tree/tasks.ts';
import { type PlacedMember, placeMembers } from './member-places.ts';
import { changedMember, memberOf, membersOf, monitorOf, type WantedMember } from './rules.ts';
import * as schema from './schema.ts';

/**
 * Gives a pool these members. Those that have the address and port of a wanted one are kept, with the rest of its
 * values. Returns the IDs of all, in the order of the wanted ones. @throws InvalidError for members that are nowhere
 */
export async function replaceMembers(
  tx: Transaction,
  scope: Scope,
  edit: Edit,
  poolId: string,
  wanted: readonly WantedMember[],
): Promise<string[]> {
  const there = await tx.sql.selectFrom('lb_members').selectAll().where('pool_id', '=', poolId).execute();
  const rowOf = (one: Endpoint) => there.find((row) => same(row, one));
  const staying = (one: WantedMember) => {
    const row = rowOf(one);
    return row?.subnet_id === one.subnet_id && row.instance_id === one.instance_id;
  };
  // A member stays when its instance goes, and clients send it back when they change another one.
  const kept = wanted.filter(staying).map(({ at: _, ...member }): PlacedMember => member);
  const moved = await placeMembers(
    tx,
    scope,
    wanted.filter((one) => !staying(one)),
  );
  const placed = [...kept, ...moved];
  const gone = there.filter((row) => !placed.some((member) => same(member, row)));
  const fresh = placed.filter((member) => !rowOf(member));
  await edit.remove(
    'lb_members',
    gone.map(({ id }) => id),
  );
  const freshIds = await edit.insert(
    'lb_members',
    fresh.map((member) => ({ ...member, pool_id: poolId })),
  );
  for (const row of there) {
    const member = placed.find((one) => same(one, row));
    if (member) await edit.update('lb_members', row, member);
  }
  const idOf = (one: Endpoint) => rowOf(one)?.id ?? freshIds[fresh.findIndex((member) => same(member, one))];
  return wanted.flatMap((one) => idOf(one) ?? []);
}

type Endpoint = Pick<WantedMember, 'address' | 'protocol_port'>;

const same = (one: Endpoint, other: Endpoint) =>
  one.address === other.address && one.protocol_port === other.protocol_port;

/*
 * Members of pools. All refuse with NotFoundError for an unknown pool or member. Changes return their task, and refuse with
 * ConflictError while one holds the load balancer.
 */

export async function listPoolMembers(
  on: Platform,
  scope: Scope,
  poolId: string,
  query: schema.MemberListQuery,
): Promise<{ count: number; results: schema.MemberAnswer[] }> {
  const pool = await findPart(on.database.sql, scope, 'lb_pools', poolId);
  const [column, direction] = orderOf(query.order_by ?? 'address.asc');
  const order = sql.join([column, 'protocol_port', 'id'].map((name) => sql`${sql.ref(name)} ${sql.raw(direction)}`));
  return presentedParts(
    on.database.sql,
    await listParts(on.database.sql, scope, 'lb_members', [sql`pool_id = ${pool.id}`], query, order),
    ({ members }) => members,
    schema.presentedMember,
  );
}

export async function getPoolMember(
  on: Platform,
  scope: Scope,
  poolId: string,
  id: string,
): Promise<schema.MemberAnswer> {
  const pool = await findPart(on.database.sql, scope, 'lb_pools', poolId);
  const row = memberIn(pool, await findPart(on.database.sql, scope, 'lb_members', id));
  return presentedPart(on.database.sql, row, ({ members }) => members, schema.presentedMember);
}

/** @throws InvalidError, ConflictError for an address and port that the pool has, or when it is full */
export const addPoolMember = (on: Platform, scope: Scope, poolId: string, request: schema.CreateMember) =>
  changeTree(on, scope, tasks.CREATE_MEMBER, balancerOf(scope, 'lb_pools', poolId), async (tx, edit) => {
    const pool = await lockedPool(tx, scope, poolId);
    const problems: FieldProblem[] = [];
    const wanted = memberOf(request, '', problems);
    if (problems.length > 0) throw new InvalidError(problems);
    const [member] = await placeMembers(tx, scope, [wanted]);
    if (!member) throw new TypeError('each member is placed');
    await refuseMore(tx, pool);
    const inserting = edit.insert('lb_members', [{ ...member, pool_id: pool.id }]);
    const members = await inserting.catch((error: unknown) => {
      if (!violates(error, 'lb_members_address')) throw error;
      throw new ConflictError(
        `Pool ${pool.name} already has a member ${member.address} with port ${member.protocol_port}`,
      );
    });
    tx.about({ type: 'lbpool_member', id: members[0] ?? '', name: member.address });
    return { data: { ...request, pool_id: pool.id, member_id: members[0] }, created: { members } };
  });

/** A field that is left out stays. @throws InvalidError */
export const updatePoolMember = (
  on: Platform,
  scope: Scope,
  poolId: string,
  id: string,
  request: schema.UpdateMember,
): Promise<string> =>
  changeTree(on, scope, tasks.UPDATE_MEMBER, balancerOf(scope, 'lb_pools', poolId), async (tx, edit) => {
    const pool = await lockedPool(tx, scope, poolId);
    const member = await lockedMember(tx, scope, pool, id);
    const problems: FieldProblem[] = [];
    const values = changedMember(member, request, problems);
    if (problems.length > 0) throw new InvalidError(problems);
    await edit.update('lb_members', member, values);
    return { data: { ...request, pool_id: pool.id, member_id: member.id } };
  });

/** Those with the same address and port are kept. @throws InvalidError */
export const replacePoolMembers = (
  on: Platform,
  scope: Scope,
  poolId: string,
  request: readonly schema.CreateMember[],
): Promise<string> =>
  changeTree(on, scope, tasks.UPDATE_POOL, balancerOf(scope, 'lb_pools', poolId), async (tx, edit) => {
    const pool = await lockedPool(tx, scope, poolId);
    const problems: FieldProblem[] = [];
    const wanted = membersOf(request, '', problems);
    if (problems.length > 0) throw new InvalidError(problems);
    const members = await replaceMembers(tx, scope, edit, pool.id, wanted);
    return { data: { members: request, pool_id: pool.id }, created: { members } };
  });

export const removePoolMember = (on: Platform, scope: Scope, poolId: string, id: string): Promise<string> =>
  changeTree(on, scope, tasks.DELETE_MEMBER, balancerOf(scope, 'lb_pools', poolId), async (tx, edit) => {
    const pool = await lockedPool(tx, scope, poolId);
    const member = await lockedMember(tx, scope, pool, id);
    await edit.remove('lb_members', [member.id]);
    return { data: { pool_id: pool.id, member_id: member.id } };
  });

async function lockedMember(
  tx: Transaction,
  scope: Scope,
  pool: PartRow<'lb_pools'>,
  id: string,
): Promise<PartRow<'lb_members'>> {
  const member = memberIn(pool, await findPart(tx.sql, scope, 'lb_members', id));
  tx.about({ type: 'lbpool_member', id: member.id, name: member.address });
  return member;
}

/** @throws NotFoundError for a member of another pool */
function memberIn(pool: PartRow<'lb_pools'>, member: PartRow<'lb_members'>): PartRow<'lb_members'> {
  if (member.pool_id !== pool.id) throw new NotFoundError('Member', member.id);
  return member;
}

async function refuseMore(tx: Transaction, pool: PartRow<'lb_pools'>): Promise<void> {
  const { count } = await tx.sql
    .selectFrom('lb_members')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('pool_id', '=', pool.id)
    .executeTakeFirstOrThrow();
  if (Number(count) < schema.MAX_MEMBERS) return;
  throw new ConflictError(`Pool ${pool.name} already has ${schema.MAX_MEMBERS} members, the maximum`);
}

export const poolMemberDeletion = waitingDeletion('delete_lbmember', removePoolMember, ['pool_id', 'member_id']);

/*
 * Health monitors of pools. All refuse with NotFoundError for an unknown pool, changes with ConflictError while a task holds
 * the load balancer.
 */

/** @throws NotFoundError, also for a pool without one */
export async function getHealthMonitor(
  on: Platform,
  scope: Scope,
  poolId: string,
): Promise<schema.HealthMonitorAnswer> {
  const row = await findPart(on.database.sql, scope, 'lb_pools', poolId);
  const { healthmonitor } = await presentedPart(on.database.sql, row, ({ pools }) => pools, schema.presentedPool);
  if (!healthmonitor) throw noMonitor(poolId);
  return healthmonitor;
}

/** Returns the task that adds a monitor. @throws InvalidError, ConflictError if the pool has one */
export const addHealthMonitor = (on: Platform, scope: Scope, poolId: string, request: schema.CreateHealthMonitor) =>
  changeTree(on, scope, tasks.CREATE_MONITOR, balancerOf(scope, 'lb_pools', poolId), async (tx, edit) => {
    const pool = await lockedPool(tx, scope, poolId);
    if (pool.health_monitor) {
      throw new ConflictError(
        `Pool ${pool.name} already has the health monitor ${pool.health_monitor.id}; change that one, or delete it first`,
      );
    }
    const problems: FieldProblem[] = [];
    const monitor = monitorOf(request, null, pool.protocol, '', problems);
    if (problems.length > 0) throw new InvalidError(problems);
    tx.about({ type: 'lb_health_monitor', id: monitor.id, name: null });
    await edit.update('lb_pools', pool, { health_monitor: monitor });
    const created = { healthmonitors: [monitor.id] };
    return { data: { ...request, pool_id: pool.id }, created };
  });

/** Returns the task, which has finished already if nothing changes. @throws NotFoundError, also for a pool without one; InvalidError */
export const updateHealthMonitor = (on: Platform, scope: Scope, poolId: string, request: schema.UpdateHealthMonitor) =>
  changeTree(on, scope, tasks.UPDATE_MONITOR, balancerOf(scope, 'lb_pools', poolId), async (tx, edit) => {
    const pool = await lockedPool(tx, scope, poolId);
    const current = knownMonitor(tx, pool);
    const problems: FieldProblem[] = [];
    const monitor = monitorOf({ ...current, ...request }, current, pool.protocol, '', problems);
    if (problems.length > 0) throw new InvalidError(problems);
    await edit.update('lb_pools', pool, { health_monitor: monitor });
    return { data: { ...request, pool_id: pool.id } };
  });

/** Removes the monitor at once. @throws NotFoundError, also for a pool without one */
export const removeHealthMonitor = (on: Platform, scope: Scope, poolId: string): Promise<void> =>
  changeTreeNow(on, scope, balancerOf(scope, 'lb_pools', poolId), async (tx) => {
    const pool = await lockedPool(tx, scope, poolId);
    knownMonitor(tx, pool);
    return { table: 'lb_pools', id: pool.id, values: { health_monitor: null } };
  });

/** Returns the monitor that a change is about. @throws NotFoundError */
function knownMonitor(tx: Transaction, pool: PartRow<'lb_pools'>): HealthMonitor {
  if (!pool.health_monitor) throw noMonitor(pool.id);
  tx.about({ type: 'lb_health_monitor', id: pool.health_monitor.id, name: null });
  return pool.health_monitor;
}

const noMonitor = (poolId: string) => new NotFoundError('Health monitor of pool', poolId);
