import { sql } from 'kysely';
import type { Transaction } from '../../../db/database.ts';
import { isIn, type Place } from '../../../db/place.ts';

/**
 * Returns the subnet for a file share and locks it and its network against deletion. Without `subnetId`, it is the
 * first IPv4 subnet of the network. Undefined if the project has no such network or subnet in the region; external
 * networks don't count.
 */
export async function keepShareSubnet(
  tx: Transaction,
  place: Place,
  networkId: string,
  subnetId: string | undefined,
) {
  let subnets = tx.sql
    .selectFrom('networks')
    .innerJoin('subnets', 'subnets.network_id', 'networks.id')
    .select(['networks.name as networkName', 'subnets.id as subnetId', 'subnets.name as subnetName'])
    .where('networks.id', '=', networkId)
    .where(isIn(place, 'networks'))
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
