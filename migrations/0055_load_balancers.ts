import { type Kysely, sql } from 'kysely';

/** What every part of a load balancer has besides its own columns. */
const PART = sql`
  project_id bigint not null,
  region_id bigint not null,
  provisioning_status text not null,
  creator_task_id uuid not null,
  task_id uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  revision bigint not null default 1`;

/** Parts that are shown with a whole. Every writer has locked the load balancer before. */
const WHOLES = [
  ['lb_listeners', 'insert or delete', 'load_balancers', 'load_balancer_id'],
  ['lb_members', 'insert or update or delete', 'lb_pools', 'pool_id'],
  ['lb_l7_rules', 'insert or delete', 'lb_l7_policies', 'l7_policy_id'],
] as const;
const VERSIONED = ['load_balancers', 'lb_listeners', 'lb_pools', 'lb_members', 'lb_l7_policies', 'lb_l7_rules'];

/** Load balancers with their listeners, pools, members and L7 policies. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table load_balancers (
      id uuid constraint load_balancers_pkey primary key,
      ${PART},
      name text not null,
      -- As in the catalogue when it was chosen.
      flavor jsonb not null,
      -- Whether a request named the flavor. Answers don't show the default.
      flavor_named boolean not null,
      admin_state_up boolean not null,
      preferred_connectivity text not null
        constraint load_balancers_connectivity check (preferred_connectivity in ('L2', 'L3')),
      logging jsonb,
      -- How many failovers were requested.
      failovers integer not null,
      tags jsonb not null,
      constraint load_balancers_project foreign key (project_id) references projects
    )`.execute(db);
  await sql`
    create index load_balancers_by_age on load_balancers (project_id, region_id, created_at desc, id desc)`.execute(db);
  await sql`create index load_balancers_by_tag on load_balancers using gin (tags)`.execute(db);
  await sql`
    create table lb_pools (
      id uuid constraint lb_pools_pkey primary key,
      ${PART},
      load_balancer_id uuid not null
        constraint lb_pools_load_balancer references load_balancers on delete cascade,
      name text not null,
      protocol text not null,
      lb_algorithm text not null,
      admin_state_up boolean not null,
      session_persistence jsonb,
      health_monitor jsonb,
      timeout_client_data integer,
      timeout_member_connect integer,
      timeout_member_data integer,
      -- What the pool uses is in secret_uses as well, which keeps it.
      secret_id uuid,
      ca_secret_id uuid,
      crl_secret_id uuid
    )`.execute(db);
  await sql`create index lb_pools_by_load_balancer on lb_pools (load_balancer_id)`.execute(db);
  await sql`create index lb_pools_by_age on lb_pools (project_id, region_id, created_at desc, id desc)`.execute(db);
  await sql`
    create table lb_listeners (
      id uuid constraint lb_listeners_pkey primary key,
      ${PART},
      load_balancer_id uuid not null
        constraint lb_listeners_load_balancer references load_balancers on delete cascade,
      default_pool_id uuid constraint lb_listeners_default_pool references lb_pools on delete set null,
      name text not null,
      protocol text not null,
      protocol_port integer not null constraint lb_listeners_port_range check (protocol_port between 1 and 65535),
      admin_state_up boolean not null,
      connection_limit integer not null,
      insert_x_forwarded boolean not null,
      -- Null: from everywhere.
      allowed_cidrs text[],
      timeout_client_data integer,
      timeout_member_connect integer,
      timeout_member_data integer,
      user_list jsonb not null,
      secret_id uuid,
      sni_secret_ids uuid[] not null
    )`.execute(db);
  // UDP has ports of its own; every other protocol is TCP underneath.
  await sql`
    create unique index lb_listeners_port on lb_listeners (load_balancer_id, (protocol = 'UDP'), protocol_port)`.execute(
    db,
  );
  await sql`
    create index lb_listeners_by_age on lb_listeners (project_id, region_id, created_at desc, id desc)`.execute(db);
  await sql`create index lb_listeners_by_pool on lb_listeners (default_pool_id)`.execute(db);
  await sql`
    create table lb_members (
      id uuid constraint lb_members_pkey primary key,
      ${PART},
      load_balancer_id uuid not null
        constraint lb_members_load_balancer references load_balancers on delete cascade,
      pool_id uuid not null constraint lb_members_pool references lb_pools on delete cascade,
      address inet not null,
      protocol_port integer not null constraint lb_members_port_range check (protocol_port between 1 and 65535),
      -- Neither refers to a row: a member stays when its instance goes.
      subnet_id uuid,
      instance_id uuid,
      weight integer not null,
      backup boolean not null,
      admin_state_up boolean not null,
      monitor_address inet,
      monitor_port integer,
      constraint lb_members_address unique (pool_id, address, protocol_port)
    )`.execute(db);
  await sql`create index lb_members_by_load_balancer on lb_members (load_balancer_id)`.execute(db);
  await sql`create index lb_members_by_subnet on lb_members (subnet_id)`.execute(db);
  await sql`
    create table lb_l7_policies (
      id uuid constraint lb_l7_policies_pkey primary key,
      ${PART},
      load_balancer_id uuid not null
        constraint lb_l7_policies_load_balancer references load_balancers on delete cascade,
      listener_id uuid not null constraint lb_l7_policies_listener references lb_listeners on delete cascade,
      name text not null,
      action text not null,
      position integer not null,
      redirect_pool_id uuid constraint lb_l7_policies_pool references lb_pools,
      redirect_prefix text,
      redirect_url text,
      redirect_http_code integer,
      tags text[] not null
    )`.execute(db);
  await sql`create index lb_l7_policies_by_load_balancer on lb_l7_policies (load_balancer_id)`.execute(db);
  await sql`create index lb_l7_policies_by_listener on lb_l7_policies (listener_id)`.execute(db);
  await sql`create index lb_l7_policies_by_pool on lb_l7_policies (redirect_pool_id)`.execute(db);
  await sql`
    create index lb_l7_policies_by_age on lb_l7_policies (project_id, region_id, created_at desc, id desc)`.execute(db);
  await sql`
    create table lb_l7_rules (
      id uuid constraint lb_l7_rules_pkey primary key,
      ${PART},
      load_balancer_id uuid not null
        constraint lb_l7_rules_load_balancer references load_balancers on delete cascade,
      l7_policy_id uuid not null constraint lb_l7_rules_policy references lb_l7_policies on delete cascade,
      type text not null,
      compare_type text not null,
      key text,
      value text not null,
      invert boolean not null,
      tags text[] not null
    )`.execute(db);
  await sql`create index lb_l7_rules_by_load_balancer on lb_l7_rules (load_balancer_id)`.execute(db);
  await sql`create index lb_l7_rules_by_policy on lb_l7_rules (l7_policy_id)`.execute(db);
  for (const table of VERSIONED) {
    await sql`
      create trigger raise_revision before update on ${sql.id(table)}
        for each row execute function raise_revision()`.execute(db);
  }
  for (const [part, changes, whole, column] of WHOLES) {
    await sql`
      create trigger ${sql.id(`raise_revision_of_${whole}`)} after ${sql.raw(changes)} on ${sql.id(part)}
        for each row execute function raise_revision_of_whole(${sql.lit(whole)}, ${sql.lit(column)})`.execute(db);
  }
  // The port with the virtual address of a load balancer.
  await sql`alter table ports add column load_balancer_id uuid`.execute(db);
  await sql`
    alter table ports add constraint ports_load_balancer
      foreign key (load_balancer_id) references load_balancers not valid`.execute(db);
  await sql`
    alter table ports add constraint ports_held_by_one
      check (instance_id is null or load_balancer_id is null) not valid`.execute(db);
  await sql`
    alter table ports add constraint ports_used
      check (reserved or instance_id is not null or load_balancer_id is not null) not valid`.execute(db);
  await sql`alter table ports drop constraint ports_in_use`.execute(db);
}
