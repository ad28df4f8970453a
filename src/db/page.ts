import { type Compilable, sql as raw, type SelectQueryBuilder, type Simplify } from 'kysely';
import type { Page, PageQuery } from '../lib/page.ts';
import { accountNow, dryConnection } from '../lib/request-context.ts';
import { createTurns } from '../lib/turns.ts';

/** Such pages cost as much as lies before them: an account finds one at a time in each process, and in about a third of the time. */
const FAR = 1_000;
const farPages = createTurns(4, { most: 1, restAfterMs: 1, restTimes: 2, patienceMs: 10_000 });

/** Returns one page of a query's rows, in the query's order. */
export async function pageWithCount<DB, Table extends keyof DB, Row>(
  ordered: SelectQueryBuilder<DB, Table, Row>,
  { limit: asked, offset = 0 }: PageQuery,
  defaultLimit = 1000,
  run: <R>(query: SelectQueryBuilder<DB, Table, R>) => Promise<Simplify<R>[]> = (query) => query.execute(),
): Promise<Page<Simplify<Row>>> {
  const limit = asked ?? defaultLimit;
  const limited = ordered.limit(raw.lit(limit));
  const rows = await run(offset === 0 ? limited : limited.offset(offset));
  // The last page shows how many rows there are. Before it and past the end, they have to be counted.
  if (rows.length < limit && (rows.length > 0 || offset === 0)) return { count: offset + rows.length, rows };
  const counting = countingOf(ordered);
  const count = await remembered(counting, async () => countIn(await run(counting)));
  // There are at least those that are shown.
  return { count: rows.length > 0 ? Math.max(count, offset + rows.length) : count, rows };
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
 * Counts, or says what was counted before: to count half a million rows takes 60 to 300 ms, and who polls a list, or reads it
 * page by page, would have them counted each time.
 */
async function remembered(counting: Compilable, count: () => Promise<number>): Promise<number> {
  // Most lists are shorter, and don't pay for this. A dry run sees rows that nobody else ever will.
  if (known.size === 0 || dryConnection()) return (await counted(counting, count)).count;
  const found = known.get(keyOf(counting));
  const age = found ? performance.now() - found.at : Number.POSITIVE_INFINITY;
  if (!found || age > OLDEST_MS) return (await counted(counting, count)).count;
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
  const now: Known = { count: await count(), at, tookMs: performance.now() - at };
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
