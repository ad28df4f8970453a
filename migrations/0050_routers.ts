import { type Kysely, sql } from 'kysely';

/** Routers, their interfaces in subnets, and the addresses that they hold. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Until now the platform routed every subnet by itself, and floating IPs worked in every network. It keeps that up in
  // the networks that are there, and in those that the previous release makes during the upgrade: their floating IPs
  // must go on working, although their projects have no routers.
  await sql`alter table networks add column platform_routed boolean not null default true`.execute(db);
  await sql`
    create table routers (
      id uuid constraint routers_pkey primary key,
      project_id bigint not null constraint routers_project references projects,
      region_id bigint not null,
      name text not null,
      -- Static routes in the order of the request.
      routes jsonb not null,
      -- The external network that it leads to. Null: it leads nowhere.
      gateway_network_id uuid constraint routers_gateway_network references networks,
      enable_snat boolean not null,
      -- The network with which it was made. New subnets of that network are connected to it.
      network_id uuid constraint routers_network references networks on delete set null,
      creator_task_id uuid not null,
      task_id uuid,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      revision bigint not null default 1,
      constraint routers_of_network unique (network_id)
    )`.execute(db);
  // Whoever changes its interfaces changes the router itself, too.
  await sql`
    create trigger raise_revision before update on routers
      for each row execute function raise_revision()`.execute(db);
  await sql`create index routers_by_age on routers (project_id, region_id, created_at desc, id desc)`.execute(db);
  await sql`create index routers_by_gateway on routers (gateway_network_id)`.execute(db);
  await sql`
    create table router_interfaces (
      port_id uuid constraint router_interfaces_pkey primary key,
      router_id uuid not null constraint router_interfaces_router references routers on delete cascade,
      subnet_id uuid not null constraint router_interfaces_subnet references subnets on delete cascade,
      address inet not null,
      -- As in ports: counted, so that none can come twice.
      mac_address macaddr not null default ('02' || lpad(to_hex(nextval('port_macs')), 10, '0'))::macaddr,
      created_at timestamptz not null,
      constraint router_interfaces_once unique (router_id, subnet_id),
      constraint router_interfaces_address unique (subnet_id, address)
    )`.execute(db);
  // For addresses of external gateways, and for interfaces that don't have their subnet's gateway address.
  await sql`alter table ip_assignments add column router_id uuid`.execute(db);
  await sql`
    alter table ip_assignments
      add constraint ip_assignments_router foreign key (router_id) references routers not valid`.execute(db);
  await sql`
    alter table ip_assignments add constraint ip_assignments_router_only
      check (router_id is null or (port_id is null and floating_ip_id is null)) not valid`.execute(db);
}
