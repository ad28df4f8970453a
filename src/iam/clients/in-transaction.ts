import { type Insertable, type Kysely, sql } from 'kysely';
import { insertDefaultProject } from '../../cloud/projects/in-transaction.ts';
import type { Transaction } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { ROLES } from '../../requests/principal.ts';
import { insertUser } from '../users/in-transaction.ts';

export interface Account {
  clientId: number;
  userId: number;
}

/** Inserts a client account with its administrator and its default project. */
export async function insertAccount(
  db: Kysely<Tables>,
  account: {
    company: string;
    resellerId: number;
    administrator: Omit<Insertable<Tables['users']>, 'client_id' | 'created_at'>;
    details?: Partial<
      Pick<Insertable<Tables['clients']>, 'custom_id' | 'country_code' | 'is_test' | 'seller_id' | 'phone'>
    >;
    now: Date;
  },
): Promise<Account> {
  const { company, resellerId, administrator, details, now } = account;
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

/** Locks accounts, so that only one request at a time changes their users and what they own. */
export async function lockClients(tx: Transaction, clientIds: readonly number[]): Promise<void> {
  if (clientIds.length === 0) return;
  await tx.sql
    .selectFrom('clients')
    .select('id')
    .where('id', 'in', clientIds)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

/** Changes the account's address with its first user's, unless it has its own. Call it before changing the user. */
export async function followAddress(db: Kysely<Tables>, userId: number, email: string): Promise<void> {
  await sql`
    update clients set email = ${email} from users
    where users.id = ${userId} and clients.id = users.client_id and clients.email = users.email`.execute(db);
}

/** Gives the account a new version, because something that is shown with it has changed. */
export async function renewVersion(db: Kysely<Tables>, clientId: number): Promise<void> {
  await db
    .updateTable('clients')
    .set((client) => ({ status: client.ref('status') }))
    .where('id', '=', clientId)
    .execute();
}
