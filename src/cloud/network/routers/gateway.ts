import type { Transaction } from '../../../db/database.ts';
import { ConflictError, InvalidError } from '../../../lib/errors.ts';
import type { Scope } from '../../ground/projects/service.ts';
import * as addresses from '../addresses/in-transaction.ts';
import { overlap } from './static-routing.ts';
import * as store from './store.ts';

/** The external network that a router leads to. */
interface Gateway {
  networkId: string;
  enableSnat: boolean;
}

interface GatewayWish {
  type?: 'default' | 'manual' | undefined;
  network_id?: string | undefined;
  enable_snat?: boolean | null | undefined;
}

const FIELD = 'external_gateway_info';

/** @throws InvalidError for a network that is no external one of the region, and for a region without one */
export async function wantedGateway(tx: Transaction, scope: Scope, wish: GatewayWish): Promise<Gateway> {
  const { type, network_id: named } = wish;
  const enableSnat = wish.enable_snat ?? true;
  if (type === 'manual' && named === undefined) {
    throw new InvalidError({ [`${FIELD}.network_id`]: ['Is required with type manual.'] });
  }
  if (named === undefined) {
    const networkId = scope.region.external_network_id;
    if (networkId !== null) return { networkId, enableSnat };
    throw new InvalidError({ [FIELD]: ['This region has no external network; leave it out.'] });
  }
  if (type === 'default') {
    throw new InvalidError({
      [`${FIELD}.network_id`]: ['Is only allowed with type manual; the platform chooses with type default.'],
    });
  }
  if (await store.isExternal(tx, scope.regionId, named)) {
    return { networkId: named.toLowerCase(), enableSnat };
  }
  throw new InvalidError({ [`${FIELD}.network_id`]: [`No external network ${named} in this region.`] });
}

/**
 * Takes an address outside for a router that leads there from now on. Its row must be written.
 * @throws ConflictError when a subnet overlaps the external network, or no address is left
 */
export async function takeOutside(tx: Transaction, scope: Scope, router: store.RouterRow): Promise<void> {
  if (router.gateway_network_id === null) return;
  const ranges = await store.rangesOf(tx, router.gateway_network_id);
  for (const { cidr } of router.interfaces) {
    const other = ranges.find((range) => overlap(range, cidr));
    if (other === undefined) continue;
    throw new ConflictError(
      `Router ${router.name} is attached to ${cidr}, which overlaps ${other} of the external network`,
    );
  }
  const from = { kind: 'external' as const, family: 'IPv4' as const };
  await addresses.take(tx, scope, [{ holder: { router: router.id }, field: FIELD, from }]);
}
