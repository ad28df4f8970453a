import { type Static, Type } from 'typebox';
import { nullable } from '../../lib/nullable.ts';
import { Uuid, UuidInput } from '../../lib/resource-fields.ts';
import { listOf, listQuery } from '../../lib/wire.ts';
import { NetworkAnswer, SubnetAnswer } from '../networks/schema.ts';
import { type NewInterface, NewInterfaceSchema } from './schema.ts';

const InterfaceAnswer = Type.Object(
  {
    port_id: Uuid('Port ID'),
    network_id: Uuid('Network ID'),
    mac_address: nullable(Type.String({ examples: ['02:00:00:00:00:01'] })),
    interface_name: nullable(Type.String()),
    port_security_enabled: Type.Boolean(),
    ip_assignments: Type.Array(
      Type.Object({ ip_address: Type.String(), subnet_id: Uuid('Subnet ID') }, { title: 'InterfaceAddress' }),
    ),
    allowed_address_pairs: Type.Array(
      Type.Object(
        { ip_address: Type.String(), mac_address: nullable(Type.String()) },
        { title: 'InterfaceAddressPair' },
      ),
    ),
    floatingip_details: Type.Array(Type.Unknown(), { description: 'Floating IPs; always empty here' }),
    network_details: Type.Object(
      {
        ...NetworkAnswer.properties,
        subnets: Type.Array(SubnetAnswer),
      },
      { title: 'NetworkWithSubnets' },
    ),
    sub_ports: Type.Array(Type.Unknown(), { description: 'Ports of a trunk; always empty here' }),
  },
  { title: 'InstanceInterface' },
);
export type InterfaceAnswer = Static<typeof InterfaceAnswer>;
export const InterfaceList = listOf(InterfaceAnswer, 'InstanceInterfaceList');
export const InterfaceListQuery = Type.Object({ ...listQuery() }, { additionalProperties: false });

export const AttachInterface = Type.Unsafe<NewInterface>({
  ...NewInterfaceSchema,
  title: 'AttachInterface',
  examples: [{ type: 'external' }],
});

export const DetachInterface = Type.Object(
  {
    port_id: UuidInput('Port ID'),
    ip_address: Type.String({ maxLength: 64, description: 'An address of the port' }),
  },
  {
    title: 'DetachInterface',
    additionalProperties: false,
    examples: [{ port_id: 'f5e2fa8d-9a1b-4c3d-8e7f-6a5b4c3d2e1f', ip_address: '10.0.0.2' }],
  },
);
