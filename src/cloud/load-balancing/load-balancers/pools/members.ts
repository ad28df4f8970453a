import { sql } from 'kysely';
import { type Transaction, violates } from '../../../../db/database.ts';
import { ConflictError, type FieldProblem, InvalidError, NotFoundError } from '../../../../lib/errors.ts';
import { orderOf } from '../../../../lib/page.ts';
import type { Platform } from '../../../../platform.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import type { Rest, WaitingDeletion } from '../../../ground/tasks/behind/service.ts';
import { changeTree } from '../tree/edits.ts';
import { balancerOf, findPart, listParts, presentedPart, presentedParts } from '../tree/parts.ts';
import type { PartRow } from '../tree/store.ts';
import { CREATE_MEMBER, DELETE_MEMBER, UPDATE_MEMBER, UPDATE_POOL } from '../tree/tasks.ts';
import { lockedPool } from './locked.ts';
import { placeMembers } from './member-places.ts';
import { replaceMembers } from './replacement.ts';
import { changedMember, memberOf, membersOf } from './rules.ts';
import {
  type CreateMember,
  MAX_MEMBERS,
  type MemberAnswer,
  type MemberListQuery,
  presentedMember,
  type UpdateMember,
} from './schema.ts';

/*
 * Members of pools. All refuse with NotFoundError for an unknown pool or member. Changes return their task, and refuse with
 * ConflictError while one holds the load balancer.
 */

export async function listPoolMembers(
  on: Platform,
  scope: Scope,
  poolId: string,
  query: MemberListQuery,
): Promise<{ count: number; results: MemberAnswer[] }> {
  const pool = await findPart(on.database.sql, scope, 'lb_pools', poolId);
  const [column, direction] = orderOf(query.order_by ?? 'address.asc');
  const order = sql.join(
    [column, 'protocol_port', 'id'].map((name) => sql`${sql.ref(name)} ${sql.raw(direction)}`),
  );
  return presentedParts(
    on.database.sql,
    await listParts(on.database.sql, scope, 'lb_members', [sql`pool_id = ${pool.id}`], query, order),
    ({ members }) => members,
    presentedMember,
  );
}

export async function getPoolMember(
  on: Platform,
  scope: Scope,
  poolId: string,
  id: string,
): Promise<MemberAnswer> {
  const pool = await findPart(on.database.sql, scope, 'lb_pools', poolId);
  const row = memberIn(pool, await findPart(on.database.sql, scope, 'lb_members', id));
  return presentedPart(on.database.sql, row, ({ members }) => members, presentedMember);
}

/** @throws InvalidError, ConflictError for an address and port that the pool has, or when it is full */
export const addPoolMember = (
  on: Platform,
  scope: Scope,
  poolId: string,
  request: CreateMember,
): Promise<string> =>
  changeTree(on, scope, CREATE_MEMBER, balancerOf(scope, 'lb_pools', poolId), async (tx, edit) => {
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
  request: UpdateMember,
): Promise<string> =>
  changeTree(on, scope, UPDATE_MEMBER, balancerOf(scope, 'lb_pools', poolId), async (tx, edit) => {
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
  request: readonly CreateMember[],
): Promise<string> =>
  changeTree(on, scope, UPDATE_POOL, balancerOf(scope, 'lb_pools', poolId), async (tx, edit) => {
    const pool = await lockedPool(tx, scope, poolId);
    const problems: FieldProblem[] = [];
    const wanted = membersOf(request, '', problems);
    if (problems.length > 0) throw new InvalidError(problems);
    const members = await replaceMembers(tx, scope, edit, pool.id, wanted);
    return { data: { members: request, pool_id: pool.id }, created: { members } };
  });

export const removePoolMember = (on: Platform, scope: Scope, poolId: string, id: string): Promise<string> =>
  changeTree(on, scope, DELETE_MEMBER, balancerOf(scope, 'lb_pools', poolId), async (tx, edit) => {
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
  if (Number(count) < MAX_MEMBERS) return;
  throw new ConflictError(`Pool ${pool.name} already has ${MAX_MEMBERS} members, the maximum`);
}

/** A deletion that may wait for what still uses the thing. */
export const poolMemberDeletion: WaitingDeletion<Rest<typeof removePoolMember>> = {
  type: 'delete_lbmember',
  remove: removePoolMember,
  names: ['pool_id', 'member_id'],
  options: [],
};
