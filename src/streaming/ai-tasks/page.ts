import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import type { AiTaskCounts, Matches } from './counts.ts';
import { type AiTaskFilter, holds, matches, separated } from './filter.ts';

export type ListedTask = Omit<
  Selectable<Tables['ai_tasks']>,
  'search_text' | 'result' | 'retries' | 'created_day' | 'created_at'
>;

export const ORDERINGS = ['task_id', 'status', 'task_name', 'started_at'] as const;
export type Ordering = (typeof ORDERINGS)[number];

export interface PageQuery {
  filter: AiTaskFilter;
  ordering: Ordering | undefined;
  limit: number;
  offset: number;
}

const newest = sql`started_at desc nulls first, created_at desc, id desc`;

/** Each has an index, and none leaves two tasks in no order. */
const ORDERS: Record<Ordering | 'newest', RawBuilder<unknown>> = {
  newest,
  task_id: sql`id`,
  status: sql`status, ${newest}`,
  task_name: sql`task_name, ${newest}`,
  started_at: sql`started_at, created_at, id`,
};

const LISTED = sql`task.id, task.client_id, task.task_name, task.status, task.progress, task.task_data,
  task.started_at, task.completed_at`;

/** What the orders need. */
const SORTED = sql`id, status, task_name, started_at, created_at`;

/** A filter with what is known about it. `among` is how many tasks there are without its search. */
interface Part extends Matches {
  filter: AiTaskFilter;
  among: number;
}

/** One page of a client's tasks and how many match in all; past the last page there are no rows. */
export async function readPage(
  db: Kysely<Tables>,
  counts: AiTaskCounts,
  query: PageQuery,
): Promise<{ count: number; rows: ListedTask[] }> {
  const parts = await Promise.all(separated(query.filter).map((filter) => measured(counts, filter)));
  const count = parts.reduce((sum, part) => sum + part.count, 0);
  const due = Math.min(query.limit, count - query.offset);
  if (due <= 0) return { count, rows: [] };
  const rows = await readRows(db, query, parts, 'walk');
  if (rows.length >= due) return { count, rows };
  return { count, rows: await readRows(db, query, parts, 'gather') };
}

async function measured(counts: AiTaskCounts, filter: AiTaskFilter): Promise<Part> {
  const found = counts.of(filter);
  const { search, ...others } = filter;
  const among = search === undefined ? found : counts.of(others);
  return { ...(await found), filter, among: (await among).count };
}

async function readRows(
  db: Kysely<Tables>,
  { ordering, limit, offset }: PageQuery,
  parts: Part[],
  how: 'walk' | 'gather',
): Promise<ListedTask[]> {
  const order = ORDERS[ordering ?? 'newest'];
  const inUse = parts.filter((part) => part.count > 0);
  const [only, ...more] = inUse;
  const first = sql`order by ${order} limit ${offset + limit}`;
  const page = sql`order by ${order} limit ${limit} offset ${offset}`;
  const ids =
    only && more.length === 0
      ? sql`select id from ${source(only, how, order, offset + limit)} ${page}`
      : sql`select id from (${sql.join(
          inUse.map(
            (part) => sql`(select ${SORTED} from ${source(part, how, order, offset + limit)} ${first})`,
          ),
          sql` union all `,
        )}) task ${page}`;
  const { rows } = await sql<ListedTask>`
    with page as (${ids})
    select ${LISTED} from page join ai_tasks task using (id) order by ${order}`.execute(db);
  return rows;
}

/**
 * What to select a part's ids from: `... task where ...`. The planner knows how many tasks have a status or a
 * date, and chooses well; it can only guess how many hold a text. So for a search the count decides: look at
 * tasks in the order of the list until enough match, or find all that match and sort them.
 */
function source(
  { filter, count, candidates, among }: Part,
  how: 'walk' | 'gather',
  order: RawBuilder<unknown>,
  wanted: number,
): RawBuilder<unknown> {
  const { search, ...others } = filter;
  if (search === undefined) return sql`ai_tasks task where ${matches(filter, 'row')}`;
  if (candidates) return gathered(sql`task.id = any(${candidates}::uuid[]) and ${matches(filter, 'row')}`);
  const expected = (wanted * among) / count;
  if (how === 'gather' || expected > count) return gathered(matches(filter, 'index'));
  // Four times as far as if matches were spread evenly. If they aren't, the page comes out short.
  return sql`(
    select ${SORTED}, search_text from ai_tasks task where ${matches(others, 'row')}
    order by ${order} limit ${Math.ceil(4 * expected) + 100}) task where ${holds(search, 'row')}`;
}

/** All that match: `offset 0` keeps the planner from walking an order in the hope of a match. */
function gathered(condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select ${SORTED} from ai_tasks task where ${condition} offset 0) task where true`;
}
