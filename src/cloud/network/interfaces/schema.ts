import { type Static, Type } from 'typebox';
import { Uuid } from '../../../lib/resource-fields.ts';
import { listOf, Named, nullable } from '../../../lib/wire.ts';
import { FloatingIpAnswer } from '../floating-ips/schema.ts';
import { NetworkAnswer, SubnetAnswer } from '../networks/schema.ts';

/** A port as the instance sees it. */
export const InterfaceAnswer = Named('InstanceInterface', {
  port_id: Uuid('Port ID'),
  network_id: Uuid('Network ID'),
  mac_address: nullable(Type.String({ examples: ['02:00:00:00:00:01'] })),
  interface_name: nullable(Type.String()),
  port_security_enabled: Type.Boolean(),
  ip_assignments: Type.Array(
    Named('InterfaceAddress', { ip_address: Type.String(), subnet_id: Uuid('Subnet ID') }),
  ),
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
