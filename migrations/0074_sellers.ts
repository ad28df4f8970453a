import { type Kysely, sql } from 'kysely';
import { createIndexConcurrently } from './migration.ts';

/** Sellers, and the clients that each looks after. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table users add column if not exists is_seller boolean not null default false`.execute(db);
  await createIndexConcurrently(db, 'users_sellers', 'users (reseller_id, id) where is_seller');
  await createIndexConcurrently(db, 'clients_by_seller', 'clients (seller_id) where seller_id is not null');
}
