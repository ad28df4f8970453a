import { type Static, Type } from 'typebox';
import { LEGACY } from '../../../lib/legacy.ts';
import { UuidInput } from '../../../lib/resource-fields.ts';
import { listQuery } from '../../../lib/wire.ts';
import { IpFamilyInput, LegacyIpFamily } from '../addresses/schema.ts';

const is_vip = Type.Optional(
  Type.Boolean({
    default: false,
    description: 'Whether it is a virtual IP (VIP), which several ports can share',
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
      description: 'Reserves an address in the subnet with the most free addresses',
    },
  ),
  Type.Object(
    {
      type: Type.Literal('ip_address'),
      network_id: UuidInput('Network ID'),
      ip_address: Type.String({ maxLength: 64, description: 'Free address to reserve' }),
      ip_family: LegacyIpFamily,
      is_vip,
    },
    { title: 'ReserveThisAddress', additionalProperties: false },
  ),
  Type.Object(
    {
      type: Type.Literal('port'),
      port_id: UuidInput('Port of an instance, or vip_port_id of a load balancer'),
      // The library under the older Terraform provider always sends it.
      is_vip: Type.Optional(
        Type.Boolean({ ...LEGACY, description: "Must be false: a port in use can't be a VIP" }),
      ),
    },
    {
      title: 'ReserveAddressesOfPort',
      additionalProperties: false,
      description:
        'Reserves the addresses of an existing port, which is then kept when its instance or load balancer is deleted',
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
    is_vip: Type.Boolean({ description: 'Whether it is a virtual IP (VIP), which several ports can share' }),
  },
  { title: 'UpdateReservedFixedIp', additionalProperties: false, examples: [{ is_vip: true }] },
);

const flag = (description: string) => Type.Optional(Type.Boolean({ default: false, description }));
const orders = ['created_at', 'fixed_ip_address', 'name', 'status', 'updated_at'] as const;

export const ReservedFixedIpListQuery = Type.Object(
  {
    ...listQuery(),
    external_only: flag('Only addresses in the external network'),
    internal_only: flag('Only addresses in other networks'),
    available_only: flag('Only addresses that no instance uses or shares'),
    vip_only: flag('Only VIPs'),
    device_id: Type.Optional(
      Type.String({ maxLength: 36, description: 'Only addresses that this instance uses or shares' }),
    ),
    ip_address: Type.Optional(Type.String({ maxLength: 64, description: 'Part of an address' })),
    order_by: Type.Optional(
      Type.Enum(
        orders.flatMap((column) => [`${column}.asc` as const, `${column}.desc` as const]),
        {
          type: 'string',
          default: 'fixed_ip_address.asc',
          description: 'With `fixed_ip_address`, reservations without an IPv4 address come last',
        },
      ),
    ),
  },
  { additionalProperties: false },
);
export type ReservedFixedIpListQuery = Static<typeof ReservedFixedIpListQuery>;

export const ConvertReservedFixedIp = Type.Object(
  { target_type: Type.Literal('floating_ip', { description: 'Type to convert to' }) },
  {
    title: 'ConvertReservedFixedIp',
    additionalProperties: false,
    examples: [{ target_type: 'floating_ip' }],
  },
);
