import type { Insertable, Selectable } from 'kysely';
import type { Sql, Transaction } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';

export type DeletionRequestRow = Selectable<Tables['deletion_requests']>;

export async function findRequest(db: Sql, clientId: number): Promise<DeletionRequestRow | undefined> {
  return db.selectFrom('deletion_requests').selectAll().where('client_id', '=', clientId).executeTakeFirst();
}

export async function insertRequest(
  tx: Transaction,
  request: Insertable<Tables['deletion_requests']>,
): Promise<void> {
  await tx.sql.insertInto('deletion_requests').values(request).execute();
}

/** Returns undefined if there was none. */
export async function deleteRequest(
  tx: Transaction,
  clientId: number,
): Promise<DeletionRequestRow | undefined> {
  return tx.sql
    .deleteFrom('deletion_requests')
    .where('client_id', '=', clientId)
    .returningAll()
    .executeTakeFirst();
}

export async function addressOf(tx: Transaction, userId: number): Promise<string> {
  const user = await tx.sql
    .selectFrom('users')
    .select('email')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  return user.email;
}
