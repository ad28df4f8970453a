import { type Kysely, sql } from 'kysely';

/**
 * Reserved addresses that several ports share. A port shares an address that is among its allowed address
 * pairs.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table ports
      add column is_vip boolean not null default false,
      add constraint ports_vip check (not is_vip or (reserved and instance_id is null))`.execute(db);
  await sql`
    create index ports_by_pair on ports using gin (allowed_address_pairs jsonb_path_ops)
      where allowed_address_pairs <> '[]'`.execute(db);
}
