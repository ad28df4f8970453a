import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { MemberHealth } from '../../../../backends/contract/specs.ts';
import type { Sql, Transaction } from '../../../../db/database.ts';
import type { Tables } from '../../../../db/tables.ts';
/** The tables of the parts, children after what they are below of. */
export const PARTS = ['lb_pools', 'lb_listeners', 'lb_members', 'lb_l7_policies', 'lb_l7_rules'] as const;
export type PartTable = (typeof PARTS)[number];
export type LbTable = PartTable | 'load_balancers';
export type PartRow<T extends LbTable> = Selectable<Tables[T]>;
/** A row inside JSON, where times are texts. */
type JsonRow<T extends LbTable> = Omit<PartRow<T>, 'created_at' | 'updated_at'>;

/** What every row gets when it is written. */
type Kept =
  | 'project_id'
  | 'region_id'
  | 'load_balancer_id'
  | 'provisioning_status'
  | 'revision'
  | 'creator_task_id'
  | 'task_id'
  | 'created_at'
  | 'updated_at';
/** What a request says of a part. */
export type PartValues<T extends PartTable> = Omit<Selectable<Tables[T]>, Kept>;

/** Load balancers with everything below them, by the tables. */
export interface Trees {
  balancers: JsonRow<'load_balancers'>[];
  listeners: JsonRow<'lb_listeners'>[];
  pools: JsonRow<'lb_pools'>[];
  members: JsonRow<'lb_members'>[];
  policies: JsonRow<'lb_l7_policies'>[];
  rules: JsonRow<'lb_l7_rules'>[];
  /** What the infrastructure said last of the members, by their IDs. */
  health: Record<string, MemberHealth>;
}

/** Reads load balancers with all their parts. */
export async function readTrees(db: Sql, ids: readonly string[]): Promise<Trees> {
  const rows = (table: PartTable, order = sql`created_at, id`) => sql`(
    select coalesce(jsonb_agg(to_jsonb(part) order by ${order}), '[]') from ${sql.table(table)} as part
    where load_balancer_id = any(${ids}::uuid[]))`;
  const { rows: found } = await sql<Omit<Trees, 'health'> & { health: Trees['health'][] }>`
    select (
        select coalesce(jsonb_agg(to_jsonb(one)), '[]') from load_balancers as one where id = any(${ids}::uuid[])
      ) as balancers,
      ${rows('lb_listeners')} as listeners, ${rows('lb_pools')} as pools, ${rows('lb_members')} as members,
      ${rows('lb_l7_policies', sql`position, id`)} as policies, ${rows('lb_l7_rules')} as rules,
      (
        select coalesce(jsonb_agg(observed -> 'members'), '[]') from wants
        where kind = 'load_balancer' and id = any(${ids}::uuid[]) and observed is not null
      ) as health`.execute(db);
  const [all] = found;
  if (!all) throw new TypeError('a query without a table has one row');
  return { ...all, health: Object.assign({}, ...all.health) };
}

/** Writes new rows. Values that are objects become JSON. */
export async function insertRows(tx: Transaction, table: LbTable, rows: readonly object[]): Promise<void> {
  const [first] = rows;
  if (!first) return;
  const columns = sql.join(Object.keys(first).map((name) => sql.ref(name)));
  await sql`
    insert into ${sql.table(table)} (${columns})
    select ${columns} from jsonb_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows)}::jsonb)`.execute(
    tx.sql,
  );
}

/** Writes these columns of one row. Values that are objects become JSON. */
export async function writeRow(tx: Transaction, table: LbTable, id: string, values: object): Promise<void> {
  const changes = Object.keys(values).map((name) => sql`${sql.ref(name)} = given.${sql.ref(name)}`);
  await sql`
    update ${sql.table(table)} as one set ${sql.join(changes)}
    from jsonb_populate_record(null::${sql.table(table)}, ${JSON.stringify(values)}::jsonb) as given
    where one.id = ${id}`.execute(tx.sql);
}

export async function holdParts(
  tx: Transaction,
  table: PartTable,
  ids: readonly string[],
  held: { status: 'PENDING_DELETE' | 'PENDING_UPDATE'; taskId: string },
): Promise<void> {
  await sql`
    update ${sql.table(table)} set provisioning_status = ${held.status}, task_id = ${held.taskId}
    where id = any(${ids}::uuid[])`.execute(tx.sql);
}

/** Written out, so that a search for the table finds them. */
const DELETIONS: Record<PartTable, RawBuilder<unknown>> = {
  lb_pools: sql`delete from lb_pools`,
  lb_listeners: sql`delete from lb_listeners`,
  lb_members: sql`delete from lb_members`,
  lb_l7_policies: sql`delete from lb_l7_policies`,
  lb_l7_rules: sql`delete from lb_l7_rules`,
};

export async function deleteParts(tx: Transaction, table: PartTable, ids: readonly string[]): Promise<void> {
  await sql`${DELETIONS[table]} where id = any(${ids}::uuid[])`.execute(tx.sql);
}

/** Ends the task's hold on the load balancer and all its parts. */
export async function freeTree(tx: Transaction, loadBalancerId: string, taskId: string): Promise<void> {
  const free = sql`provisioning_status = 'ACTIVE', task_id = null, updated_at = ${tx.now}`;
  await sql`update load_balancers set ${free} where id = ${loadBalancerId} and task_id = ${taskId}`.execute(tx.sql);
  for (const table of PARTS) {
    await sql`
      update ${sql.table(table)} set ${free}
      where load_balancer_id = ${loadBalancerId} and task_id = ${taskId}`.execute(tx.sql);
  }
}

/** Has the task hold all parts of a load balancer that goes. */
export async function holdTree(tx: Transaction, loadBalancerId: string, taskId: string): Promise<void> {
  for (const table of PARTS) {
    await sql`
      update ${sql.table(table)} set provisioning_status = 'PENDING_DELETE', task_id = ${taskId}
      where load_balancer_id = ${loadBalancerId}`.execute(tx.sql);
  }
}
