import { type Static, Type } from 'typebox';
import { LEGACY } from '../../lib/legacy.ts';
import { UuidInput } from '../../lib/resource-fields.ts';
import { listQuery } from '../../lib/wire.ts';
import { IpFamilyInput, LegacyIpFamily } from '../networks/addresses/schema.ts';

const is_vip = Type.Optional(
  Type.Boolean({
    default: false,
    description: 'Whether it is a virtual address, for several ports to share',
  }),
);

const forms = [
  Type.Object(
    { type: Type.Literal('external'), ip_family: IpFamilyInput, is_vip },
    { title: 'ReserveExternalAddress', additionalProperties: false },
  ),
  Type.Object(
    {
      type: Type.Literal('subnet'),
      subnet_id: UuidInput('Subnet ID'),
      ip_family: LegacyIpFamily,
      is_vip,
    },
    { title: 'ReserveAddressOfSubnet', additionalProperties: false },
  ),
  Type.Object(
    {
      type: Type.Literal('any_subnet'),
      network_id: UuidInput('Network ID'),
      ip_family: IpFamilyInput,
      is_vip,
    },
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
      ip_family: LegacyIpFamily,
      is_vip,
    },
    { title: 'ReserveThisAddress', additionalProperties: false },
  ),
  Type.Object(
    {
      type: Type.Literal('port'),
      port_id: UuidInput('Port of an instance'),
      // The library under the older Terraform provider always sends it.
      is_vip: Type.Optional(
        Type.Boolean({ ...LEGACY, description: 'Only false: the port has an instance of its own' }),
      ),
    },
    {
      title: 'ReserveAddressesOfPort',
      additionalProperties: false,
      description: 'Those that the port has already: it stays when its instance goes',
    },
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

export const UpdateReservedFixedIp = Type.Object(
  {
    is_vip: Type.Boolean({ description: 'Whether it is a virtual address, for several ports to share' }),
  },
  { title: 'UpdateReservedFixedIp', additionalProperties: false, examples: [{ is_vip: true }] },
);

const flag = (description: string) => Type.Optional(Type.Boolean({ default: false, description }));
const orders = ['created_at', 'fixed_ip_address', 'name', 'status', 'updated_at'] as const;

export const ReservedFixedIpListQuery = Type.Object(
  {
    ...listQuery(),
    external_only: flag('Only those of the external network'),
    internal_only: flag('Only those of other networks'),
    available_only: flag('Only those that no instance has or shares'),
    vip_only: flag('Only virtual addresses'),
    device_id: Type.Optional(
      Type.String({ maxLength: 36, description: 'Only those that this instance has or shares' }),
    ),
    ip_address: Type.Optional(Type.String({ maxLength: 64, description: 'Part of an address' })),
    order_by: Type.Optional(
      Type.Enum(
        orders.flatMap((column) => [`${column}.asc` as const, `${column}.desc` as const]),
        {
          type: 'string',
          default: 'fixed_ip_address.asc',
          description: '`fixed_ip_address`: those without an IPv4 address come last',
        },
      ),
    ),
  },
  { additionalProperties: false },
);
export type ReservedFixedIpListQuery = Static<typeof ReservedFixedIpListQuery>;

export const ConvertReservedFixedIp = Type.Object(
  { target_type: Type.Literal('floating_ip', { description: 'What it becomes' }) },
  {
    title: 'ConvertReservedFixedIp',
    additionalProperties: false,
    examples: [{ target_type: 'floating_ip' }],
  },
);
