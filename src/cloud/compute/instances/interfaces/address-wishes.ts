import type { AddressSource, AddressWish } from '../../../network/addresses/in-transaction.ts';
import { familiesOf, wishedAddresses } from '../../../network/addresses/schema.ts';
import type { NewInterface } from '../schema.ts';

/** Returns the addresses that an interface asks for. `field` is its field in the request, for error messages. */
export function addressWishes(given: NewInterface, field: string, portId: string): AddressWish[] {
  return sourcesOf(given).map((from) => ({ holder: { port: portId }, field, from }));
}

function sourcesOf(given: NewInterface): AddressSource[] {
  switch (given.type) {
    case 'external':
      return familiesOf(given.ip_family).map((family) => ({ kind: 'external', family }));
    case 'subnet': {
      const { network_id: networkId, subnet_id: subnetId, ip_family } = given;
      const [family] = (ip_family ?? null) === null ? [] : familiesOf(ip_family);
      return [{ kind: 'subnet', networkId, subnetId, family }];
    }
    case 'any_subnet':
      return wishedAddresses(given.ip_family, given.ip_address).map((wish) => ({
        kind: 'any-subnet',
        networkId: given.network_id,
        ...wish,
      }));
    case 'reserved_fixed_ip':
      return [];
  }
}
