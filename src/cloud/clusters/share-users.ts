import { sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';

/** The name of a cluster whose Slurm add-on works on the share, or will when its running update has finished. */
export async function slurmClusterOn(tx: Transaction, shareId: string): Promise<string | undefined> {
  const path = '{add_ons,slurm,file_share_id}';
  const row = await tx.sql
    .selectFrom('kubernetes_clusters')
    .select('name')
    .where((eb) =>
      eb.or([
        eb(sql`configuration #>> ${sql.lit(path)}`, '=', shareId),
        eb(sql`next_configuration #>> ${sql.lit(path)}`, '=', shareId),
      ]),
    )
    .limit(1)
    .executeTakeFirst();
  return row?.name;
}
