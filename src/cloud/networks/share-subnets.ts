import { sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import type { Place } from '../projects/place.ts';

/** Subnets that file shares are reached through; the platform's networks to the outside are not among them. */
export const shareSubnets = {
  /**
   * A subnet of the network, its first one of IPv4 when none is named; undefined when either isn't there for the place.
   * Both are kept from being deleted until the transaction ends.
   */
  async keep(tx: Transaction, place: Place, networkId: string, subnetId: string | undefined) {
    let subnets = tx.sql
      .selectFrom('networks')
      .innerJoin('subnets', 'subnets.network_id', 'networks.id')
      .select(['networks.name as networkName', 'subnets.id as subnetId', 'subnets.name as subnetName'])
      .where('networks.id', '=', networkId)
      .where('networks.project_id', '=', place.projectId)
      .where('networks.region_id', '=', place.regionId)
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
  },
};
