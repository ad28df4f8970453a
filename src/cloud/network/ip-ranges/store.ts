import { sql } from 'kysely';
import type { Sql } from '../../../db/database.ts';

/** Returns the ranges of these networks, those of IPv4 first. Simulated networks of several regions may have the same. */
export async function rangesOf(db: Sql, networkIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ cidr: string }>`
    select distinct cidr from subnets where network_id = any(${networkIds}::uuid[]) order by cidr`.execute(
    db,
  );
  return rows.map(({ cidr }) => cidr);
}
