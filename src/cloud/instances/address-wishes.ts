import type { AddressWish } from '../networks/address-wish.ts';
import type { NewInterface } from './schema.ts';

/** What an interface asks of the addresses; `field` is where the request says so, for the texts of refusals. */
export function addressWish(given: NewInterface, field: string, portId: string): AddressWish[] {
  const wish = { holder: { port: portId }, field };
  switch (given.type) {
    case 'external':
      return [{ ...wish, from: { kind: 'external' } }];
    case 'subnet':
      return [{ ...wish, from: { kind: 'subnet', networkId: given.network_id, subnetId: given.subnet_id } }];
    case 'any_subnet': {
      const address = given.ip_address ?? undefined;
      return [{ ...wish, from: { kind: 'any-subnet', networkId: given.network_id, address } }];
    }
    case 'reserved_fixed_ip':
      return [];
  }
}
