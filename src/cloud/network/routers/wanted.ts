import type { RouterSpec } from '../../../backends/contract/specs.ts';
import { amend, type Wanted } from '../../../convergence/wants.ts';
import type { RouterRow } from './store.ts';

export function routerSpec(row: RouterRow): RouterSpec {
  return {
    name: row.name,
    ...(row.gateway_network_id !== null && {
      gateway: {
        networkId: row.gateway_network_id,
        sourceNat: row.enable_snat,
        addresses: Object.fromEntries(
          row.outside.map(({ address, subnet_id }) => [address, { subnetId: subnet_id }]),
        ),
      },
    }),
    interfaces: Object.fromEntries(
      row.interfaces.map((one) => [
        one.port_id,
        {
          networkId: one.network_id,
          subnetId: one.subnet_id,
          address: one.address,
          macAddress: one.mac_address,
        },
      ]),
    ),
    routes: row.routes,
  };
}

/** Wants a router as it is in its rows. */
export const asInRow = (row: RouterRow): Wanted => amend('router', row.id, () => routerSpec(row));
