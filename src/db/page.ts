import type { SelectQueryBuilder, Simplify } from 'kysely';
import type { Tables } from './tables.ts';

/** One page of a query's rows, in the order that it asks for, with the number of all that match. */
export async function pageWithCount<Table extends keyof Tables, Row>(
  ordered: SelectQueryBuilder<Tables, Table, Row>,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; rows: Simplify<Row>[] }> {
  const rows = await ordered.limit(limit).offset(offset).execute();
  const { count } = await ordered
    .clearSelect()
    .clearOrderBy()
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return { count, rows };
}
