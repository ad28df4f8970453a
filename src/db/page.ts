import { type Compilable, sql as raw, type SelectQueryBuilder, type Simplify } from 'kysely';
import type { Page, PageQuery } from '../lib/page.ts';
import { accountNow, dryConnection } from '../lib/request-context.ts';
import { createTurns } from '../lib/turns.ts';
import type { Sql } from './database.ts';
import { runPlanned } from './statements.ts';

/** Such pages cost as much as lies before them: an account finds one at a time in each process, and in about a third of the time. */
const FAR = 1_000;
const farPages = createTurns(4, { most: 1, restAfterMs: 1, restTimes: 2, patienceMs: 10_000 });

/** Returns one page of a query's rows, in the query's order. */
export async function pageWithCount<DB, Table extends keyof DB, Row>(
  ordered: SelectQueryBuilder<DB, Table, Row>,
  { limit: asked, offset = 0 }: PageQuery,
  defaultLimit = 1000,
): Promise<Page<Simplify<Row>>> {
  const limit = asked ?? defaultLimit;
  const limited = ordered.limit(raw.lit(limit));
  const rows = await (offset === 0 ? limited : limited.offset(offset)).execute();
  // The last page shows how many rows there are. Before it and past the end, they have to be counted.
  if (rows.length < limit && (rows.length > 0 || offset === 0)) return { count: offset + rows.length, rows };
  const counting = countingOf(ordered);
  const ask = async () => countIn(await counting.execute());
  const count = recalled(counting, ask) ?? (await counted(counting, ask)).count;
  // There are at least those that are shown.
  return { count: rows.length > 0 ? Math.max(count, offset + rows.length) : count, rows };
}

/** The same in one statement whose plan is kept, for lists that are asked for often: short ones are counted too. */
export async function plannedPage<DB, Table extends keyof DB, Row>(
  db: Sql,
  ordered: SelectQueryBuilder<DB, Table, Row>,
  { limit: asked, offset = 0 }: PageQuery,
  defaultLimit: number,
): Promise<Page<Simplify<Row>>> {
  const limit = asked ?? defaultLimit;
  const limited = ordered.limit(raw.lit(limit));
  const counting = countingOf(ordered);
  const ask = async () => countIn(await runPlanned(db, counting));
  const before = recalled(counting, ask);
  const total = raw<number>`${before === undefined ? counting : raw`${before}::bigint`}`.as('total');
  const at = performance.now();
  const paged = (offset === 0 ? limited : limited.offset(offset)).select(total);
  const found = (await runPlanned(db, paged)) as unknown as (Simplify<Row> & { total: number })[];
  const [first] = found;
  if (!first) return { count: offset === 0 ? 0 : (before ?? (await counted(counting, ask)).count), rows: [] };
  if (before === undefined) note(counting, { count: first.total, at, tookMs: performance.now() - at });
  const shown = offset + found.length;
  return {
    count: found.length < limit ? shown : Math.max(first.total, shown),
    rows: found.map(({ total: _, ...row }) => row as unknown as Simplify<Row>),
  };
}

const countingOf = <DB, Table extends keyof DB, Row>(ordered: SelectQueryBuilder<DB, Table, Row>) =>
  ordered
    .clearSelect()
    .clearOrderBy()
    .select(({ fn }) => fn.countAll<number>().as('count'));

const countIn = ([counted]: readonly object[]): number => (counted as { count: number }).count;

/** A count up to this is never remembered. */
const EXACT = 10_000;
/** How old a remembered count may be. */
const OLDEST_MS = 60_000;
/** It is counted again after this at the earliest, and so seldom that counting takes no more than this share of the time. */
const AGAIN_MS = 2_000;
const SHARE = 0.05;
const MOST_KNOWN = 1_000;

interface Known {
  count: number;
  tookMs: number;
  at: number;
  again?: Promise<Known>;
}
const known = new Map<string, Known>();

/** Forgets all counts, because the data was replaced. */
export const forgetCounts = (): void => known.clear();

/**
 * Returns what was counted before, if that may still be told: to count half a million rows takes 60 to 300 ms, and who polls a list,
 * or reads it page by page, would have them counted each time. An older count is made anew behind the answer.
 */
function recalled(counting: Compilable, count: () => Promise<number>): number | undefined {
  // Most lists are shorter, and don't pay for this. A dry run sees rows that nobody else ever will.
  if (known.size === 0 || dryConnection()) return undefined;
  const found = known.get(keyOf(counting));
  const age = found ? performance.now() - found.at : Number.POSITIVE_INFINITY;
  if (!found || age > OLDEST_MS) return undefined;
  if (age > Math.max(AGAIN_MS, found.tookMs / SHARE)) {
    found.again ??= counted(counting, count);
    found.again.catch(() => {
      delete found.again;
    });
  }
  return found.count;
}

async function counted(counting: Compilable, count: () => Promise<number>): Promise<Known> {
  const at = performance.now();
  return note(counting, { count: await count(), at, tookMs: performance.now() - at });
}

function note(counting: Compilable, now: Known): Known {
  if (dryConnection()) return now;
  const key = known.size > 0 || now.count > EXACT ? keyOf(counting) : undefined;
  if (key === undefined) return now;
  known.delete(key);
  if (now.count <= EXACT) return now;
  if (known.size >= MOST_KNOWN) known.delete(known.keys().next().value as string);
  known.set(key, now);
  return now;
}

function keyOf(counting: Compilable): string {
  const { sql, parameters } = counting.compile();
  return JSON.stringify([sql, parameters]);
}

/**
 * Returns the same, but skips to a late page in an index alone: `ids` selects nothing but them in the order asked for, and
 * `read` returns the rows of the page, in any order. A page beyond the middle is skipped to from the end.
 */
export async function pageByIds<DB, Table extends keyof DB, Id extends number | string, Row extends { id: Id }>(
  ids: (direction: Direction) => SelectQueryBuilder<DB, Table, { id: Id }>,
  { direction, ...query }: PageQuery & { direction: Direction },
  defaultLimit: number,
  read: (ids: Id[]) => Promise<Row[]>,
): Promise<Page<Row>> {
  const { offset = 0 } = query;
  const page =
    offset === 0
      ? await pageWithCount(ids(direction), query, defaultLimit)
      : await oneFarAtATime(offset, () => pageFromNearerEnd(ids, { limit: defaultLimit, ...query, direction }));
  const wanted = page.rows.map(({ id }) => id);
  if (wanted.length === 0) return { count: page.count, rows: [] };
  const found = new Map((await read(wanted)).map((row) => [row.id, row]));
  // One may be gone by now.
  return { count: page.count, rows: wanted.flatMap((id) => found.get(id) ?? []) };
}

function oneFarAtATime<T>(offset: number, find: () => Promise<T>): Promise<T> {
  return offset < FAR ? find() : farPages.run(accountNow(), find);
}

type Direction = 'asc' | 'desc';
const OTHER = { asc: 'desc', desc: 'asc' } as const;

async function pageFromNearerEnd<DB, Table extends keyof DB, Row>(
  ordered: (direction: Direction) => SelectQueryBuilder<DB, Table, Row>,
  { limit, offset = 0, direction }: PageQuery & { limit: number; direction: Direction },
): Promise<Page<Simplify<Row>>> {
  // Exactly: it says where the page is.
  const count = countIn(await countingOf(ordered(direction)).execute());
  const behind = count - offset - limit;
  // The last page may be shorter.
  const length = Math.min(limit, count - offset);
  if (length <= 0) return { count, rows: [] };
  // Only what is newest first stays where it is from the end when something is written meanwhile.
  if (direction === 'asc' || behind >= offset) {
    return { count, rows: await ordered(direction).limit(raw.lit(length)).offset(offset).execute() };
  }
  const fromEnd = ordered(OTHER[direction]).limit(raw.lit(length)).offset(Math.max(0, behind));
  return { count, rows: (await fromEnd.execute()).reverse() };
}
