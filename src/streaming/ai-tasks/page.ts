import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import type { AiTaskCounts, Matches } from './counts.ts';
import { type AiTaskFilter, matches } from './filter.ts';

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

/** One page of a client's tasks and how many match in all; past the last page there are no rows. */
export async function readPage(
  db: Kysely<Tables>,
  counts: AiTaskCounts,
  query: PageQuery,
): Promise<{ count: number; rows: ListedTask[] }> {
  const { filter, offset } = query;
  const [found, all] = await Promise.all([
    counts.of(filter),
    filter.search === undefined ? undefined : counts.of({ clientId: filter.clientId }),
  ]);
  if (offset >= found.count) return { count: found.count, rows: [] };
  const order = ORDERS[query.ordering ?? 'newest'];
  const page = sql`order by ${order} limit ${query.limit} offset ${offset}`;
  const { rows } = await sql<ListedTask>`
    with page as (${idsOfPage(query, found, all?.count, page)})
    select ${LISTED} from page join ai_tasks task using (id) order by ${order}`.execute(db);
  return { count: found.count, rows };
}

/**
 * The planner knows how many tasks have a status or a date, and chooses well; it can only guess how many
 * hold a text. So for a search the count decides: walk the order and pick what matches, or find all that
 * match and sort them.
 */
function idsOfPage(
  { filter, limit, offset }: PageQuery,
  found: Matches,
  all: number | undefined,
  page: RawBuilder<unknown>,
): RawBuilder<unknown> {
  if (filter.search === undefined || all === undefined) {
    return sql`select id from ai_tasks task where ${matches(filter, 'row')} ${page}`;
  }
  if (found.candidates) {
    const condition = sql`task.id = any(${found.candidates}::uuid[]) and ${matches(filter, 'row')}`;
    return sql`select id from (${gathered(condition)}) hit ${page}`;
  }
  const walked = ((offset + limit) * all) / found.count;
  if (walked < found.count) return sql`select id from ai_tasks task where ${matches(filter, 'row')} ${page}`;
  return sql`select id from (${gathered(matches(filter, 'index'))}) hit ${page}`;
}

/** All rows first: `offset 0` keeps the planner from walking an order in the hope of a match. */
function gathered(condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`select id, status, task_name, started_at, created_at from ai_tasks task where ${condition} offset 0`;
}
