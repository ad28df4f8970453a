import type { Kysely } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import { renewVersions } from '../accounts/service.ts';
import type { AccountOfServices, ChangedService } from './state.ts';

export async function findAccounts(db: Kysely<Tables>, ids: readonly number[]): Promise<AccountOfServices[]> {
  return db
    .selectFrom('clients')
    .select(['id', 'status', 'created_at'])
    .where((row) => row('id', '=', row.fn.any(row.val([...ids]))))
    .execute();
}

export async function listChanged(db: Kysely<Tables>, ids: readonly number[]): Promise<ChangedService[]> {
  return db
    .selectFrom('client_services')
    .selectAll()
    .where((row) => row('client_id', '=', row.fn.any(row.val([...ids]))))
    .execute();
}

/** Also gives the account a new version. */
export async function putService(db: Kysely<Tables>, row: ChangedService): Promise<void> {
  const { status, previous_status, enabled, changed_at } = row;
  await db
    .insertInto('client_services')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['client_id', 'service'])
        .doUpdateSet({ status, previous_status, enabled, changed_at }),
    )
    .execute();
  await renewVersions(db, [row.client_id]);
}
