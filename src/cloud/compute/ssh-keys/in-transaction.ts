import { sql } from 'kysely';
import type { Transaction } from '../../../db/database.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { SshKeyRow } from './store.ts';

/** Locks keys of the project against deletion, whoever may use them, and returns those that exist. */
export async function keep(
  tx: Transaction,
  { projectId }: { projectId: number },
  { names, ids }: { names: string[]; ids: string[] },
): Promise<Pick<SshKeyRow, 'id' | 'name' | 'public_key'>[]> {
  return tx.sql
    .selectFrom('ssh_keys')
    .select(['id', 'name', 'public_key'])
    .where('project_id', '=', projectId)
    .where(sql<boolean>`(name = any(${names}) or id = any(${ids.filter(isUuid)}::uuid[]))`)
    .orderBy('id')
    .forKeyShare()
    .execute();
}
