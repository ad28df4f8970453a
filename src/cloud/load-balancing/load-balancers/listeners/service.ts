import { sql } from 'kysely';
import type { Transaction } from '../../../../db/database.ts';
import { ConflictError, type FieldProblem, InvalidError } from '../../../../lib/errors.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { waitingDeletion } from '../../../ground/tasks/behind/service.ts';
import { namedBalancer } from '../locks.ts';
import { virtualAddresses } from '../store.ts';
import { useListenerSecrets } from '../tls.ts';
import { changeTree } from '../tree/edits.ts';
import { balancerOf, findPart, listParts, presentedPart, presentedParts } from '../tree/parts.ts';
import type { PartRow } from '../tree/store.ts';
import { CREATE_LISTENER, DELETE_LISTENER, UPDATE_LISTENER } from '../tree/tasks.ts';
import { connectionLimit, insertListener, lowerCase, poolProblem, wantedListener } from './new-listener.ts';
import { canonicalRanges, listenerProblems, MAX_LISTENERS, rangeFamilyProblems } from './rules.ts';
import * as schema from './schema.ts';

/*
 * Changes return their task, which has finished already if nothing changes. All refuse with ConflictError while one holds
 * the load balancer.
 */

/** @throws InvalidError, ConflictError when the port is taken or the load balancer has the most listeners */
export const createListener = (
  on: Platform,
  scope: Scope,
  { load_balancer_id, default_pool_id, ...given }: schema.CreateListener,
): Promise<string> =>
  changeTree(on, scope, CREATE_LISTENER, namedBalancer(scope, load_balancer_id), async (tx, edit, balancer) => {
    const problems: FieldProblem[] = [];
    const listener = wantedListener(given, '', problems);
    const poolId = default_pool_id?.toLowerCase() ?? null;
    if (poolId !== null) {
      const pool = await poolIn(tx, balancer.id, poolId);
      const field = 'default_pool_id';
      if (pool) problems.push(...poolProblem(listener, pool.protocol, field));
      else problems.push({ field, message: `Load balancer ${balancer.id} has no pool ${poolId}.` });
    }
    problems.push(...(await familyProblems(tx, balancer.id, listener.allowed_cidrs)));
    if (problems.length > 0) throw new InvalidError(problems);
    if (listener.protocol !== 'PROMETHEUS') await refuseFull(tx, balancer.id);
    const id = await insertListener(tx, edit, listener, { defaultPoolId: poolId, at: '' });
    tx.about({ type: 'lblistener', id, name: listener.name });
    const { user_list: _, ...shown } = given;
    return { data: { ...shown, listener_id: id }, created: { listeners: [id] } };
  });

export async function listListeners(
  on: Platform,
  scope: Scope,
  query: schema.ListenerListQuery,
): Promise<{ count: number; results: schema.ListenerAnswer[] }> {
  const { load_balancer_id: balancerId, name } = query;
  const page = await listParts(
    on.database.sql,
    scope,
    'lb_listeners',
    [
      ...(balancerId === undefined ? [] : [sql`load_balancer_id = ${balancerId}`]),
      ...(name === undefined ? [] : [sql`strpos(name, ${name}) > 0`]),
    ],
    query,
  );
  const stats = query.show_stats ?? false;
  return presentedParts(
    on.database.sql,
    page,
    ({ listeners }) => listeners,
    (row, forest) => schema.presentedListener(row, forest, { stats }),
  );
}

/** @throws NotFoundError */
export async function getListener(
  on: Platform,
  scope: Scope,
  id: string,
  show: { stats: boolean } = { stats: false },
): Promise<schema.ListenerAnswer> {
  const row = await findPart(on.database.sql, scope, 'lb_listeners', id);
  return presentedPart(
    on.database.sql,
    row,
    ({ listeners }) => listeners,
    (one, forest) => schema.presentedListener(one, forest, show),
  );
}

/** @throws NotFoundError, InvalidError, ConflictError */
export const updateListener = (on: Platform, scope: Scope, id: string, request: schema.UpdateListener) =>
  changeTree(on, scope, UPDATE_LISTENER, balancerOf(scope, 'lb_listeners', id), async (tx, edit) => {
    const listener = await findPart(tx.sql, scope, 'lb_listeners', id);
    tx.about({ ...listener, type: 'lblistener' });
    const problems: FieldProblem[] = [];
    const values = changedListener(listener, request, problems);
    problems.push(...listenerProblems({ ...listener, ...values }, ''));
    if (request.allowed_cidrs) {
      problems.push(...(await familyProblems(tx, listener.load_balancer_id, values.allowed_cidrs)));
    }
    if (problems.length > 0) throw new InvalidError(problems);
    if (await edit.update('lb_listeners', listener, values)) {
      await useListenerSecrets(tx, edit, { ...listener, ...values }, { at: '', former: listener });
    }
    const { user_list: _, ...shown } = request;
    return { data: { ...shown, listener_id: listener.id }, created: { listeners: [listener.id] } };
  });

/**
 * Deletes it with its L7 policies, and its default pool if that is wanted.
 * @throws NotFoundError, ConflictError if something else uses the pool
 */
export const deleteListener = (on: Platform, scope: Scope, id: string, { defaultPool }: { defaultPool: boolean }) =>
  changeTree(on, scope, DELETE_LISTENER, balancerOf(scope, 'lb_listeners', id), async (tx, edit) => {
    const listener = await findPart(tx.sql, scope, 'lb_listeners', id);
    tx.about({ ...listener, type: 'lblistener' });
    const policies = await idsWhere(tx, sql`lb_l7_policies where listener_id = ${listener.id}`);
    const rules = await idsWhere(tx, sql`lb_l7_rules where l7_policy_id = any(${policies}::uuid[])`);
    await edit.remove('lb_l7_rules', rules);
    await edit.remove('lb_l7_policies', policies);
    await edit.remove('lb_listeners', [listener.id]);
    if (defaultPool && listener.default_pool_id !== null) {
      await refuseShared(tx, listener.default_pool_id, listener);
      await edit.remove('lb_members', await idsWhere(tx, sql`lb_members where pool_id = ${listener.default_pool_id}`));
      await edit.remove('lb_pools', [listener.default_pool_id]);
    }
    return { data: { listener_id: listener.id, delete_default_pool: defaultPool } };
  });

/** Returns the changed columns. A field that is left out stays; null restores the default. */
function changedListener(
  listener: PartRow<'lb_listeners'>,
  request: schema.UpdateListener,
  problems: FieldProblem[],
): Partial<PartRow<'lb_listeners'>> {
  const kept = <Name extends keyof typeof listener>(name: Name, given: (typeof listener)[Name] | undefined) =>
    given === undefined ? listener[name] : given;
  return {
    name: kept('name', request.name),
    admin_state_up: kept('admin_state_up', request.admin_state_up),
    connection_limit:
      request.connection_limit === undefined ? listener.connection_limit : connectionLimit(request.connection_limit),
    allowed_cidrs:
      request.allowed_cidrs === undefined
        ? listener.allowed_cidrs
        : canonicalRanges(request.allowed_cidrs, 'allowed_cidrs', problems),
    timeout_client_data: kept('timeout_client_data', request.timeout_client_data),
    timeout_member_connect: kept('timeout_member_connect', request.timeout_member_connect),
    timeout_member_data: kept('timeout_member_data', request.timeout_member_data),
    user_list: request.user_list === undefined ? listener.user_list : (request.user_list ?? []),
    secret_id: request.secret_id === undefined ? listener.secret_id : (request.secret_id?.toLowerCase() ?? null),
    sni_secret_ids:
      request.sni_secret_id === undefined ? listener.sni_secret_ids : lowerCase(request.sni_secret_id ?? []),
  };
}

async function familyProblems(tx: Transaction, balancerId: string, ranges: readonly string[] | null | undefined) {
  if (!ranges || ranges.length === 0) return [];
  return rangeFamilyProblems(ranges, await virtualAddresses(tx, balancerId), 'allowed_cidrs');
}

async function poolIn(tx: Transaction, loadBalancerId: string, poolId: string) {
  return tx.sql
    .selectFrom('lb_pools')
    .selectAll()
    .where('id', '=', poolId)
    .where('load_balancer_id', '=', loadBalancerId)
    .executeTakeFirst();
}

async function refuseFull(tx: Transaction, loadBalancerId: string): Promise<void> {
  const there = await idsWhere(
    tx,
    sql`lb_listeners where load_balancer_id = ${loadBalancerId} and protocol <> 'PROMETHEUS'`,
  );
  if (there.length < MAX_LISTENERS) return;
  throw new ConflictError(
    `Load balancer ${loadBalancerId} already has ${MAX_LISTENERS} listeners, the maximum; delete one first`,
  );
}

/** Refuses to delete a pool that others use. */
async function refuseShared(tx: Transaction, poolId: string, listener: PartRow<'lb_listeners'>): Promise<void> {
  const { rows } = await sql<{ what: string }>`
    select 'listener ' || name as what from lb_listeners where default_pool_id = ${poolId} and id <> ${listener.id}
    union all
    select 'L7 policy ' || id from lb_l7_policies
    where redirect_pool_id = ${poolId} and listener_id <> ${listener.id} limit 10`.execute(tx.sql);
  if (rows.length === 0) return;
  throw new ConflictError(
    `Pool ${poolId} is also used by ${rows.map(({ what }) => what).join(', ')}; leave delete_default_pool out`,
  );
}

async function idsWhere(tx: Transaction, where: ReturnType<typeof sql>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select id from ${where}`.execute(tx.sql);
  return rows.map(({ id }) => id);
}

export const listenerDeletion = waitingDeletion('delete_lblistener', deleteListener, ['listener_id']);
