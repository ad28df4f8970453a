import { type Kysely, sql } from 'kysely';

/** IPv6 subnets, which have more addresses than a bigint can count. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The size of the range minus the addresses before and after the pool: the difference of two IPv6 addresses
  // overflows.
  await sql`alter table subnets drop column total_ips`.execute(db);
  await sql`
    alter table subnets add column total_ips numeric(39, 0) generated always as (
      power(2::numeric, case family(cidr) when 4 then 32 else 128 end - masklen(cidr))
        - (first_address - cidr) - (broadcast(cidr) - last_address)
    ) stored`.execute(db);
  await sql`
    alter table subnets
      add constraint subnets_pool_in_range check (first_address <<= cidr and last_address <<= cidr),
      add constraint subnets_free_in_range check (free_from >= first_address and free_from - 1 <= last_address),
      add constraint subnets_gateway_in_range check (gateway_ip <<= cidr)`.execute(db);
}
