import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import type { AiTaskCounts, Matches } from './counts.ts';
import { type AiTaskFilter, holds, matches, separated } from './filter.ts';

export type ListedTask = Omit<
  Selectable<Tables['ai_tasks']>,
  'search_text' | 'result' | 'retries' | 'retry_at' | 'losses' | 'created_day' | 'created_at'
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

/** Each order has an index and leaves no two tasks in an undefined order. */
const ORDERS: Record<Ordering | 'newest', RawBuilder<unknown>> = {
  newest,
  task_id: sql`id`,
  status: sql`status, ${newest}`,
  task_name: sql`task_name, ${newest}`,
  started_at: sql`started_at, created_at, id`,
};

const LISTED = sql`task.id, task.client_id, task.task_name, task.status, task.progress, task.task_data,
  task.started_at, task.completed_at`;

/** The columns that the orders need. */
const SORTED = sql`id, status, task_name, started_at, created_at`;

/** A filter with its counts. `among` is the number of tasks without its search. */
interface Part extends Matches {
  filter: AiTaskFilter;
  among: number;
}

/**
 * Returns one page of a client's tasks and the number of all matches; past the last page there are no rows.
 */
export async function readPage(
  db: Kysely<Tables>,
  counts: AiTaskCounts,
  { filter, ordering, limit, offset }: PageQuery,
): Promise<{ count: number; rows: ListedTask[] }> {
  const parts = await Promise.all(separated(filter).map((part) => measured(counts, part)));
  const count = parts.reduce((sum, part) => sum + part.count, 0);
  if (offset >= count) return { count, rows: [] };
  const order = ORDERS[ordering ?? 'newest'];
  const sources = parts
    .filter((part) => part.count > 0)
    .map((part) => source(part, order, Math.min(offset + limit, part.count)));
  const { rows } = await sql<ListedTask>`
    with page as (select id from ${oneOf(sources, order, offset + limit)} order by ${order} limit ${limit} offset ${offset})
    select ${LISTED} from page join ai_tasks task using (id) order by ${order}`.execute(db);
  return { count, rows };
}

async function measured(counts: AiTaskCounts, filter: AiTaskFilter): Promise<Part> {
  const found = await counts.of(filter);
  if (filter.search === undefined || found.candidates) return { ...found, filter, among: found.count };
  const among = await counts.of({ ...filter, search: undefined });
  return { ...found, filter, among: among.count };
}

/** Combines the first tasks of several disjoint sources. */
function oneOf(sources: RawBuilder<unknown>[], order: RawBuilder<unknown>, wanted: number) {
  const [only, ...more] = sources;
  if (only && more.length === 0) return only;
  const firsts = sources.map(
    (source) => sql`(select ${SORTED} from ${source} order by ${order} limit ${wanted})`,
  );
  return sql`(${sql.join(firsts, sql` union all `)}) task`;
}

/**
 * Returns the `from` item for the first `wanted` tasks of a part. The planner knows how many tasks have a
 * status or a date, and chooses well; it can only guess how many contain a text. So for a search the count
 * decides: read tasks in the order of the list until enough match, or find all matches and sort them.
 */
function source(
  { filter, count, candidates, among }: Part,
  order: RawBuilder<unknown>,
  wanted: number,
): RawBuilder<unknown> {
  const { search, ...others } = filter;
  if (search === undefined) return sql`ai_tasks task where ${matches(filter, 'row')}`;
  // `offset 0` keeps the planner from scanning an ordered index in the hope of a match.
  if (candidates) {
    return sql`(select ${SORTED} from ai_tasks task
      where task.id = any(${candidates}::uuid[]) and ${matches(filter, 'row')} offset 0) task`;
  }
  const all = sql`select ${SORTED} from ai_tasks task where ${matches(filter, 'index')} offset 0`;
  const expected = (wanted * among) / count;
  if (expected > count) return sql`(${all}) task`;
  // Reads four times as far as evenly spread matches need. If too few are found there, all are found after
  // all.
  return sql`(
    with near as materialized (
      select ${SORTED} from (
        select ${SORTED}, search_text from ai_tasks task where ${matches(others, 'row')}
        order by ${order} limit ${Math.ceil(4 * expected) + 100}) task
      where ${holds(search, 'row')} order by ${order} limit ${wanted})
    select * from near where (select count(*) from near) >= ${wanted}
    union all
    select * from (${all}) task where (select count(*) from near) < ${wanted}) task`;
}
