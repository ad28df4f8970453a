import { type Static, Type } from 'typebox';
import { Uuid, UuidInput } from '../../../lib/resource-fields.ts';
import { listOf } from '../../../lib/wire.ts';
import { NetworkAnswer, SubnetAnswer } from '../networks/schema.ts';

/** More ports than anybody lets share an address. */
const MAX_PORTS = 250;

export const VipPorts = Type.Object(
  {
    port_ids: Type.Optional(
      Type.Array(UuidInput('Port of an instance in the network of the VIP'), {
        maxItems: MAX_PORTS,
        description: 'If omitted, nothing changes',
      }),
    ),
  },
  {
    title: 'VipPorts',
    additionalProperties: false,
    examples: [{ port_ids: ['351b0dd7-ca09-431c-be53-935db3785067'] }],
  },
);

const VipDevice = Type.Object(
  {
    port_id: Uuid('Port ID'),
    instance_id: Uuid('Instance ID'),
    instance_name: Type.String({ examples: ['web-1'] }),
    ip_assignments: Type.Array(
      Type.Object(
        {
          ip_address: Type.String({ examples: ['10.0.0.5'] }),
          subnet_id: Uuid('Subnet ID'),
          subnet: SubnetAnswer,
        },
        { title: 'IpAssignmentWithSubnet' },
      ),
    ),
    network: NetworkAnswer,
  },
  { title: 'VipDevice' },
);
export type VipDevice = Static<typeof VipDevice>;
export const VipDeviceList = listOf(VipDevice, 'VipDeviceList');
