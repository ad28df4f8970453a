import { sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import { isIn, type Place } from '../../db/place.ts';

/**
 * The subnet that a file share is reached through: the first one of IPv4 in the network when none is named, and none of
 * the platform's networks to the outside. Undefined when either isn't there for the place; both are kept from being
 * deleted until the transaction ends.
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

/** What is to be deleted, for those who might need it. */
export type NetworkOrSubnet = { networkId: string } | { subnetId: string };

/** Whether the network is one of the platform's to the outside. */
export async function isOutside(tx: Transaction, networkId: string): Promise<boolean> {
  const network = await tx.sql
    .selectFrom('networks')
    .select('external')
    .where('id', '=', networkId)
    .executeTakeFirst();
  return network?.external ?? false;
}
