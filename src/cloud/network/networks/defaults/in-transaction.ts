import { sql } from 'kysely';
import { make, type Wanted, type WantScope } from '../../../../convergence/wants.ts';
import { isIn, type Place, type Transaction } from '../../../../db/database.ts';
import type { Catalog } from '../../../ground/catalog/service.ts';
import { networkSpec, subnetSpec } from '../tasks.ts';

/** What a tunnel leaves of 1500 bytes. */
export const MTU = 1450;

/**
 * Adds missing default networks with a subnet, one for each region and project (only of the given account, if any). Ignores
 * existing ones, so it can run at any time. Returns what is wanted of them.
 */
export async function ensureDefaultNetworks(
  tx: Transaction,
  offer: Pick<Catalog, 'keptIn' | 'regions'>,
  clientId?: number,
): Promise<{ wanted: Wanted; scope: WantScope }[]> {
  const made = await addProjectNetworks(tx, offer, clientId);
  return made.flatMap(({ scope, network, subnet }) => [
    { scope, wanted: make('network', network.id, networkSpec(network)) },
    { scope, wanted: make('subnet', subnet.id, subnetSpec({ ...subnet, is_default: true })) },
  ]);
}

/** A new network and its subnet, as the database writes them in JSON. */
interface MadeNetwork {
  scope: WantScope;
  network: Parameters<typeof networkSpec>[0] & { id: string };
  subnet: Omit<Parameters<typeof subnetSpec>[0], 'is_default'> & { id: string };
}

// The subnet has 4093 addresses: more than the instances that one account may have.
async function addProjectNetworks(
  tx: Transaction,
  { keptIn, regions }: Pick<Catalog, 'keptIn' | 'regions'>,
  clientId: number | undefined,
): Promise<MadeNetwork[]> {
  const ids = [...regions.keys()];
  const kept = ids.map((id) => keptIn(id, { cidr: '10.0.0.0/20', dhcp: true, gateway: '10.0.0.1' }));
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
        first, '10.0.15.254', first, '{}', ${tx.now}, ${tx.now}
      from made join unnest(${ids}::bigint[], ${kept}::int[]) as region (id, kept) on region.id = region_id
      cross join lateral (select '10.0.0.2'::inet + kept as first) as pool
      returning *
    )
    select to_json(made) as network, to_json(subnet) as subnet,
      json_build_object('clientId', client_id, 'projectId', project_id, 'regionId', region_id) as scope
    from made join subnet on network_id = made.id join projects on projects.id = project_id`.execute(tx.sql);
  return rows;
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
