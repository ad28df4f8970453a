import { type Static, Type } from 'typebox';
import { LEGACY } from '../../../lib/legacy.ts';
import { PlaceFields, TaskFields, Uuid, UuidInput } from '../../../lib/resource-fields.ts';
import * as wire from '../../../lib/wire.ts';
import { IpFamilyInput, LegacyIpFamily } from '../addresses/schema.ts';
import { NetworkAnswer, SubnetAnswer } from '../networks/schema.ts';

const resource_type = wire.nullable(wire.Choice(['instance', 'loadbalancer']));

export const ReservedFixedIpAnswer = wire.Named('ReservedFixedIp', {
  port_id: Uuid('Port ID, which is also the ID of the reserved fixed IP'),
  name: Type.String(),
  status: wire.Choice(['ACTIVE', 'DOWN'], '`ACTIVE` while an instance uses it'),
  fixed_ip_address: wire.TextOrNull({ examples: ['10.0.0.5'] }),
  fixed_ipv6_address: wire.TextOrNull({ examples: ['fd00:10::5'] }),
  subnet_id: wire.TextOrNull({ description: 'Subnet of the IPv4 address' }),
  subnet_v6_id: wire.TextOrNull({ description: 'Subnet of the IPv6 address' }),
  is_external: Type.Boolean({ description: 'Whether the address is in the external network' }),
  is_vip: Type.Boolean({ description: 'Whether it is a virtual IP (VIP), which several ports can share' }),
  reservation: wire.Named('FixedIpReservation', {
    status: wire.Choice(
      ['available', 'in-use'],
      '`in-use` while an instance uses or shares it, or a load balancer uses it',
    ),
    resource_type,
    resource_id: wire.TextOrNull({ description: 'Instance or load balancer that uses it; null for a VIP' }),
  }),
  attachments: Type.Array(
    wire.Named('FixedIpAttachment', {
      resource_id: wire.TextOrNull({ description: 'Instance or load balancer ID' }),
      resource_type,
    }),
    { description: 'Instance or load balancer that uses it, or instances that share it' },
  ),
  network_id: Uuid('Network ID'),
  network: NetworkAnswer,
  allowed_address_pairs: Type.Array(
    wire.Named('ReservedAddressPair', { ip_address: Type.String(), mac_address: wire.nullable(Type.String()) }),
  ),
  ...PlaceFields,
  ...TaskFields,
  created_at: wire.OffsetTimestamp(),
  updated_at: wire.OffsetTimestamp(),
});
export type ReservedFixedIpAnswer = Static<typeof ReservedFixedIpAnswer>;
export const ReservedFixedIpList = wire.listOf(ReservedFixedIpAnswer, 'ReservedFixedIpList');

export const ReservedFixedIpParams = wire.PlaceParams({ port_id: 'Port ID' });

const is_vip = wire.OptionalFlag({
  default: false,
  description: 'Whether it is a virtual IP (VIP), which several ports can share',
});

const forms = [
  wire.Input('ReserveExternalAddress', { type: Type.Literal('external'), ip_family: IpFamilyInput, is_vip }),
  wire.Input('ReserveAddressOfSubnet', {
    type: Type.Literal('subnet'),
    subnet_id: UuidInput('Subnet ID'),
    ip_family: LegacyIpFamily,
    is_vip,
  }),
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
  wire.Input('ReserveThisAddress', {
    type: Type.Literal('ip_address'),
    network_id: UuidInput('Network ID'),
    ip_address: Type.String({ maxLength: 64, description: 'Free address to reserve' }),
    ip_family: LegacyIpFamily,
    is_vip,
  }),
  Type.Object(
    {
      type: Type.Literal('port'),
      port_id: UuidInput('Port of an instance, or vip_port_id of a load balancer'),
      // The library under the older Terraform provider always sends it.
      is_vip: wire.OptionalFlag({ ...LEGACY, description: "Must be false: a port in use can't be a VIP" }),
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

export const UpdateReservedFixedIp = wire.Input(
  'UpdateReservedFixedIp',
  {
    is_vip: Type.Boolean({ description: 'Whether it is a virtual IP (VIP), which several ports can share' }),
  },
  { is_vip: true },
);

const flag = (description: string) => wire.OptionalFlag({ default: false, description });
const orders = ['created_at', 'fixed_ip_address', 'name', 'status', 'updated_at'] as const;

export const ReservedFixedIpListQuery = wire.Query({
  ...wire.listQuery(),
  external_only: flag('Only addresses in the external network'),
  internal_only: flag('Only addresses in other networks'),
  available_only: flag('Only addresses that no instance uses or shares'),
  vip_only: flag('Only VIPs'),
  device_id: wire.OptionalText({ maxLength: 36, description: 'Only addresses that this instance uses or shares' }),
  ip_address: wire.OptionalText({ maxLength: 64, description: 'Part of an address' }),
  order_by: wire.OptionalChoice(
    orders.flatMap((column) => [`${column}.asc` as const, `${column}.desc` as const]),
    {
      default: 'fixed_ip_address.asc',
      description: 'With `fixed_ip_address`, reservations without an IPv4 address come last',
    },
  ),
});
export type ReservedFixedIpListQuery = Static<typeof ReservedFixedIpListQuery>;

export const ConvertReservedFixedIp = wire.Input(
  'ConvertReservedFixedIp',
  { target_type: Type.Literal('floating_ip', { description: 'Type to convert to' }) },
  { target_type: 'floating_ip' },
);

/** More ports than anybody lets share an address. */
const MAX_PORTS = 250;

export const VipPorts = wire.Input(
  'VipPorts',
  {
    port_ids: wire.OptionalList(UuidInput('Port of an instance in the network of the VIP'), {
      maxItems: MAX_PORTS,
      description: 'If omitted, nothing changes',
    }),
  },
  { port_ids: ['351b0dd7-ca09-431c-be53-935db3785067'] },
);

const VipDevice = wire.Named('VipDevice', {
  port_id: Uuid('Port ID'),
  instance_id: Uuid('Instance ID'),
  instance_name: Type.String({ examples: ['web-1'] }),
  ip_assignments: Type.Array(
    wire.Named('IpAssignmentWithSubnet', {
      ip_address: Type.String({ examples: ['10.0.0.5'] }),
      subnet_id: Uuid('Subnet ID'),
      subnet: SubnetAnswer,
    }),
  ),
  network: NetworkAnswer,
});
export type VipDevice = Static<typeof VipDevice>;
export const VipDeviceList = wire.listOf(VipDevice, 'VipDeviceList');
