import type { Scope } from '../../ground/projects/service.ts';
import type { FloatingIps } from '../floating-ips/service.ts';
import type { Networks } from '../networks/service.ts';
import type { InterfaceRow } from '../ports/interfaces/in-transaction.ts';
import { presentedPairs } from '../ports/schema.ts';
import type { InterfaceAnswer } from './schema.ts';

/** Presents interfaces with their networks and floating IPs. */
export async function presentedInterfaces(
  rows: readonly InterfaceRow[],
  scope: Scope,
  of: { networks: Pick<Networks, 'withSubnets'>; floatingIps: Pick<FloatingIps, 'onPorts'> },
): Promise<InterfaceAnswer[]> {
  const found = await of.networks.withSubnets(scope, [...new Set(rows.map((row) => row.network_id))]);
  const floatingIps = await of.floatingIps.onPorts(
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
