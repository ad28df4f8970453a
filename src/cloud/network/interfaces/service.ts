import type { Platform } from '../../../platform.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { floatingIpsOnPorts } from '../floating-ips/service.ts';
import { networksWithSubnets } from '../networks/service.ts';
import type { InterfaceRow } from '../ports/interfaces/in-transaction.ts';
import { presentedPairs } from '../ports/schema.ts';
import type { InterfaceAnswer } from './schema.ts';

/** Presents interfaces with their networks and floating IPs. */
export async function presentedInterfaces(
  on: Platform,
  rows: readonly InterfaceRow[],
  scope: Scope,
): Promise<InterfaceAnswer[]> {
  const found = await networksWithSubnets(on, scope, [...new Set(rows.map((row) => row.network_id))]);
  const floatingIps = await floatingIpsOnPorts(
    on,
    scope,
    rows.map(({ id }) => id),
  );
  const details = new Map(found.map(({ network, subnets }) => [network.id, { ...network, subnets }]));
  return rows.flatMap((row): InterfaceAnswer[] => {
    const network = details.get(row.network_id);
    if (!network) return [];
    const { id: port_id, ...shown } = row;
    return [
      {
        port_id,
        ...shown,
        allowed_address_pairs: presentedPairs(row),
        floatingip_details: floatingIps.get(port_id) ?? [],
        network_details: network,
        sub_ports: [],
      },
    ];
  });
}
