import { sql } from 'kysely';
import { type Endings, endTask } from '../../convergence/waiting-tasks.ts';
import { keyOf, type Name, tasksOn } from '../../convergence/wants.ts';
import type { Transaction } from '../../db/database.ts';

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
export async function removersOf(
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

/** Returns for each of the things the task that makes or changes it; undefined if there is none. */
export async function makersOf(tx: Transaction, things: readonly Name[]): Promise<(string | undefined)[]> {
  const tasks = await tasksOn(tx, things, { removing: false });
  return things.map((thing) => tasks.get(keyOf(thing)));
}
