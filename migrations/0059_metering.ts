import { type Kysely, sql } from 'kysely';

/**
 * What costs something, by table: how a row is metered, as SQL over `one`. `counts` says when: from when the resource is
 * made until its removal is accepted. Public addresses count as long as they are taken. A begun GiB counts whole.
 */
const METERED: {
  table: string;
  type: string;
  sku: string;
  amount: string;
  counts?: string;
  id?: string;
  name?: string;
  tags?: string;
  details?: string;
}[] = [
  {
    table: 'instances',
    type: `case when starts_with(one.flavor_id, 'bm') then 'baremetal' else 'instance' end`,
    sku: 'one.flavor_id',
    amount: '1',
    counts: `one.vm_state <> 'building' and one.task_state is distinct from 'deleting'`,
  },
  {
    table: 'volumes',
    type: `'volume'`,
    sku: 'one.volume_type',
    amount: 'one.size_gib',
    counts: `one.status not in ('creating', 'downloading', 'deleting')`,
  },
  {
    table: 'snapshots',
    type: `'snapshot'`,
    sku: 'one.volume_type',
    amount: 'one.size_gib',
    counts: `one.status not in ('creating', 'deleting')`,
    details: `jsonb_build_object('source_volume_uuid', one.volume_id)`,
  },
  {
    table: 'images',
    type: `'image'`,
    sku: `''`,
    amount: `greatest(ceil(one.size_bytes / 1073741824.0), 1)`,
    counts: `one.status = 'active'`,
    details: `jsonb_build_object('size', one.size_bytes)`,
  },
  {
    table: 'file_shares',
    type: `'file_share'`,
    sku: 'one.type_name',
    amount: 'one.size_gib',
    counts: `one.status not in ('creating', 'deleting')`,
  },
  {
    table: 'load_balancers',
    type: `'load_balancer'`,
    sku: `one.flavor ->> 'flavor_id'`,
    amount: '1',
    counts: `one.provisioning_status not in ('PENDING_CREATE', 'PENDING_DELETE', 'DELETED')`,
  },
  {
    table: 'floating_ips',
    type: `'floatingip'`,
    sku: `''`,
    amount: '1',
    name: 'host(one.address)',
    details: `jsonb_build_object('ip_address', host(one.address))`,
  },
  {
    table: 'logging_topics',
    type: `'log_index'`,
    sku: `''`,
    amount: 'ceil(one.size_in_bytes / 1073741824.0)',
    counts: 'one.size_in_bytes > 0',
    // A topic has no id. Its name is its own in its place.
    id: `md5(one.project_id || ' ' || one.region_id || ' ' || one.name)::uuid`,
    tags: 'null',
    details: `jsonb_build_object('size', one.size_in_bytes)`,
  },
];

/**
 * Usage of resources by the second, written by triggers in the transaction that changes the resource: whichever release
 * or process changes it, in whatever way. A period that has ended never changes.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await usagePeriods(db);
  await priceBooks(db);
  for (const { table, ...how } of METERED) await meterTable(db, table, how);
  await meterPublicAddresses(db);
  // In a large database, this takes a while: 3 seconds for 100,000 resources.
  await sql`set local statement_timeout = 0`.execute(db);
  for (const table of [...METERED.map((one) => one.table), 'ip_assignments']) await begin(db, table);
}

async function usagePeriods(db: Kysely<unknown>): Promise<void> {
  // No references: usage outlives its resource and its project.
  await sql`
    create table usage_periods (
      id bigint generated always as identity constraint usage_periods_pkey primary key,
      client_id bigint not null,
      project_id bigint not null,
      region_id bigint not null,
      type text not null,
      resource_id uuid not null,
      -- What kind of its type it is: a flavor, a type of volumes.
      sku text not null,
      -- In GiB for what has a size, else 1.
      amount bigint not null constraint usage_periods_amount check (amount > 0),
      name text,
      tags jsonb,
      details jsonb,
      started_at timestamptz not null,
      ended_at timestamptz,
      constraint usage_periods_order check (started_at < ended_at)
    )`.execute(db);
  await sql`
    create unique index usage_periods_open on usage_periods (resource_id) where ended_at is null`.execute(db);
  await sql`
    create index usage_periods_going_on on usage_periods (client_id) where ended_at is null`.execute(db);
  await sql`
    create index usage_periods_ended on usage_periods (client_id, ended_at, started_at)
      where ended_at is not null`.execute(db);
  // The clock of the process that changes something, if it says so. Earlier releases don't.
  await sql`
    create function tradewind_now() returns timestamptz language sql stable as $$
      select coalesce(nullif(current_setting('tradewind.now', true), '')::timestamptz, clock_timestamp())
    $$`.execute(db);
  await sql`
    create type usage_now as (
      resource_id uuid, project_id bigint, region_id bigint, type text, sku text, amount bigint, name text, tags jsonb,
      details jsonb
    )`.execute(db);
  // A clock may go back, or differ from that of another process: a period then begins where the last one ended. Within
  // one second, only the last state counts.
  await sql`
    create function meter() returns trigger language plpgsql as $$
    declare
      at constant timestamptz := date_trunc('second', tradewind_now());
      since timestamptz;
      former usage_now;
      present usage_now;
    begin
      if tg_op <> 'INSERT' then former := usage_of(old); end if;
      if tg_op <> 'DELETE' then present := usage_of(new); end if;
      if tg_op = 'UPDATE' and row(former.*) is not distinct from row(present.*) then return null; end if;
      if former.resource_id is not null then
        delete from usage_periods where resource_id = former.resource_id and ended_at is null and started_at >= at
        returning started_at into since;
        if not found then
          update usage_periods set ended_at = at where resource_id = former.resource_id and ended_at is null;
        end if;
      end if;
      if present.resource_id is not null and present.amount > 0 then
        insert into usage_periods (client_id, project_id, region_id, type, resource_id, sku, amount, name, tags, details,
          started_at)
        select projects.client_id, present.project_id, present.region_id, present.type, present.resource_id, present.sku,
          present.amount, present.name, present.tags, present.details, coalesce(since, at)
        from projects where projects.id = present.project_id;
      end if;
      return null;
    end $$`.execute(db);
}

/** The price books that have been in force, so that a new one leaves the costs of the past as they were. */
async function priceBooks(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table price_books (
      valid_from timestamptz constraint price_books_pkey primary key,
      book jsonb not null
    )`.execute(db);
  await sql`
    insert into price_books (valid_from, book)
    select applied_at, files::jsonb -> 'price-book.yaml' from catalog`.execute(db);
}

async function meterTable(
  db: Kysely<unknown>,
  table: string,
  how: Omit<(typeof METERED)[number], 'table'>,
): Promise<void> {
  const { type, sku, amount, counts = 'true', id = 'one.id', name = 'one.name' } = how;
  const { tags = 'one.tags', details = 'null' } = how;
  await sql`
    create function usage_of(one ${sql.id(table)}) returns usage_now language sql stable as $$
      select row(${sql.raw(id)}, one.project_id, one.region_id, ${sql.raw(type)}, ${sql.raw(sku)},
        case when ${sql.raw(counts)} then ${sql.raw(amount)} end, ${sql.raw(name)}, ${sql.raw(tags)},
        ${sql.raw(details)})::usage_now
    $$`.execute(db);
  await sql`
    create trigger meter after insert or update or delete on ${sql.id(table)}
      for each row execute function meter()`.execute(db);
}

/** Public IPv4 addresses of ports. They are known at the end of the transaction: addresses come before their ports. */
async function meterPublicAddresses(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function usage_of(one ip_assignments) returns usage_now language sql stable as $$
      select row(md5(one.port_id || host(one.address))::uuid, ports.project_id, ports.region_id, 'external_ip', '',
        case when networks.external and family(one.address) = 4 then 1 end, null, null,
        jsonb_build_object('ip_address', host(one.address), 'port_id', one.port_id, 'subnet_id', one.subnet_id,
          'network_id', networks.id, 'attached_to_vm', ports.instance_id))::usage_now
      from (select 1) as always
      left join subnets on subnets.id = one.subnet_id
      left join networks on networks.id = subnets.network_id
      left join ports on ports.id = one.port_id
    $$`.execute(db);
  await sql`
    create constraint trigger meter after insert or update or delete on ip_assignments
      deferrable initially deferred for each row execute function meter()`.execute(db);
}

/** What is there counts from now on: nobody knows how large it was before. */
async function begin(db: Kysely<unknown>, table: string): Promise<void> {
  await sql`
    insert into usage_periods (client_id, project_id, region_id, type, resource_id, sku, amount, name, tags, details,
      started_at)
    select projects.client_id, use.project_id, use.region_id, use.type, use.resource_id, use.sku, use.amount, use.name,
      use.tags, use.details, date_trunc('second', tradewind_now())
    from ${sql.id(table)} as one cross join lateral usage_of(one) as use
    join projects on projects.id = use.project_id
    where use.amount > 0 and use.resource_id is not null`.execute(db);
}
