import { sql } from 'kysely';
import { type Endings, endTask } from '../../../convergence/waiting-tasks.ts';
import { keyOf, type Name, tasksOn } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import type { Place } from '../../../db/place.ts';
import { ConflictError, InvalidError } from '../../../lib/errors.ts';
import { inUse, LOOKED_AT } from '../../../lib/held.ts';
import type { Scope } from '../projects/service.ts';

/** Sets a task of `beginWork` to RUNNING. */
export async function workBegins(tx: Transaction, id: string, now: Date): Promise<void> {
  await tx.sql
    .updateTable('tasks')
    .set({ state: 'RUNNING', updated_on: now })
    .where('id', '=', id)
    .where('state', '=', 'NEW')
    .execute();
}

/** Sets a task of `beginWork` to FINISHED, unless its deadline has ended it. */
export async function workEnds(
  tx: Transaction,
  id: string,
  now: Date,
  endings: Pick<Endings, 'measures' | 'traces'>,
): Promise<void> {
  const task = await tx.sql
    .selectFrom('tasks')
    .select('id')
    .where('id', '=', id)
    .where('state', 'in', ['NEW', 'RUNNING'])
    .forUpdate()
    .executeTakeFirst();
  if (task) await endTask(endings, tx, id, { state: 'FINISHED', error: null, at: now, forget: false });
}

/** Deletions that wait have no wants yet. */
const DELETED_BY: Partial<Record<Name['kind'], string>> = {
  cluster: 'delete_k8s_cluster_v2',
  file_share: 'delete_sfs',
  floating_ip: 'delete_fip',
  load_balancer: 'delete_loadbalancer',
  machine: 'delete_vm',
  port: 'delete_reserved_fixed_ip',
  snapshot: 'delete_snapshot',
  volume: 'delete_volume',
};

/**
 * Returns for each of the users of something the task that removes it, or will when it has waited; undefined if there is none.
 * A user may go with several things: a port with its own removal, or with that of its machine.
 */
async function removersOf(
  tx: Transaction,
  users: readonly (readonly Name[])[],
): Promise<(string | undefined)[]> {
  const things = users.flat().map(({ kind, id }) => ({ kind, id, deleted_by: DELETED_BY[kind] }));
  // Clusters are deleted by their names. First, since what begins meanwhile has wants.
  const { rows } = await sql<Name & { task_id: string }>`
    select name.kind, name.id, waiting.task_id
    from jsonb_to_recordset(${JSON.stringify(things)}::jsonb) as name (kind text, id uuid, deleted_by text)
    left join kubernetes_clusters as cluster on name.kind = 'cluster' and cluster.id = name.id
    join waiting_deletions as waiting on waiting.kind = deleted_by
      and lower(waiting.args ->> 0) = coalesce(cluster.name, name.id::text)
    where name.kind <> 'cluster'
      or (waiting.project_id, waiting.region_id) = (cluster.project_id, cluster.region_id)`.execute(tx.sql);
  const later = new Map(rows.map((row) => [keyOf(row), row.task_id]));
  const now = await tasksOn(tx, things, { removing: true });
  return users.map((ways) =>
    ways.map((way) => now.get(keyOf(way)) ?? later.get(keyOf(way))).find((task) => task !== undefined),
  );
}

/**
 * Returns the refusal of something that others use: a deletion may wait if each of them has a task that removes it. Each is
 * given as the things with which it may go; `holders` are tasks that take users away in other ways.
 */
export async function usedBy(
  tx: Transaction,
  message: string,
  users: readonly (readonly Name[])[],
  holders: readonly (string | null)[] = [],
): Promise<ConflictError> {
  // With so many, no deletion waits.
  if (users.length >= LOOKED_AT) return inUse(message, []);
  const removers = await removersOf(tx, users);
  const leaving = removers.map((task, index) => holders[index] ?? task);
  const staying = users.filter((_, index) => leaving[index] === undefined);
  return inUse(message, leaving, await haveLeft(tx, staying.flat()));
}

/** Whether some of the things are gone since they were found. */
async function haveLeft(tx: Transaction, things: readonly Name[]): Promise<boolean> {
  if (things.length === 0) return false;
  const { rows } = await sql`
    select from jsonb_to_recordset(${JSON.stringify(things)}::jsonb) as thing (kind text, id uuid)
    where not exists (select from wants where wants.kind = thing.kind and wants.id = thing.id) limit 1`.execute(
    tx.sql,
  );
  return rows.length > 0;
}

/**
 * Refuses to delete something with things that were named and aren't part of it. A deletion that has waited passes over those
 * that are gone. @throws InvalidError, ConflictError for one that is elsewhere by now
 */
export async function refuseForeign(
  scope: Scope,
  foreign: readonly string[],
  {
    field,
    message,
    what,
    stillThere,
  }: {
    field: string;
    message: string;
    what: string;
    stillThere(ids: readonly string[]): Promise<string[]>;
  },
): Promise<void> {
  if (foreign.length === 0) return;
  if (scope.taskId === undefined) throw new InvalidError({ [field]: [`${message}: ${foreign.join(', ')}.`] });
  const left = await stillThere(foreign);
  if (left.length === 0) return;
  throw new ConflictError(
    `${what} ${left.join(', ')} went elsewhere while the deletion waited; send the deletion again without it, and delete it by itself`,
  );
}

/**
 * Refuses to put something into what a waiting deletion of that type will take away, as nobody asked for that.
 * @throws ConflictError
 */
export async function refuseDoomed(
  tx: Transaction,
  { projectId, regionId }: Place,
  what: string,
  { type, id }: { type: string; id: string },
): Promise<void> {
  const { rows } = await sql<{ task_id: string }>`
    select task_id from waiting_deletions
    where lower(args ->> 0) = lower(${id}) and kind = ${type}
      and project_id = ${projectId} and region_id = ${regionId} limit 1`.execute(tx.sql);
  const [waiting] = rows;
  if (!waiting) return;
  throw new ConflictError(
    `${what} will be deleted by task ${waiting.task_id}, which waits for another task; cancel that task first`,
  );
}

/** Returns the refusal of something that others are made from: a deletion may wait until all of them are there. */
export async function neededBy(
  tx: Transaction,
  message: string,
  things: readonly Name[],
): Promise<ConflictError> {
  const tasks = await tasksOn(tx, things, { removing: false });
  const makers = things.map((thing) => tasks.get(keyOf(thing)));
  // One without a task has been made since it was found.
  return inUse(message, makers, makers.includes(undefined));
}
