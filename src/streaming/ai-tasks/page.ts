import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Database, Sql } from '../../db/database.ts';
import type { TaskData } from '../../db/json-columns.ts';
import type { Tables } from '../../db/tables.ts';
import type { Interval } from '../../lib/iso-interval.ts';
import { containing } from '../../lib/texts.ts';
import { STATUSES, type Status } from './states.ts';

/** Separates the values of a task, so that no search matches the end of one and the start of the next. */
const SEPARATOR = '\u001f';
/** Replaces separators inside values and searches. */
const REPLACEMENT = '\ufffd';

/**
 * Returns texts in the form in which they are compared: regardless of case, of how accents are encoded, and
 * of the Greek final sigma. Done here and not in the database, whose lower case depends on its locale.
 */
export function folded(text: string): string {
  return text.normalize('NFC').toLowerCase().replaceAll('ς', 'σ').replaceAll(SEPARATOR, REPLACEMENT);
}

/**
 * Returns the text that searches look through: the id and every value of the task's data. The status changes,
 * and is compared separately.
 */
export function searchText(taskId: string, taskData: object): string {
  return [taskId, ...Object.values(taskData).map(String)].map(folded).join(SEPARATOR);
}

export interface AiTaskFilter {
  clientId: number;
  taskId?: string | undefined;
  taskName?: TaskData['task_name'] | undefined;
  status?: Status | undefined;
  created?: Interval | undefined;
  /** In folded form. */
  search?: string | undefined;
  /** Statuses that another filter covers. */
  otherThan?: Status[] | undefined;
}

/**
 * Splits a filter into disjoint ones whose `search` no longer covers the status. If the search is part of a status, one
 * filter selects all tasks with that status, which an index finds, and another one searches the texts of the rest.
 */
export function separated(filter: AiTaskFilter): AiTaskFilter[] {
  const { search, ...others } = filter;
  if (search === undefined) return [filter];
  const named = STATUSES.filter((status) => status.toLowerCase().includes(search));
  if (filter.status !== undefined) return named.includes(filter.status) ? [others] : [filter];
  if (named.length === 0) return [filter];
  return [...named.map((status) => ({ ...others, status })), { ...filter, otherThan: named }];
}

/**
 * Returns the condition on a row `task` of ai_tasks; the status may come from elsewhere. `searchBy` decides
 * whether the trigram index answers a search (`index`) or each row is compared (`row`).
 */
export function matches(
  filter: AiTaskFilter,
  searchBy: 'index' | 'row',
  status: RawBuilder<unknown> = sql.ref('task.status'),
): RawBuilder<boolean> {
  const conditions = [sql<boolean>`task.client_id = ${filter.clientId}`];
  if (filter.taskId !== undefined) conditions.push(sql`task.id = ${filter.taskId}`);
  if (filter.taskName !== undefined) conditions.push(sql`task.task_name = ${filter.taskName}`);
  if (filter.status !== undefined) conditions.push(sql`${status} = ${filter.status}`);
  if (filter.otherThan !== undefined) conditions.push(sql`${status} not in (${sql.join(filter.otherThan)})`);
  if (filter.created !== undefined) conditions.push(createdIn(filter.created));
  if (filter.search !== undefined) conditions.push(holds(filter.search, searchBy));
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`;
}

function createdIn({ day, from, to }: Interval): RawBuilder<boolean> {
  // With a single value, an index has the tasks in the order of the list.
  if (day !== undefined) return sql`task.created_day = ${day}::date`;
  return sql`task.created_at >= ${from}::timestamptz and task.created_at < ${to}::timestamptz`;
}

export function holds(search: string, by: 'index' | 'row'): RawBuilder<boolean> {
  return by === 'index'
    ? sql<boolean>`task.search_text like ${containing(search)}`
    : sql<boolean>`strpos(task.search_text, ${search}) > 0`;
}

export type ListedTask = Omit<
  Selectable<Tables['ai_tasks']>,
  'search_text' | 'result' | 'frame_rate' | 'retries' | 'retry_at' | 'losses' | 'created_day' | 'created_at'
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

/** Returns one page of a client's tasks and the number of all matches; past the last page there are no rows. */
export async function readPage(
  db: Sql,
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
  const firsts = sources.map((source) => sql`(select ${SORTED} from ${source} order by ${order} limit ${wanted})`);
  return sql`(${sql.join(firsts, sql` union all `)}) task`;
}

/**
 * Returns the `from` item for the first `wanted` tasks of a part. The planner knows how many tasks have a
 * status or a date, and chooses well; it can only guess how many contain a text. So for a search the count
 * decides: read tasks in the order of the list until enough match, or find all matches and sort them.
 */
function source({ filter, count, candidates, among }: Part, order: RawBuilder<unknown>, wanted: number) {
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
  // Reads four times as far as evenly spread matches need. If too few are found there, all are found after all.
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

export interface Matches {
  count: number;
  /** Set if matches are few and hard to find otherwise: ids of all that match, and perhaps of some that don't. */
  candidates: string[] | undefined;
}

/** A count, and the snapshot of the database in which it was made. */
interface Remembered extends Matches {
  snapshot: string;
  usedAt: number;
}

export interface AiTaskCounts {
  /** Returns the exact number of matching tasks. */
  of(filter: AiTaskFilter): Promise<Matches>;
}

const MAX_REMEMBERED = 256;
const MAX_CANDIDATES = 1000;
/** Well below the time for which changes are kept (store.ts). */
const MAX_IDLE_MS = 30 * 60_000;

/**
 * Counts that stay fast with millions of tasks. The cost of counting grows with the number of matches, so a
 * count is remembered together with its snapshot, and the next time only tasks that changed since are
 * counted. The result is as exact as a full count, even while others write: what a snapshot doesn't see is in
 * ai_task_changes, written by the transaction that made the change.
 */
export function createAiTaskCounts(database: Database): AiTaskCounts {
  const known = new Map<string, Remembered>();

  return {
    async of(filter) {
      const key = JSON.stringify(filter);
      const before = known.get(key);
      const fresh = before && performance.now() - before.usedAt < MAX_IDLE_MS;
      const now = (fresh && (await broughtUpToDate(filter, before))) || (await countedAnew(filter));
      known.delete(key);
      known.set(key, now);
      for (const oldest of known.keys()) {
        if (known.size <= MAX_REMEMBERED) break;
        known.delete(oldest);
      }
      return now;
    },
  };

  async function countedAnew(filter: AiTaskFilter): Promise<Remembered> {
    const few = filter.search === undefined ? undefined : await foundFew(filter);
    if (few) return few;
    const usedAt = performance.now();
    const { rows } = await sql<{ count: number; snapshot: string }>`
      select count(*) as count, pg_current_snapshot()::text as snapshot
      from ai_tasks task where ${matches(filter, 'index')}`.execute(database.sql);
    const { count, snapshot } = rows[0] ?? { count: 0, snapshot: '' };
    return { count, snapshot, usedAt, candidates: undefined };
  }

  /** Returns undefined if too many match. The planner plans for all of them, and reading stops early. */
  async function foundFew(filter: AiTaskFilter): Promise<Remembered | undefined> {
    const usedAt = performance.now();
    const { rows } = await sql<{ ids: string[]; snapshot: string }>`
      with hit as materialized (select id from ai_tasks task where ${matches(filter, 'index')})
      select array(select id::text from hit limit ${MAX_CANDIDATES + 1}) as ids,
        pg_current_snapshot()::text as snapshot`.execute(database.sql);
    const { ids, snapshot } = rows[0] ?? { ids: [], snapshot: '' };
    if (ids.length > MAX_CANDIDATES) return undefined;
    return { count: ids.length, snapshot, usedAt, candidates: ids };
  }

  /** Returns undefined if too much has changed. */
  async function broughtUpToDate(filter: AiTaskFilter, before: Remembered): Promise<Remembered | undefined> {
    const usedAt = performance.now();
    const matched = matches(filter, 'row', sql.ref('change.status'));
    const { rows } = await sql<{
      snapshot: string;
      difference: number;
      anew: boolean;
      gained: string[] | null;
    }>`
      select
        pg_current_snapshot()::text as snapshot,
        coalesce(sum(change.sign), 0) as difference,
        coalesce(bool_or(change.task_id is null), false) as anew,
        array_agg(distinct change.task_id::text) filter (where change.sign = 1) as gained
      from ai_task_changes change left join ai_tasks task on task.id = change.task_id
      where change.client_id = ${filter.clientId}
        and change.xid >= pg_snapshot_xmin(${before.snapshot}::pg_snapshot)
        and change.xid < pg_snapshot_xmax(pg_current_snapshot())
        and not pg_visible_in_snapshot(change.xid, ${before.snapshot}::pg_snapshot)
        and (change.task_id is null or ${matched})`.execute(database.sql);
    const changes = rows[0];
    if (!changes || changes.anew) return undefined;
    const candidates = before.candidates && [...new Set([...before.candidates, ...(changes.gained ?? [])])];
    if (candidates && candidates.length > 2 * MAX_CANDIDATES) return undefined;
    return { count: before.count + changes.difference, snapshot: changes.snapshot, usedAt, candidates };
  }
}
