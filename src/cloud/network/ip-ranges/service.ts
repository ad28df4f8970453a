import { sql } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import type { Platform } from '../../../platform.ts';

/** Returns the ranges of these networks, those of IPv4 first. Simulated networks of several regions may have the same. */
export async function rangesOf(db: Sql, networkIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ cidr: string }>`
    select distinct cidr from subnets where network_id = any(${networkIds}::uuid[]) order by cidr`.execute(
    db,
  );
  return rows.map(({ cidr }) => cidr);
}

/** Returns the ranges of the external networks of all regions, each once. */
export const listEgressRanges = (on: Platform): Promise<string[]> =>
  rangesOf(
    on.database.sql,
    [...on.catalog.regions.values()].flatMap(({ external_network_id }) => external_network_id ?? []),
  );
