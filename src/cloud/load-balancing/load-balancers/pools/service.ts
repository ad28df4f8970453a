import { sql } from 'kysely';
import type { Transaction } from '../../../../db/database.ts';
import { ConflictError, type FieldProblem, InvalidError, NotFoundError } from '../../../../lib/errors.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { waitingDeletion } from '../../../ground/tasks/behind/service.ts';
import { poolMisfit } from '../listeners/rules.ts';
import { lockedPool, namedBalancer } from '../locks.ts';
import { usePoolSecrets } from '../tls.ts';
import { changeTree } from '../tree/edits.ts';
import { balancerOf, findPart, listParts, presentedPart, presentedParts } from '../tree/parts.ts';
import type { PartRow } from '../tree/store.ts';
import { CREATE_POOL, DELETE_POOL, UPDATE_POOL } from '../tree/tasks.ts';
import { replaceMembers } from './members.ts';
import { insertPools, refuseMorePools, wantedPool } from './new-pool.ts';
import { membersOf, monitorOf, persistenceOf, poolSecretsOf } from './rules.ts';
import * as schema from './schema.ts';

/*
 * Changes return their task, which has finished already if nothing changes. All refuse with ConflictError while one holds
 * the load balancer.
 */

/** @throws InvalidError, ConflictError when the listener has a default pool or the load balancer the most pools */
export const createPool = (
  on: Platform,
  scope: Scope,
  { load_balancer_id = null, listener_id = null, ...given }: schema.CreatePool,
): Promise<string> =>
  changeTree(
    on,
    scope,
    CREATE_POOL,
    (tx) => balancerFor(tx, scope, { load_balancer_id, listener_id }),
    async (tx, edit, balancer) => {
      const problems: FieldProblem[] = [];
      const wanted = wantedPool(given, '', problems);
      const listener = listener_id === null ? undefined : await findPart(tx.sql, scope, 'lb_listeners', listener_id);
      const misfit = listener && poolMisfit(listener.protocol, given.protocol);
      if (misfit !== undefined) problems.push({ field: 'protocol', message: misfit });
      if (problems.length > 0) throw new InvalidError(problems);
      if (listener && listener.default_pool_id !== null) {
        throw new ConflictError(
          `Listener ${listener.id} already has the default pool ${listener.default_pool_id}; delete that one first`,
        );
      }
      await refuseMorePools(tx, balancer.id);
      const created = await insertPools(tx, scope, edit, [wanted]);
      const [id = ''] = created.pools;
      if (listener) await edit.update('lb_listeners', listener, { default_pool_id: id });
      tx.about({ type: 'lbpool', id, name: given.name });
      return { data: { ...given, listener_id, pool_id: id }, created: { ...created } };
    },
  );

export async function listPools(
  on: Platform,
  scope: Scope,
  query: schema.PoolListQuery,
): Promise<{ count: number; results: ReturnType<typeof schema.presentedInList>[] }> {
  const { load_balancer_id: balancerId, listener_id: listenerId, name } = query;
  const page = await listParts(
    on.database.sql,
    scope,
    'lb_pools',
    [
      ...(balancerId === undefined ? [] : [sql`load_balancer_id = ${balancerId}`]),
      ...(listenerId === undefined
        ? []
        : [sql`id in (select default_pool_id from lb_listeners where id = ${listenerId})`]),
      ...(name === undefined ? [] : [sql`strpos(name, ${name}) > 0`]),
    ],
    query,
  );
  const details = query.details ?? false;
  return presentedParts(
    on.database.sql,
    page,
    ({ pools }) => pools,
    (row, forest) => schema.presentedInList(row, forest, { details }),
  );
}

/** @throws NotFoundError */
export async function getPool(on: Platform, scope: Scope, id: string): Promise<schema.PoolAnswer> {
  const row = await findPart(on.database.sql, scope, 'lb_pools', id);
  return presentedPart(on.database.sql, row, ({ pools }) => pools, schema.presentedPool);
}

/** Members that stay the same by address and port are kept. @throws NotFoundError, InvalidError, ConflictError */
export const updatePool = (on: Platform, scope: Scope, id: string, request: schema.UpdatePool): Promise<string> =>
  changeTree(on, scope, UPDATE_POOL, balancerOf(scope, 'lb_pools', id), async (tx, edit) => {
    const pool = await lockedPool(tx, scope, id);
    const problems: FieldProblem[] = [];
    const values = changedPool(pool, request, problems);
    const members = request.members === undefined ? undefined : membersOf(request.members ?? [], 'members.', problems);
    if (values.protocol !== pool.protocol) {
      problems.push(...(await listenerProblems(tx, pool.id, values.protocol)));
    }
    if (problems.length > 0) throw new InvalidError(problems);
    const created = {
      ...(members && { members: await replaceMembers(tx, scope, edit, pool.id, members) }),
      ...(!pool.health_monitor && values.health_monitor && { healthmonitors: [values.health_monitor.id] }),
    };
    if (await edit.update('lb_pools', pool, values)) {
      await usePoolSecrets(tx, edit, { ...pool, ...values }, { at: '', former: pool });
    }
    return { data: { ...request, pool_id: pool.id }, created };
  });

/** Listeners are left without a default pool. @throws NotFoundError, ConflictError if an L7 policy uses it */
export const deletePool = (on: Platform, scope: Scope, id: string): Promise<string> =>
  changeTree(on, scope, DELETE_POOL, balancerOf(scope, 'lb_pools', id), async (tx, edit) => {
    const pool = await lockedPool(tx, scope, id);
    await refuseRedirected(tx, pool);
    const { rows } = await sql<{ id: string }>`
          select id from lb_members where pool_id = ${pool.id}`.execute(tx.sql);
    await edit.remove(
      'lb_members',
      rows.map((row) => row.id),
    );
    await edit.remove('lb_pools', [pool.id]);
    return { data: { pool_id: pool.id } };
  });

/** Returns the load balancer that the body names, by itself or by a listener. @throws InvalidError */
async function balancerFor(
  tx: Transaction,
  scope: Scope,
  {
    load_balancer_id: balancerId,
    listener_id: listenerId,
  }: {
    load_balancer_id: string | null;
    listener_id: string | null;
  },
): Promise<string> {
  if (listenerId === null) {
    if (balancerId !== null) return namedBalancer(scope, balancerId)(tx);
    throw new InvalidError({ load_balancer_id: ['Is required without listener_id.'] });
  }
  const listener = await findPart(tx.sql, scope, 'lb_listeners', listenerId).catch((error: unknown) => {
    if (!(error instanceof NotFoundError)) throw error;
    throw new InvalidError({ listener_id: [`No listener ${listenerId} in this project and region.`] });
  });
  if (balancerId !== null && balancerId.toLowerCase() !== listener.load_balancer_id) {
    const message = `Listener ${listener.id} belongs to load balancer ${listener.load_balancer_id}; leave load_balancer_id out.`;
    throw new InvalidError({ listener_id: [message] });
  }
  return listener.load_balancer_id;
}

/** Returns the columns of a pool after a request. A field that is left out stays. */
function changedPool(pool: PartRow<'lb_pools'>, request: schema.UpdatePool, problems: FieldProblem[]) {
  const protocol = request.protocol ?? pool.protocol;
  const kept = <Name extends keyof typeof pool>(name: Name, given: (typeof pool)[Name] | undefined) =>
    given === undefined ? pool[name] : given;
  // A changed protocol may not fit what stays.
  const monitor = request.healthmonitor === undefined ? pool.health_monitor : request.healthmonitor;
  const persistence =
    request.session_persistence === undefined ? pool.session_persistence : request.session_persistence;
  return {
    name: kept('name', request.name),
    protocol,
    lb_algorithm: kept('lb_algorithm', request.lb_algorithm),
    admin_state_up: kept('admin_state_up', request.admin_state_up),
    session_persistence: persistenceOf(persistence, protocol, 'session_persistence', problems),
    health_monitor: monitor && monitorOf(monitor, pool.health_monitor, protocol, 'healthmonitor.', problems),
    timeout_client_data: kept('timeout_client_data', request.timeout_client_data),
    timeout_member_connect: kept('timeout_member_connect', request.timeout_member_connect),
    timeout_member_data: kept('timeout_member_data', request.timeout_member_data),
    ...poolSecretsOf(request, pool, protocol, '', problems),
  };
}

/** Returns the problem of a pool's new protocol with what sends it traffic. */
async function listenerProblems(
  tx: Transaction,
  poolId: string,
  protocol: PartRow<'lb_pools'>['protocol'],
): Promise<FieldProblem[]> {
  const { rows } = await sql<{ protocol: PartRow<'lb_listeners'>['protocol'] }>`
    select protocol from lb_listeners where default_pool_id = ${poolId} or id in (
      select listener_id from lb_l7_policies where redirect_pool_id = ${poolId})`.execute(tx.sql);
  return rows.flatMap((listener) => {
    const message = poolMisfit(listener.protocol, protocol);
    return message === undefined ? [] : [{ field: 'protocol', message }];
  });
}

async function refuseRedirected(tx: Transaction, pool: PartRow<'lb_pools'>): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from lb_l7_policies where redirect_pool_id = ${pool.id} order by id limit 10`.execute(tx.sql);
  if (rows.length === 0) return;
  throw new ConflictError(
    `Pool ${pool.name} is used by L7 policy ${rows.map(({ id }) => id).join(', ')}; delete or change it first`,
  );
}

export const poolDeletion = waitingDeletion('delete_lbpool', deletePool, ['pool_id']);
