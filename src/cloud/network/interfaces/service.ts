import { type Static, Type } from 'typebox';
import { Uuid } from '../../../lib/resource-fields.ts';
import { listOf, Named, nullable, TextOrNull } from '../../../lib/wire.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { FloatingIpAnswer } from '../floating-ips/schema.ts';
import { floatingIpsOnPorts } from '../floating-ips/service.ts';
import { NetworkAnswer, SubnetAnswer } from '../networks/schema.ts';
import { networksWithSubnets } from '../networks/service.ts';
import type { InterfaceRow } from '../ports/interfaces/in-transaction.ts';
import { presentedPairs } from '../ports/schema.ts';

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

export const InterfaceAnswer = Named('InstanceInterface', {
  port_id: Uuid('Port ID'),
  network_id: Uuid('Network ID'),
  mac_address: TextOrNull({ examples: ['02:00:00:00:00:01'] }),
  interface_name: nullable(Type.String()),
  port_security_enabled: Type.Boolean(),
  ip_assignments: Type.Array(Named('InterfaceAddress', { ip_address: Type.String(), subnet_id: Uuid('Subnet ID') })),
  allowed_address_pairs: Type.Array(
    Named('InterfaceAddressPair', { ip_address: Type.String(), mac_address: nullable(Type.String()) }),
  ),
  floatingip_details: Type.Array(FloatingIpAnswer, { description: 'Floating IPs assigned to it' }),
  network_details: Named('NetworkWithSubnets', {
    ...NetworkAnswer.properties,
    subnets: Type.Array(SubnetAnswer),
  }),
  sub_ports: Type.Array(Type.Unknown(), { description: 'Subports of a trunk; always empty' }),
});
export type InterfaceAnswer = Static<typeof InterfaceAnswer>;
export const InterfaceList = listOf(InterfaceAnswer, 'InstanceInterfaceList');
