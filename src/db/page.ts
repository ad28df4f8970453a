import type { SelectQueryBuilder, Simplify } from 'kysely';
import type { Page, PageQuery } from '../lib/page.ts';

/** One page of a query's rows, in the order that it asks for. */
export async function pageWithCount<DB, Table extends keyof DB, Row>(
  ordered: SelectQueryBuilder<DB, Table, Row>,
  { limit, offset = 0 }: PageQuery,
  defaultLimit = 1000,
): Promise<Page<Simplify<Row>>> {
  const rows = await ordered
    .limit(limit ?? defaultLimit)
    .offset(offset)
    .execute();
  const counted = await ordered
    .clearSelect()
    .clearOrderBy()
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return { count: (counted as { count: number }).count, rows };
}
