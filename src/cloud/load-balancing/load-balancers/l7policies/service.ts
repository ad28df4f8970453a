import { sql } from 'kysely';
import type { Transaction } from '../../../../db/database.ts';
import { ConflictError, type FieldProblem, InvalidError, NotFoundError } from '../../../../lib/errors.ts';
import { newId } from '../../../../lib/ids.ts';
import type { PageQuery } from '../../../../lib/page.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { waitingDeletion } from '../../../ground/tasks/behind/service.ts';
import { poolMisfit, readsHttp } from '../listeners/rules.ts';
import { changeTree, type Edit } from '../tree/edits.ts';
import { balancerOf, findPart, listParts, presentedPart, presentedParts } from '../tree/parts.ts';
import type { PartRow } from '../tree/store.ts';
import { CREATE_POLICY, DELETE_POLICY, UPDATE_POLICY } from '../tree/tasks.ts';
import { targetProblems } from './rules.ts';
import * as schema from './schema.ts';

/*
 * Changes return their task, which has finished already if nothing changes. All refuse with ConflictError while one holds
 * the load balancer.
 */

type Policy = PartRow<'lb_l7_policies'>;
type Listener = PartRow<'lb_listeners'>;

/** @throws InvalidError, ConflictError when the listener has the most policies */
export const createL7Policy = (
  on: Platform,
  scope: Scope,
  { listener_id: listenerId, ...given }: schema.CreatePolicy,
): Promise<string> =>
  changeTree(
    on,
    scope,
    CREATE_POLICY,
    async (tx) => (await namedListener(tx, scope, listenerId)).load_balancer_id,
    async (tx, edit) => {
      const listener = await namedListener(tx, scope, listenerId);
      const there = await policiesOf(tx, listener.id);
      if (there.length >= schema.MAX_POLICIES) {
        throw new ConflictError(
          `Listener ${listener.name} already has ${schema.MAX_POLICIES} L7 policies, the maximum; delete one first`,
        );
      }
      const target = await wantedTarget(tx, listener, given);
      const id = newId();
      const position = await makeRoom(edit, there, given.position);
      await edit.insert('lb_l7_policies', [
        {
          id,
          listener_id: listener.id,
          name: given.name ?? id,
          action: given.action,
          position,
          ...target,
          tags: given.tags ?? [],
        },
      ]);
      tx.about({ type: 'lb_l7policy', id, name: given.name ?? null });
      const data = { ...given, listener_id: listener.id, l7policy_id: id };
      return { data, created: { l7polices: [id] } };
    },
  );

export async function listL7Policies(on: Platform, scope: Scope, query: PageQuery) {
  return presentedParts(
    on.database.sql,
    await listParts(on.database.sql, scope, 'lb_l7_policies', [], query),
    ({ policies }) => policies,
    (row, forest) => schema.presentedPolicy(row, forest, scope),
  );
}

/** @throws NotFoundError */
export async function getL7Policy(on: Platform, scope: Scope, id: string): Promise<schema.PolicyAnswer> {
  const row = await findPart(on.database.sql, scope, 'lb_l7_policies', id);
  return presentedPart(
    on.database.sql,
    row,
    ({ policies }) => policies,
    (one, forest) => schema.presentedPolicy(one, forest, scope),
  );
}

/** The action may change, too. @throws NotFoundError, InvalidError, ConflictError */
export const updateL7Policy = (on: Platform, scope: Scope, id: string, request: schema.PolicyInput): Promise<string> =>
  changeTree(on, scope, UPDATE_POLICY, balancerOf(scope, 'lb_l7_policies', id), async (tx, edit) => {
    const policy = await findPart(tx.sql, scope, 'lb_l7_policies', id);
    tx.about({ ...policy, type: 'lb_l7policy' });
    const listener = await findPart(tx.sql, scope, 'lb_listeners', policy.listener_id);
    const same = request.action === policy.action ? policy.redirect_http_code : null;
    const target = await wantedTarget(tx, listener, request, same ?? undefined);
    const others = (await policiesOf(tx, listener.id)).filter((one) => one.id !== policy.id);
    const position =
      request.position === undefined || request.position === policy.position
        ? policy.position
        : await makeRoom(edit, others, request.position);
    await edit.update('lb_l7_policies', policy, {
      name: request.name ?? policy.name,
      action: request.action,
      position,
      ...target,
      tags: request.tags ?? policy.tags,
    });
    return { data: { ...request, l7policy_id: policy.id }, created: { l7polices: [policy.id] } };
  });

/** Deletes it with its rules. @throws NotFoundError, ConflictError */
export const deleteL7Policy = (on: Platform, scope: Scope, id: string): Promise<string> =>
  changeTree(on, scope, DELETE_POLICY, balancerOf(scope, 'lb_l7_policies', id), async (tx, edit) => {
    const policy = await findPart(tx.sql, scope, 'lb_l7_policies', id);
    tx.about({ ...policy, type: 'lb_l7policy' });
    const { rows } = await sql<{ id: string }>`
          select id from lb_l7_rules where l7_policy_id = ${policy.id}`.execute(tx.sql);
    await edit.remove(
      'lb_l7_rules',
      rows.map((row) => row.id),
    );
    await edit.remove('lb_l7_policies', [policy.id]);
    return { data: { l7policy_id: policy.id } };
  });

/** @throws InvalidError if there is no such listener, or it doesn't read HTTP */
async function namedListener(tx: Transaction, scope: Scope, id: string): Promise<Listener> {
  const listener = await findPart(tx.sql, scope, 'lb_listeners', id).catch((error: unknown) => {
    if (!(error instanceof NotFoundError)) throw error;
    throw new InvalidError({ listener_id: [`No listener ${id} in this project and region.`] });
  });
  if (readsHttp(listener.protocol)) return listener;
  const message = `L7 policies are only for HTTP and TERMINATED_HTTPS listeners, and this one is ${listener.protocol}.`;
  throw new InvalidError({ listener_id: [message] });
}

/** In their order. */
async function policiesOf(tx: Transaction, listenerId: string): Promise<Policy[]> {
  return tx.sql
    .selectFrom('lb_l7_policies')
    .selectAll()
    .where('listener_id', '=', listenerId)
    .orderBy('position')
    .orderBy('id')
    .execute();
}

/** Returns the position of a policy among the others, the last one by default. Those behind it move, as in Octavia. */
async function makeRoom(edit: Edit, others: readonly Policy[], wanted: number | undefined): Promise<number> {
  const last = (others.at(-1)?.position ?? 0) + 1;
  const position = Math.min(wanted ?? last, last);
  let next = position;
  for (const other of others) {
    if (other.position !== next) continue;
    next += 1;
    await edit.update('lb_l7_policies', other, { position: next });
  }
  return position;
}

/** Returns where the action leads. @throws InvalidError */
async function wantedTarget(
  tx: Transaction,
  listener: Listener,
  given: schema.PolicyInput,
  httpCode = 302,
): Promise<Pick<Policy, 'redirect_http_code' | 'redirect_pool_id' | 'redirect_prefix' | 'redirect_url'>> {
  const none = { redirect_http_code: null, redirect_pool_id: null, redirect_prefix: null, redirect_url: null };
  const problems: FieldProblem[] = [];
  const redirect_http_code = given.redirect_http_code ?? httpCode;
  switch (given.action) {
    case 'REJECT':
      return none;
    case 'REDIRECT_TO_POOL': {
      const id = given.redirect_pool_id?.toLowerCase() ?? '';
      const pool = await tx.sql
        .selectFrom('lb_pools')
        .select(['id', 'protocol'])
        .where('id', '=', id)
        .where('load_balancer_id', '=', listener.load_balancer_id)
        .executeTakeFirst();
      const message = pool
        ? poolMisfit(listener.protocol, pool.protocol)
        : `The load balancer of the listener has no pool ${id}.`;
      if (message !== undefined) throw new InvalidError({ redirect_pool_id: [message] });
      return { ...none, redirect_pool_id: id };
    }
    case 'REDIRECT_TO_URL':
      problems.push(...targetProblems('redirect_url', given.redirect_url ?? ''));
      if (problems.length > 0) throw new InvalidError(problems);
      return { ...none, redirect_http_code, redirect_url: given.redirect_url ?? '' };
    case 'REDIRECT_PREFIX':
      problems.push(...targetProblems('redirect_prefix', given.redirect_prefix ?? ''));
      if (problems.length > 0) throw new InvalidError(problems);
      return { ...none, redirect_http_code, redirect_prefix: given.redirect_prefix ?? '' };
  }
}

export const l7PolicyDeletion = waitingDeletion('delete_l7policy', deleteL7Policy, ['l7policy_id']);
