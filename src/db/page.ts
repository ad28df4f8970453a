import type { SelectQueryBuilder, Simplify } from 'kysely';
import type { Page, PageQuery } from '../lib/page.ts';

/** One page of a query's rows, in the order that it asks for. */
export async function pageWithCount<DB, Table extends keyof DB, Row>(
  ordered: SelectQueryBuilder<DB, Table, Row>,
  { limit: asked, offset = 0 }: PageQuery,
  defaultLimit = 1000,
): Promise<Page<Simplify<Row>>> {
  const limit = asked ?? defaultLimit;
  const rows = await ordered.limit(limit).offset(offset).execute();
  // The end of the list says how many there are. Past the end, and before it, somebody has to count.
  if (rows.length < limit && (rows.length > 0 || offset === 0)) return { count: offset + rows.length, rows };
  const counted = await ordered
    .clearSelect()
    .clearOrderBy()
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return { count: (counted as { count: number }).count, rows };
}
