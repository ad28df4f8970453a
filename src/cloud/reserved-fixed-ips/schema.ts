import { type Static, Type } from 'typebox';
import { nullable } from '../../lib/nullable.ts';
import { PlaceFields, TaskFields, Uuid, UuidInput } from '../../lib/resource-fields.ts';
import { listOf, listQuery, ProjectRegion, Timestamp } from '../../lib/wire.ts';
import { NetworkAnswer } from '../networks/schema.ts';

export const ReservedFixedIpAnswer = Type.Object(
  {
    port_id: Uuid('Port ID, which is the ID of the reserved address'),
    name: Type.String(),
    status: Type.Enum(['ACTIVE', 'DOWN'], {
      type: 'string',
      description: '`ACTIVE` while an instance has it',
    }),
    fixed_ip_address: nullable(Type.String({ examples: ['10.0.0.5'] })),
    fixed_ipv6_address: nullable(Type.String()),
    subnet_id: nullable(Type.String({ description: 'Subnet of the IPv4 address' })),
    subnet_v6_id: nullable(Type.String({ description: 'Subnet of the IPv6 address' })),
    is_external: Type.Boolean({ description: 'Whether it is an address of the external network' }),
    is_vip: Type.Boolean({ description: 'Always false: virtual addresses of several ports are not offered' }),
    reservation: Type.Object(
      {
        status: Type.Enum(['available', 'in-use'], { type: 'string' }),
        resource_type: nullable(Type.Enum(['instance'], { type: 'string' })),
        resource_id: nullable(Type.String({ description: 'Instance that has it' })),
      },
      { title: 'FixedIpReservation' },
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
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: 'ReservedFixedIp' },
);
export type ReservedFixedIpAnswer = Static<typeof ReservedFixedIpAnswer>;
export const ReservedFixedIpList = listOf(ReservedFixedIpAnswer, 'ReservedFixedIpList');

const ip_family = Type.Optional(
  nullable(
    Type.Enum(['dual', 'ipv4', 'ipv6'], {
      type: 'string',
      description: 'Only `ipv4` is offered, which is what it is when left out.',
    }),
  ),
);
const is_vip = Type.Optional(
  Type.Boolean({
    default: false,
    description: 'Only false is offered: an address that several ports share is none here',
  }),
);

const forms = [
  Type.Object(
    { type: Type.Literal('external'), ip_family, is_vip },
    { title: 'ReserveExternalAddress', additionalProperties: false },
  ),
  Type.Object(
    { type: Type.Literal('subnet'), subnet_id: UuidInput('Subnet ID'), is_vip },
    { title: 'ReserveAddressOfSubnet', additionalProperties: false },
  ),
  Type.Object(
    { type: Type.Literal('any_subnet'), network_id: UuidInput('Network ID'), ip_family, is_vip },
    {
      title: 'ReserveAddressOfAnySubnet',
      additionalProperties: false,
      description: 'Of the subnet with the most free addresses',
    },
  ),
  Type.Object(
    {
      type: Type.Literal('ip_address'),
      network_id: UuidInput('Network ID'),
      ip_address: Type.String({ maxLength: 64, description: 'An address that is free' }),
      is_vip,
    },
    { title: 'ReserveThisAddress', additionalProperties: false },
  ),
] as const;
export type CreateReservedFixedIp = Static<(typeof forms)[number]>;

export const CreateReservedFixedIp = Type.Unsafe<CreateReservedFixedIp>({
  type: 'object',
  title: 'CreateReservedFixedIp',
  discriminator: { propertyName: 'type' },
  required: ['type'],
  oneOf: forms,
  examples: [{ type: 'external' }],
});

const flag = (description: string) => Type.Optional(Type.Boolean({ default: false, description }));

export const ReservedFixedIpListQuery = Type.Object(
  {
    ...listQuery(),
    external_only: flag('Only those of the external network'),
    internal_only: flag('Only those of other networks'),
    available_only: flag('Only those that no instance has'),
    vip_only: flag('Only virtual addresses, of which there are none'),
    device_id: Type.Optional(Type.String({ maxLength: 36, description: 'Only those of this instance' })),
    ip_address: Type.Optional(Type.String({ maxLength: 64, description: 'Part of an address' })),
  },
  { additionalProperties: false },
);
export type ReservedFixedIpListQuery = Static<typeof ReservedFixedIpListQuery>;

export const ReservedFixedIpParams = Type.Object({
  ...ProjectRegion,
  port_id: Type.String({ description: 'Port ID' }),
});
