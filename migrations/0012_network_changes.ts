import { type Kysely, sql } from 'kysely';

/** Networks, subnets and ports that clients make and change. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // False while it is being made or removed: it assigns no addresses then.
  await sql`alter table networks add column ready boolean not null default true`.execute(db);
  await sql`alter table subnets add column ready boolean not null default true`.execute(db);
  await sql`alter table networks add check (ready or task_id is not null)`.execute(db);
  await sql`alter table subnets add check (ready or task_id is not null)`.execute(db);
  await sql`
    create unique index networks_vlan on networks (region_id, segmentation_id)
      where type = 'vlan' and segmentation_id is not null`.execute(db);
  await sql`
    alter table networks add constraint networks_vlan_range
      check (type <> 'vlan' or segmentation_id between 1 and 4094)`.execute(db);
  // Null for the gateway's address, if that is among the addresses that ports may get.
  await sql`alter table ip_assignments alter column port_id drop not null`.execute(db);
  await sql`create unique index ip_assignments_gateway on ip_assignments (subnet_id) where port_id is null`.execute(db);
  await sql`
    alter table ports
      add column allowed_address_pairs jsonb not null default '[]',
      -- The task that changes it.
      add column task_id uuid`.execute(db);
}
