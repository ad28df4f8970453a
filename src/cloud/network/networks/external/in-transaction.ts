import { sql } from 'kysely';
import { type Transaction, violates } from '../../../../db/database.ts';
import { SettingError } from '../../../../lib/errors.ts';
import { type Catalog, type Prefix, prefixOf, type Region } from '../../../ground/catalog/service.ts';

/* External networks are the platform's: the catalogue names them, and each of their prefixes is a subnet. */

type Offer = Pick<Catalog, 'keptIn' | 'regions'>;

/** A prefix of the catalogue. */
interface Wanted extends Prefix {
  region_id: number;
  network_id: string;
  network: string;
  /** Whether it is the region's part of the ranges for tests, because the catalogue names no prefixes. */
  by_default: boolean;
}

/** A subnet that the catalogue wants, or that exists, or both. */
interface Planned extends Omit<Wanted, 'by_default' | 'family'> {
  subnet_id: string;
  name: string;
  by_default: boolean | null;
  state: 'as-wanted' | 'changed' | 'gone' | 'new';
}

/** A subnet that has addresses in common with another. */
interface Overlap extends Pick<Planned, 'cidr' | 'network' | 'region_id'> {
  by_default: boolean;
  other: string;
}

/**
 * Makes the external networks what the catalogue says: adds, changes and removes prefixes, and what was given out stays. A
 * region whose catalogue names no prefixes keeps what it has; a new one gets a part of the ranges for tests. The catalogue must
 * be locked.
 * @throws SettingError for prefixes that overlap, and for those that would lose addresses in use
 */
export async function ensureExternalNetworks(tx: Transaction, { regions: offered, keptIn }: Offer): Promise<void> {
  const regions = [...offered.values()];
  const unnamed = regions.filter((one) => one.external_networks.length === 0 && one.external_network_id !== null);
  const there = await withExternalNetworks(tx, unnamed);
  const wanted = regions.flatMap((region) => (there.has(region.id) ? [] : wantedIn(region, keptIn)));
  const plan = await planFor(tx, wanted, [...there]);
  const leaving = plan.filter(({ state }) => state === 'changed' || state === 'gone');
  const kept = leaving.length > 0 ? await releaseUnused(tx, leaving, offered) : new Set<string>();
  const removed = plan.filter(({ state, subnet_id }) => state === 'gone' && !kept.has(subnet_id));
  await remove(tx, removed, [...there]);
  const added = plan.filter(({ state }) => state === 'new');
  await write(tx, [...added, ...plan.filter(({ state }) => state === 'changed')]);
  if (added.length > 0) await refuseOverlaps(tx, added);
}

async function withExternalNetworks(tx: Transaction, regions: readonly Region[]): Promise<Set<number>> {
  const ids = regions.map(({ id }) => id);
  const { rows } = await sql<{ region_id: number }>`
    select distinct region_id from networks where external and region_id = any(${ids}::bigint[])`.execute(tx.sql);
  return new Set(rows.map(({ region_id }) => region_id));
}

function wantedIn(region: Region, keptIn: Offer['keptIn']): Wanted[] {
  const { id: region_id, external_network_id, external_networks: named } = region;
  const networks =
    named.length > 0 || external_network_id === null
      ? named
      : [{ id: external_network_id, name: 'external', prefixes: testPrefixes(region_id) }];
  return networks.flatMap(({ id: network_id, name: network, prefixes }) =>
    prefixes.map((entry) => {
      const prefix = prefixOf(entry, (space) => keptIn(region_id, { ...space, dhcp: true }));
      if (!('message' in prefix)) return { ...prefix, region_id, network_id, network, by_default: named.length === 0 };
      throw refusal([`${prefix.field} of a prefix of network ${network} in region ${region_id} ${prefix.message}`]);
    }),
  );
}

/** One of the 32 parts of the block for tests between networks (RFC 2544), and of that for IPv6 (RFC 5180). */
function testPrefixes(regionId: number): { cidr: string }[] {
  const part = regionId % 32;
  return [
    { cidr: `198.${part < 16 ? 18 : 19}.${(part % 16) * 16}.0/20` },
    { cidr: `2001:2:0:${(regionId % 65_536).toString(16)}::/64` },
  ];
}

/** Compares the networks of the catalogue with those in the database. Leaves out regions that keep what they have. */
async function planFor(tx: Transaction, wanted: readonly Wanted[], keepers: readonly number[]): Promise<Planned[]> {
  const { rows } = await sql<Planned>`
    with wanted as (
      select *, network || case family when 'IPv6' then '-ipv6' else '' end as name
      from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as one (region_id bigint, network_id uuid, network text,
        by_default boolean, cidr cidr, family text, gateway inet, first inet, last inet)
    ), known as (
      select subnets.id as subnet_id, region_id, network_id, networks.name as network, subnets.name, cidr,
        gateway_ip as gateway, first_address as first, last_address as last
      from subnets join networks on networks.id = network_id
      where external and region_id <> all(${[...keepers]}::bigint[])
    )
    select coalesce(known.subnet_id, gen_random_uuid()) as subnet_id, region_id, network_id, cidr, by_default,
      coalesce(wanted.network, known.network) as network, coalesce(wanted.name, known.name) as name,
      wanted.gateway, wanted.first, wanted.last,
      case when known.subnet_id is null then 'new' when wanted.name is null then 'gone'
        when (wanted.network, wanted.name, wanted.gateway, wanted.first, wanted.last)
          is distinct from (known.network, known.name, known.gateway, known.first, known.last) then 'changed'
        else 'as-wanted' end as state
    from known full join wanted using (region_id, network_id, cidr)
    order by region_id, network_id, cidr`.execute(tx.sql);
  return rows;
}

/**
 * Locks the subnets, which must have no address in use that they lose. Nobody takes one meanwhile. Returns those that stay
 * although their region is gone from the catalogue.
 * @throws SettingError with how many are in use
 */
async function releaseUnused(tx: Transaction, plan: readonly Planned[], regions: Catalog['regions']) {
  const ids = plan.map(({ subnet_id }) => subnet_id);
  // Who has picked one that is offered will lock the subnet, so first it has to be done.
  const offerNoMore = () =>
    sql`delete from free_external_addresses where subnet_id = any(${ids}::uuid[])`.execute(tx.sql);
  await offerNoMore();
  await sql`select from subnets where id = any(${ids}::uuid[]) order by id for update`.execute(tx.sql);
  await offerNoMore();
  const { rows } = await sql<{ subnet_id: string; used: number }>`
    select subnet_id, count(*) as used
    from ip_assignments join jsonb_to_recordset(${JSON.stringify(plan)}::jsonb)
      as plan (subnet_id uuid, state text, gateway inet, first inet, last inet) using (subnet_id)
    where (port_id is not null or floating_ip_id is not null or router_id is not null)
      and (state = 'gone' or address not between first and last or address = gateway)
    group by subnet_id`.execute(tx.sql);
  const used = new Map(rows.map((row) => [row.subnet_id, Number(row.used)]));
  const stays = plan.filter(({ subnet_id, region_id }) => used.has(subnet_id) && !regions.has(region_id));
  const refused = plan.flatMap((one) => {
    const count = used.get(one.subnet_id);
    if (count === undefined || stays.includes(one)) return [];
    const addresses = count === 1 ? '1 address' : `${count} addresses`;
    return one.state === 'gone'
      ? `${titleOf(one)} is missing, but ${addresses} of it ${count === 1 ? 'is' : 'are'} in use`
      : `${titleOf(one)} leaves out ${addresses} in use`;
  });
  if (refused.length > 0) throw refusal(refused, 'Leave them in the catalogue until nobody uses them any more.');
  return new Set(stays.map(({ subnet_id }) => subnet_id));
}

const titleOf = ({ cidr, network, region_id }: Pick<Planned, 'cidr' | 'network' | 'region_id'>) =>
  `${cidr} of network ${network} in region ${region_id}`;

const refusal = (lines: readonly string[], advice?: string) =>
  new SettingError(
    [
      "Can't use the external networks of the catalogue:",
      ...lines.map((line) => `  ${line}`),
      ...(advice ? [advice] : []),
    ].join('\n'),
  );

/** Removes subnets, and the networks that are left without any. */
async function remove(tx: Transaction, gone: readonly Planned[], keepers: readonly number[]): Promise<void> {
  if (gone.length === 0) return;
  const ids = gone.map(({ subnet_id }) => subnet_id);
  const networkIds = gone.map(({ network_id }) => network_id);
  await sql`delete from ip_assignments where subnet_id = any(${ids}::uuid[])`.execute(tx.sql);
  await sql`delete from subnets where id = any(${ids}::uuid[])`.execute(tx.sql);
  await sql`
    delete from networks where id = any(${networkIds}::uuid[]) and external
      and region_id <> all(${[...keepers]}::bigint[])
      and not exists (select from subnets where network_id = networks.id)`.execute(tx.sql);
}

/** Adds and changes subnets. All of their addresses are offered again. */
async function write(tx: Transaction, plan: readonly Planned[]): Promise<void> {
  if (plan.length === 0) return;
  const planned = sql`
    jsonb_to_recordset(${JSON.stringify(plan)}::jsonb) as plan (subnet_id uuid, region_id bigint, network_id uuid, network text,
      name text, cidr cidr, gateway inet, first inet, last inet)`;
  await sql`
    insert into networks (id, project_id, region_id, name, type, mtu, external, shared, is_default,
      port_security_enabled, segmentation_id, tags, created_at, updated_at)
    select distinct network_id, null::bigint, region_id, network, 'vlan', 1500, true, true, false,
      true, null::integer, '{}'::jsonb, ${tx.now}::timestamptz, ${tx.now}::timestamptz
    from ${planned}
    where not exists (select from networks where id = network_id and networks.region_id = plan.region_id and external)`
    .execute(tx.sql)
    .catch((error: unknown) => {
      if (!violates(error, 'networks_pkey')) throw error;
      throw refusal(['The id of an external network is that of another network; choose another']);
    });
  await sql`
    update networks set name = network, updated_at = ${tx.now} from ${planned}
    where networks.id = network_id and networks.name <> network`.execute(tx.sql);
  await sql`
    insert into subnets (id, network_id, name, cidr, enable_dhcp, gateway_ip, dns_nameservers, host_routes,
      first_address, last_address, free_from, tags, created_at, updated_at)
    select subnet_id, network_id, name, cidr, true, gateway,
      case family(cidr) when 4 then '["1.1.1.1", "9.9.9.9"]' else '["2606:4700:4700::1111", "2620:fe::fe"]' end::jsonb,
      '[]', first, last, first, '{}', ${tx.now}, ${tx.now}
    from ${planned}
    on conflict (id) do update set name = excluded.name, gateway_ip = excluded.gateway_ip,
      first_address = excluded.first_address, last_address = excluded.last_address, free_from = excluded.free_from,
      offered_to = null, updated_at = excluded.updated_at`.execute(tx.sql);
  // A gateway in the middle is kept, as in subnets of projects.
  const ids = plan.map(({ subnet_id }) => subnet_id);
  await sql`
    delete from ip_assignments where subnet_id = any(${ids}::uuid[])
      and port_id is null and floating_ip_id is null and router_id is null`.execute(tx.sql);
  await sql`
    insert into ip_assignments (subnet_id, address)
    select subnet_id, gateway from ${planned} where gateway between first and last`.execute(tx.sql);
}

/** @throws SettingError naming both of each two external subnets that have addresses in common, if one is new */
async function refuseOverlaps(tx: Transaction, added: readonly Planned[]): Promise<void> {
  const { rows } = await sql<Overlap>`
    select plan.cidr, plan.network, plan.region_id, by_default,
      other.cidr || ' of network ' || networks.name || ' in region ' || networks.region_id as other
    from jsonb_to_recordset(${JSON.stringify(added)}::jsonb)
      as plan (subnet_id uuid, region_id bigint, network text, by_default boolean, cidr cidr)
    join subnets as other on other.cidr && plan.cidr and other.id <> subnet_id
    join networks on networks.id = other.network_id and external
    order by plan.region_id, plan.cidr`.execute(tx.sql);
  if (rows.length === 0) return;
  const lines = rows.map((one) =>
    one.by_default
      ? `region ${one.region_id} names no prefixes, and its part of the ranges for tests, ${one.cidr}, overlaps ${one.other}`
      : `${titleOf(one)} overlaps ${one.other}`,
  );
  const advice = rows.some((one) => one.by_default) ? 'Name the prefixes in catalog/regions.yaml.' : undefined;
  throw refusal(lines, advice);
}
