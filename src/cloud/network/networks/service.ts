import { sql } from 'kysely';
import { belongsTo, type Place, type Transaction } from '../../../db/database.ts';
import { foundById } from '../../../lib/ids.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { portsOfNetwork } from '../ports/in-transaction.ts';
import { presentedNetwork, presentedSubnet } from './presenter.ts';
import type * as schema from './schema.ts';
import * as store from './store.ts';

export const listNetworks = (on: Platform, scope: Scope, query: schema.NetworkListQuery) =>
  store.listNetworks(on.database.sql, scope, query);

/** Lists networks of the project and the platform with their subnets. */
export const listAvailableNetworks = (on: Platform, scope: Scope, query: schema.AvailableNetworkQuery) =>
  store.listWithSubnets(on.database.sql, scope, query);

/** Also returns external networks. @throws NotFoundError */
export const getNetwork = (on: Platform, scope: Scope, id: string): Promise<store.NetworkRow> =>
  foundById('Network', id, () => store.findNetwork(on.database.sql, scope, id));

/** Lists the ports of the project's instances in a network, which may be the platform's. @throws NotFoundError */
export async function listPortsOfNetwork(on: Platform, scope: Scope, id: string): ReturnType<typeof portsOfNetwork> {
  const network = await getNetwork(on, scope, id);
  return portsOfNetwork(on.database.sql, scope, network.id);
}

/** Returns the networks with these IDs that the project sees, with complete subnets, for features that show them. */
export async function networksWithSubnets(
  on: Platform,
  scope: Scope,
  ids: string[],
): Promise<{ network: schema.NetworkAnswer; subnets: schema.SubnetAnswer[] }[]> {
  const found = await store.findWithSubnets(on.database.sql, scope, ids);
  return found.map(({ network, subnets }) => ({
    network: presentedNetwork(network, scope),
    subnets: subnets.map((subnet) => presentedSubnet(subnet, scope)),
  }));
}

export const listSubnets = (on: Platform, scope: Scope, query: schema.SubnetListQuery) =>
  store.listSubnets(on.database.sql, scope, query);

/** @throws NotFoundError */
export const getSubnet = (on: Platform, scope: Scope, id: string): Promise<store.SubnetRow> =>
  foundById('Subnet', id, () => store.findSubnet(on.database.sql, scope, id));

/**
 * Returns the subnet for a file share and locks it and its network against deletion. Without `subnetId`, it is the
 * first IPv4 subnet of the network. Undefined if the project has no such network or subnet in the region; external
 * networks don't count.
 */
export async function keepShareSubnet(tx: Transaction, place: Place, networkId: string, subnetId: string | undefined) {
  let subnets = tx.sql
    .selectFrom('networks')
    .innerJoin('subnets', 'subnets.network_id', 'networks.id')
    .select(['networks.name as networkName', 'subnets.id as subnetId', 'subnets.name as subnetName'])
    .where('networks.id', '=', networkId)
    .where(belongsTo(place, 'networks'))
    .where('networks.external', '=', false)
    .where('networks.ready', '=', true)
    .where('subnets.ready', '=', true);
  if (subnetId !== undefined) subnets = subnets.where('subnets.id', '=', subnetId);
  return subnets
    .orderBy(sql`family(subnets.cidr)`)
    .orderBy('subnets.created_at')
    .orderBy('subnets.cidr')
    .limit(1)
    .forShare()
    .executeTakeFirst();
}

/** The network or subnet that is to be deleted, for features that may use it. */
export type NetworkOrSubnet = { networkId: string } | { subnetId: string };
