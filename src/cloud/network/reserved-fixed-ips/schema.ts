import { type Static, Type } from 'typebox';
import { nullable } from '../../../lib/nullable.ts';
import { PlaceFields, TaskFields, Uuid } from '../../../lib/resource-fields.ts';
import { listOf, OffsetTimestamp, ProjectRegion } from '../../../lib/wire.ts';
import { NetworkAnswer } from '../networks/schema.ts';

const resource_type = nullable(Type.Enum(['instance', 'loadbalancer'], { type: 'string' }));

export const ReservedFixedIpAnswer = Type.Object(
  {
    port_id: Uuid('Port ID, which is also the ID of the reserved fixed IP'),
    name: Type.String(),
    status: Type.Enum(['ACTIVE', 'DOWN'], {
      type: 'string',
      description: '`ACTIVE` while an instance uses it',
    }),
    fixed_ip_address: nullable(Type.String({ examples: ['10.0.0.5'] })),
    fixed_ipv6_address: nullable(Type.String({ examples: ['fd00:10::5'] })),
    subnet_id: nullable(Type.String({ description: 'Subnet of the IPv4 address' })),
    subnet_v6_id: nullable(Type.String({ description: 'Subnet of the IPv6 address' })),
    is_external: Type.Boolean({ description: 'Whether the address is in the external network' }),
    is_vip: Type.Boolean({ description: 'Whether it is a virtual IP (VIP), which several ports can share' }),
    reservation: Type.Object(
      {
        status: Type.Enum(['available', 'in-use'], {
          type: 'string',
          description: '`in-use` while an instance uses or shares it, or a load balancer uses it',
        }),
        resource_type,
        resource_id: nullable(
          Type.String({ description: 'Instance or load balancer that uses it; null for a VIP' }),
        ),
      },
      { title: 'FixedIpReservation' },
    ),
    attachments: Type.Array(
      Type.Object(
        {
          resource_id: nullable(Type.String({ description: 'Instance or load balancer ID' })),
          resource_type,
        },
        { title: 'FixedIpAttachment' },
      ),
      { description: 'Instance or load balancer that uses it, or instances that share it' },
    ),
    network_id: Uuid('Network ID'),
    network: NetworkAnswer,
    allowed_address_pairs: Type.Array(
      Type.Object(
        { ip_address: Type.String(), mac_address: nullable(Type.String()) },
        { title: 'ReservedAddressPair' },
      ),
    ),
    ...PlaceFields,
    ...TaskFields,
    created_at: OffsetTimestamp(),
    updated_at: OffsetTimestamp(),
  },
  { title: 'ReservedFixedIp' },
);
export type ReservedFixedIpAnswer = Static<typeof ReservedFixedIpAnswer>;
export const ReservedFixedIpList = listOf(ReservedFixedIpAnswer, 'ReservedFixedIpList');

export const ReservedFixedIpParams = Type.Object({
  ...ProjectRegion,
  port_id: Type.String({ description: 'Port ID' }),
});
