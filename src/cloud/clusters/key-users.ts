import { sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';

/** Up to `limit` clusters whose nodes get the key, or into whose Slurm it lets people, or will by its running update. */
export async function clustersWithKey(
  tx: Transaction,
  { id, project_id, name }: { id: string; project_id: number; name: string },
  limit: number,
): Promise<{ name: string; onlySlurm: boolean }[]> {
  // A UUID stands in a list of them, whatever its letter case, or it doesn't: no other text can hold it.
  const lists = (column: string) =>
    sql<boolean>`strpos(lower(${sql.ref(column)} #>> '{add_ons,slurm,ssh_key_ids}'), ${id}) > 0`;
  return tx.sql
    .selectFrom('kubernetes_clusters')
    .select(['name', sql<boolean>`keypair is distinct from ${name}`.as('onlySlurm')])
    .where('project_id', '=', project_id)
    .where((eb) => eb.or([eb('keypair', '=', name), lists('configuration'), lists('next_configuration')]))
    .orderBy('name')
    .limit(limit)
    .execute();
}
