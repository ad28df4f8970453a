import { sql as raw, type SelectQueryBuilder, type Simplify } from 'kysely';
import type { Page, PageQuery } from '../lib/page.ts';
import { accountNow } from '../lib/request-context.ts';
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
  return { count: await countOf(ordered, run), rows };
}

async function countOf<DB, Table extends keyof DB, Row>(
  ordered: SelectQueryBuilder<DB, Table, Row>,
  run: <R>(query: SelectQueryBuilder<DB, Table, R>) => Promise<Simplify<R>[]> = (query) => query.execute(),
): Promise<number> {
  const [counted] = await run(
    ordered
      .clearSelect()
      .clearOrderBy()
      .select(({ fn }) => fn.countAll<number>().as('count')),
  );
  return (counted as { count: number }).count;
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
  const count = await countOf(ordered(direction));
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
