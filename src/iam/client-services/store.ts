import type { Kysely } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import type { AccountOfServices, ChangedService } from './state.ts';

export async function findAccounts(db: Kysely<Tables>, ids: readonly number[]): Promise<AccountOfServices[]> {
  return db
    .selectFrom('clients')
    .select(['id', 'status', 'created_at'])
    .where((row) => row('id', '=', row.fn.any(row.val([...ids]))))
    .execute();
}

/** The account's services change for one request at a time. */
export async function lockAccount(tx: Transaction, id: number): Promise<void> {
  await tx.sql.selectFrom('clients').select('id').where('id', '=', id).forNoKeyUpdate().execute();
}

export async function listChanged(db: Kysely<Tables>, ids: readonly number[]): Promise<ChangedService[]> {
  return db
    .selectFrom('client_services')
    .selectAll()
    .where((row) => row('client_id', '=', row.fn.any(row.val([...ids]))))
    .execute();
}

/** The account has another version from then on. */
export async function putService(
  db: Kysely<Tables>,
  row: ChangedService & { service: 'CLOUD' | 'STREAMING' },
): Promise<void> {
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
  await db
    .updateTable('clients')
    .set((client) => ({ status: client.ref('status') }))
    .where('id', '=', row.client_id)
    .execute();
}

/** Whether the platform's administrator works in that account. */
export async function isPlatforms(db: Kysely<Tables>, clientId: number): Promise<boolean> {
  const administrator = await db
    .selectFrom('users')
    .select('id')
    .where('client_id', '=', clientId)
    .where('platform_administrator', '=', true)
    .executeTakeFirst();
  return administrator !== undefined;
}
