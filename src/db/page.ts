import type { SelectQueryBuilder, Simplify } from 'kysely';
import type { Page, PageQuery } from '../lib/page.ts';

/** Returns one page of a query's rows, in the query's order. */
export async function pageWithCount<DB, Table extends keyof DB, Row>(
  ordered: SelectQueryBuilder<DB, Table, Row>,
  { limit: asked, offset = 0 }: PageQuery,
  defaultLimit = 1000,
): Promise<Page<Simplify<Row>>> {
  const limit = asked ?? defaultLimit;
  const rows = await ordered.limit(limit).offset(offset).execute();
  // The last page shows how many rows there are. Before it and past the end, they have to be counted.
  if (rows.length < limit && (rows.length > 0 || offset === 0)) return { count: offset + rows.length, rows };
  const counted = await ordered
    .clearSelect()
    .clearOrderBy()
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return { count: (counted as { count: number }).count, rows };
}
