import type { Kysely } from 'kysely';
import { createIndexConcurrently } from './migration.ts';

/** For the sellers of a reseller, and the clients that each looks after. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndexConcurrently(db, 'users_sellers', 'users (reseller_id, id) where is_seller');
  await createIndexConcurrently(db, 'clients_by_seller', 'clients (seller_id) where seller_id is not null');
}
