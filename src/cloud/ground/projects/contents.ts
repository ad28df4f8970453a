import { sql } from 'kysely';
import type { Transaction } from '../../../db/database.ts';
import { ALL_RESOURCES } from '../../../lib/resources.ts';

/** What clients keep in a project. */
const KEPT = ALL_RESOURCES.flatMap(([, { kept, table, many }]) =>
  kept && table ? { ...kept, table, many } : [],
);

/** Tables that hold it, and name the project. */
export const TABLES_OF_PROJECTS: readonly string[] = KEPT.flatMap(({ from, table }) => (from ? [] : [table]));

/** Returns what is left in a project: count and regions of each kind. Empty if only what it came with is left. */
export async function leftIn(tx: Transaction, projectId: number): Promise<string[]> {
  const kinds = KEPT.map(({ many, table, from = table, own = 'true', anywhere }) => {
    const regions = anywhere ? 'null' : 'array_agg(distinct region_id)';
    return sql`select ${many}::text as kind, count(*)::int as count, ${sql.raw(regions)}::bigint[] as regions
      from ${sql.raw(from)} where project_id = ${projectId} and ${sql.raw(own)}`;
  });
  const { rows } = await sql<{
    kind: string;
    count: number;
    regions: number[] | null;
  }>`${sql.join(kinds, sql` union all `)}`.execute(tx.sql);
  return rows
    .filter(({ count }) => count > 0)
    .map(({ kind, count, regions }) =>
      regions === null ? `${kind}: ${count}` : `${kind}: ${count} in ${place(regions)}`,
    );
}

function place(regions: number[]): string {
  return `region${regions.length === 1 ? '' : 's'} ${regions.join(', ')}`;
}
