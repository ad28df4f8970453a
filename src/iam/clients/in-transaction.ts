import type { Insertable, Kysely } from 'kysely';
import { insertDefaultProject } from '../../cloud/ground/projects/in-transaction.ts';
import type { Transaction } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { ConflictError, NotFoundError } from '../../lib/errors.ts';
import { ROLES } from '../../requests/principal.ts';
import { deletingTask, keepReseller, lockWholeClient } from '../accounts/in-transaction.ts';
import type { OfferedService } from '../accounts/schema.ts';
import { insertUser, refusePlatforms } from '../accounts/users/in-transaction.ts';
import { putForClient, shutUnavailable } from '../client-services/in-transaction.ts';
import type { Credentials } from '../identity/in-transaction.ts';
import { announceClient } from '../logins/in-transaction.ts';

export interface Account {
  clientId: number;
  userId: number;
}

/**
 * Inserts a client account with its administrator and its default project.
 * @throws ConflictError if the reseller is deleted
 */
export async function insertAccount(
  db: Kysely<Tables>,
  account: {
    company: string;
    resellerId: number;
    administrator: Omit<Insertable<Tables['users']>, 'client_id' | 'created_at'>;
    details?: Partial<
      Pick<Insertable<Tables['clients']>, 'custom_id' | 'country_code' | 'is_test' | 'seller_id' | 'phone'>
    >;
    /** Products that it may or may not have, whatever the reseller's defaults say. */
    products?: readonly { product: OfferedService; available: boolean }[];
    now: Date;
  },
): Promise<Account> {
  const { company, resellerId, administrator, details, products = [], now } = account;
  if (!(await keepReseller(db, resellerId))) throw new ConflictError(`Reseller ${resellerId} is deleted`);
  const { id: clientId } = await db
    .insertInto('clients')
    .values({
      company,
      reseller_id: resellerId,
      email: administrator.email,
      name: administrator.name ?? null,
      created_at: now,
      ...details,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const user = { ...administrator, client_id: clientId, created_at: now };
  const userId = await insertUser(db, user, ROLES.administrators.id);
  await putForClient(
    db,
    products.map((one) => ({ client_id: clientId, ...one })),
  );
  await shutUnavailable(db, clientId, now);
  await insertDefaultProject(db, clientId, now);
  return { clientId, userId };
}

export async function insertReseller(
  db: Kysely<Tables>,
  reseller: Insertable<Tables['resellers']>,
): Promise<number> {
  const { id } = await db.insertInto('resellers').values(reseller).returning('id').executeTakeFirstOrThrow();
  return id;
}

/**
 * Pauses an account or opens it again: no login or API token works in a paused account. Its resources stay and keep
 * running. After the commit, pass the result to the authenticator's `forget`.
 * @throws NotFoundError; ConflictError for the platform's own account, and to open one that is being deleted
 */
export async function changeStatus(
  tx: Transaction,
  clientId: number,
  status: 'active' | 'paused',
  now: Date,
): Promise<Credentials> {
  await refusePlatforms(tx.sql, clientId);
  const client = await lockWholeClient(tx, clientId);
  if (!client || client.deletedAt) throw new NotFoundError('Client', clientId);
  if (status === 'active') await refuseGoing(tx, clientId);
  if (client.status === status) return { tokens: [], logins: [] };
  await tx.sql.updateTable('clients').set({ status }).where('id', '=', clientId).execute();
  await tx.sql
    .insertInto('client_status_changes')
    .values({ client_id: clientId, old_status: client.status, new_status: status, changed_at: now })
    .execute();
  return announceClient(tx, clientId);
}

async function refuseGoing(tx: Transaction, clientId: number): Promise<void> {
  const task = await deletingTask(tx.sql, clientId);
  if (task === undefined) return;
  throw new ConflictError(`Client ${clientId} is being deleted by task ${task}; nothing can bring it back`);
}
