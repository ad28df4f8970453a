import { type RawBuilder, sql } from 'kysely';
import { belongsTo, isIn, type Place, type Sql, type Transaction } from '../../../../db/database.ts';
import { found, isUuid } from '../../../../lib/ids.ts';
import { grouped } from '../../../../lib/lists.ts';
import type { Page, PageQuery } from '../../../../lib/page.ts';
import { operatingStatuses } from './operating-status.ts';
import { type PartRow, type PartTable, readTrees, type Trees } from './store.ts';

const NAMES: Record<PartTable, string> = {
  lb_listeners: 'Listener',
  lb_pools: 'Pool',
  lb_members: 'Member',
  lb_l7_policies: 'L7 policy',
  lb_l7_rules: 'L7 rule',
};

interface Located {
  id: string;
  load_balancer_id: string;
}

/** @throws NotFoundError */
export async function findPart<T extends PartTable>(db: Sql, place: Place, table: T, id: string): Promise<PartRow<T>> {
  const { rows } = isUuid(id)
    ? await sql<PartRow<T>>`
        select * from ${sql.table(table)} where id = ${id} and ${belongsTo(place)}`.execute(db)
    : { rows: [] };
  return found(NAMES[table], id, rows[0]);
}

/** Returns how to find the load balancer of a part before both are locked. @throws NotFoundError */
export const balancerOf = (place: Place, table: PartTable, id: string) => async (tx: Transaction) =>
  (await findPart(tx.sql, place, table, id)).load_balancer_id;

const NEWEST_FIRST = sql`created_at desc, id desc`;

export async function listParts(
  db: Sql,
  place: Place,
  table: PartTable,
  conditions: readonly RawBuilder<unknown>[],
  { limit = 1000, offset = 0 }: PageQuery,
  order: RawBuilder<unknown> = NEWEST_FIRST,
): Promise<Page<Located>> {
  const matching = sql`${sql.table(table)} where ${sql.join([isIn(place), ...conditions], sql` and `)}`;
  const { rows } = await sql<Located>`
    select id, load_balancer_id from ${matching}
    order by ${order} limit ${limit} offset ${offset}`.execute(db);
  const { rows: counted } = await sql<{
    count: number;
  }>`select count(*)::int as count from ${matching}`.execute(db);
  return { count: counted[0]?.count ?? 0, rows };
}

/** The trees of some load balancers, with every operating status in them, and what is below what. */
export type Forest = ReturnType<typeof forestFrom>;

function forestFrom(trees: Trees) {
  return {
    ...trees,
    statuses: operatingStatuses(trees),
    listenersOf: grouped(trees.listeners, ({ load_balancer_id }) => load_balancer_id),
    listenersWith: grouped(trees.listeners, ({ default_pool_id }) => default_pool_id),
    membersOf: grouped(trees.members, ({ pool_id }) => pool_id),
    policiesOf: grouped(trees.policies, ({ listener_id }) => listener_id),
    poolById: new Map(trees.pools.map((pool) => [pool.id, pool])),
    rulesOf: grouped(trees.rules, ({ l7_policy_id }) => l7_policy_id),
  };
}

/** So few that their members are read and presented within a moment, and others get their turn in between. */
const AT_ONCE = 10;

/** Reads load balancers with everything below them, some at a time. */
export async function* forestsOf(db: Sql, balancerIds: readonly string[]): AsyncGenerator<Forest, void> {
  const ids = [...new Set(balancerIds)];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    yield forestFrom(await readTrees(db, ids.slice(from, from + AT_ONCE)));
  }
}

/** Presents listed parts from their trees. One that was deleted since is left out. */
export async function presentedParts<Row extends { id: string }, Shown>(
  db: Sql,
  { count, rows }: Page<Located>,
  among: (forest: Forest) => readonly Row[],
  present: (row: Row, forest: Forest) => Shown,
): Promise<{ count: number; results: Shown[] }> {
  const listed = new Set(rows.map(({ id }) => id));
  const shown = new Map<string, Shown>();
  const balancerIds = rows.map(({ load_balancer_id }) => load_balancer_id);
  for await (const forest of forestsOf(db, balancerIds)) {
    for (const row of among(forest)) if (listed.has(row.id)) shown.set(row.id, present(row, forest));
  }
  return { count, results: rows.flatMap(({ id }) => shown.get(id) ?? []) };
}

/** Presents one part from its tree. @throws NotFoundError if it was deleted since */
export async function presentedPart<Row extends { id: string }, Shown>(
  db: Sql,
  part: Located & { name?: string },
  among: (forest: Forest) => readonly Row[],
  present: (row: Row, forest: Forest) => Shown,
): Promise<Shown> {
  const forest = forestFrom(await readTrees(db, [part.load_balancer_id]));
  const row = among(forest).find(({ id }) => id === part.id);
  return present(found('Part', part.id, row), forest);
}
