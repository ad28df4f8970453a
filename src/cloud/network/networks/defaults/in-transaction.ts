import { sql } from 'kysely';
import { make, type Wanted, type WantScope } from '../../../../convergence/wants.ts';
import { isIn, type Place, type Transaction } from '../../../../db/database.ts';
import { networkSpec, subnetSpec } from '../tasks.ts';

export interface NetworkedRegion {
  id: number;
  /** The platform's external network; null where there is none. */
  external_network_id: string | null;
}

/** What a tunnel leaves of 1500 bytes. */
export const MTU = 1450;

/**
 * Adds missing default networks: one with a subnet for each region and project (only of the given account, if any),
 * and an external one for each region, with a subnet of each family. Ignores existing ones, so it can run at any time.
 * Returns what is wanted of the projects' networks; the platform's exist by themselves.
 */
export async function ensureDefaultNetworks(
  tx: Transaction,
  regions: readonly NetworkedRegion[],
  clientId?: number,
): Promise<{ wanted: Wanted; scope: WantScope }[]> {
  const made = await addProjectNetworks(tx, regions, clientId);
  const external = regions.filter((region) => region.external_network_id !== null);
  await addExternalNetworks(tx, external);
  await addExternalIpv6(tx, external);
  return made.flatMap(({ scope, network, subnet }) => [
    { scope, wanted: make('network', network.id, networkSpec(network)) },
    { scope, wanted: make('subnet', subnet.id, subnetSpec(subnet)) },
  ]);
}

/** A new network and its subnet, as the database writes them in JSON. */
interface MadeNetwork {
  scope: WantScope;
  network: Parameters<typeof networkSpec>[0] & { id: string };
  subnet: Parameters<typeof subnetSpec>[0] & { id: string };
}

// The subnet has 4093 addresses: more than the instances that one account may have.
async function addProjectNetworks(
  tx: Transaction,
  regions: readonly NetworkedRegion[],
  clientId: number | undefined,
): Promise<MadeNetwork[]> {
  const ids = regions.map((region) => region.id);
  const wanted = clientId === undefined ? sql`true` : sql`projects.client_id = ${clientId}`;
  const { rows } = await sql<MadeNetwork>`
    with made as (
      insert into networks (id, project_id, region_id, name, type, mtu, external, shared, is_default,
        port_security_enabled, segmentation_id, tags, created_at, updated_at)
      select gen_random_uuid(), projects.id, region.id, 'default', 'vxlan', ${MTU}, false, false, true,
        true, nextval('network_segments'), '{}', ${tx.now}, ${tx.now}
      from projects cross join unnest(${ids}::bigint[]) as region (id)
      where ${wanted} and not exists (
        select from networks
        where networks.project_id = projects.id and networks.region_id = region.id and networks.is_default
      )
      on conflict do nothing
      returning *
    ), subnet as (
      insert into subnets (id, network_id, name, cidr, enable_dhcp, gateway_ip, dns_nameservers, host_routes,
        first_address, last_address, free_from, tags, created_at, updated_at)
      select gen_random_uuid(), made.id, 'default', '10.0.0.0/20', true, '10.0.0.1', '["1.1.1.1", "9.9.9.9"]', '[]',
        '10.0.0.2', '10.0.15.254', '10.0.0.2', '{}', ${tx.now}, ${tx.now}
      from made
      returning *
    )
    select to_json(made) as network, to_json(subnet) as subnet,
      json_build_object('clientId', client_id, 'projectId', project_id, 'regionId', region_id) as scope
    from made join subnet on network_id = made.id join projects on projects.id = project_id`.execute(tx.sql);
  return rows;
}

/**
 * The external network is simulated. Its addresses are from the block for tests between networks (RFC 2544); each
 * region has one of its 32 parts.
 */
async function addExternalNetworks(tx: Transaction, external: readonly NetworkedRegion[]): Promise<void> {
  const ids = external.map((region) => region.id);
  const networkIds = external.map((region) => region.external_network_id);
  await sql`
    with made as (
      insert into networks (id, project_id, region_id, name, type, mtu, external, shared, is_default,
        port_security_enabled, segmentation_id, tags, created_at, updated_at)
      select region.network_id, null, region.id, 'external', 'vlan', 1500, true, true, false,
        true, null, '{}', ${tx.now}, ${tx.now}
      from unnest(${ids}::bigint[], ${networkIds}::uuid[]) as region (id, network_id)
      on conflict do nothing
      returning id, '198.18.0.0'::inet + (region_id % 32) * 4096 as base
    )
    insert into subnets (id, network_id, name, cidr, enable_dhcp, gateway_ip, dns_nameservers, host_routes,
      first_address, last_address, free_from, tags, created_at, updated_at)
    select gen_random_uuid(), made.id, 'external', set_masklen(made.base, 20)::cidr, true, made.base + 1,
      '["1.1.1.1", "9.9.9.9"]', '[]', made.base + 2, made.base + 4094, made.base + 2, '{}', ${tx.now}, ${tx.now}
    from made`.execute(tx.sql);
}

/** Adds ranges from the block for tests with IPv6 (RFC 5180), one for each region. */
async function addExternalIpv6(tx: Transaction, external: readonly NetworkedRegion[]): Promise<void> {
  const networkIds = external.map((region) => region.external_network_id);
  const ranges = external.map(({ id }) => `2001:2:0:${(id % 65_536).toString(16)}::/64`);
  await sql`
    insert into subnets (id, network_id, name, cidr, enable_dhcp, gateway_ip, dns_nameservers, host_routes,
      first_address, last_address, free_from, tags, created_at, updated_at)
    select gen_random_uuid(), networks.id, 'external-ipv6', range, true, base + 1,
      '["2606:4700:4700::1111", "2620:fe::fe"]', '[]',
      base + 2, set_masklen(broadcast(range), 128), base + 2, '{}', ${tx.now}, ${tx.now}
    from unnest(${networkIds}::uuid[], ${ranges}::cidr[]) as region (network_id, range)
    cross join lateral (select set_masklen(range::inet, 128) as base) as whole
    join networks on networks.id = region.network_id
    where not exists (select from subnets where network_id = networks.id and family(cidr) = 6)
    on conflict do nothing`.execute(tx.sql);
}

export async function defaultNetworkId(tx: Transaction, place: Place): Promise<string | undefined> {
  const row = await tx.sql
    .selectFrom('networks')
    .select('id')
    .where(isIn(place))
    .where('is_default', '=', true)
    .executeTakeFirst();
  return row?.id;
}

/** Deletes the networks of a project that is being deleted. A moved gateway may still have an address there. */
export async function removeNetworksOf(tx: Transaction, projectId: number): Promise<void> {
  const networks = tx.sql.selectFrom('networks').select('id').where('project_id', '=', projectId);
  const subnets = tx.sql.selectFrom('subnets').select('id').where('network_id', 'in', networks);
  await tx.sql.deleteFrom('ip_assignments').where('subnet_id', 'in', subnets).execute();
  await tx.sql.deleteFrom('subnets').where('network_id', 'in', networks).execute();
  await tx.sql.deleteFrom('networks').where('project_id', '=', projectId).execute();
}
