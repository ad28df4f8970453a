import { type Kysely, sql } from 'kysely';

/** Who takes an external address deletes its row here, without locking the subnet, which is everybody's. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table free_external_addresses (
      subnet_id uuid not null constraint free_external_addresses_subnet_fkey references subnets on delete cascade,
      address inet not null,
      constraint free_external_addresses_pkey primary key (subnet_id, address)
    )`.execute(db);
  await sql`alter table subnets add column offered_to inet`.execute(db);
  // Counts of external subnets are no longer kept. The release before goes on counting what it gives back itself.
  await sql`alter table subnets drop constraint subnets_used_ips_check`.execute(db);
}
