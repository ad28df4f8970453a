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

/** A client account with its administrator and its default project. */
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

/** Who belongs to these accounts, and what is theirs, changes for one request at a time. */
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

/** The account has the address of its first user until it is given another one. To be called before the user's changes. */
export async function followAddress(db: Kysely<Tables>, userId: number, email: string): Promise<void> {
  await sql`
    update clients set email = ${email} from users
    where users.id = ${userId} and clients.id = users.client_id and clients.email = users.email`.execute(db);
}

/** Something that is shown with the account has changed: it has another version from then on. */
export async function renewVersion(db: Kysely<Tables>, clientId: number): Promise<void> {
  await db
    .updateTable('clients')
    .set((client) => ({ status: client.ref('status') }))
    .where('id', '=', clientId)
    .execute();
}
