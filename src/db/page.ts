import type { SelectQueryBuilder, Simplify } from 'kysely';

/** One page of a query's rows, in the order that it asks for, with the number of all that match. */
export async function pageWithCount<DB, Table extends keyof DB, Row>(
  ordered: SelectQueryBuilder<DB, Table, Row>,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; rows: Simplify<Row>[] }> {
  const rows = await ordered.limit(limit).offset(offset).execute();
  const counted = await ordered
    .clearSelect()
    .clearOrderBy()
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return { count: (counted as { count: number }).count, rows };
}
