import { type Static, Type } from 'typebox';
import type { AddressPair } from '../../../db/json-columns.ts';
import { Uuid, UuidInput } from '../../../lib/resource-fields.ts';
import { TagsPatchInput } from '../../../lib/tags.ts';
import * as wire from '../../../lib/wire.ts';

const MAX_GROUPS = 10;
/** The default of Neutron's max_allowed_address_pair. */
export const MAX_PAIRS = 10;
const MAX_ADDRESSES = 64;
const MAX_FILTER = 1000;

const AllowedAddressPair = wire.Named('AllowedAddressPair', {
  ip_address: Type.String({ description: 'IP address or CIDR', examples: ['10.0.0.50'] }),
});

export const PortAnswer = wire.Named('Port', {
  id: Uuid('Port ID'),
  network_id: Uuid('Network ID'),
  mac_address: Type.String({ examples: ['02:00:00:00:00:01'] }),
  ip_assignments: Type.Array(
    wire.Named('PortIpAssignment', {
      ip_address: Type.String({ examples: ['10.0.0.5'] }),
      subnet_id: Uuid('Subnet ID'),
    }),
  ),
  security_group_ids: Type.Array(Uuid('Security group ID'), { description: 'Sorted by ID' }),
  allowed_address_pairs: Type.Array(AllowedAddressPair, {
    description: 'Additional source addresses that the port can use; sorted',
  }),
  port_security_enabled: Type.Boolean({
    description: 'Whether security groups and anti-spoofing checks apply to the port',
  }),
  managed_by: wire.Choice(
    ['system', 'user'],
    "`system` for ports of cluster nodes and interfaces of routers, which can't be changed",
  ),
  capabilities: Type.Object(
    {
      allowed_address_pairs: Type.Boolean(),
      port_security: Type.Boolean(),
      security_groups: Type.Boolean(),
    },
    { title: 'PortCapabilities', description: 'Which settings can be changed' },
  ),
  tags: Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    examples: [{ env: 'production' }],
  }),
  created_at: wire.Timestamp(),
  updated_at: wire.Timestamp(),
});
export type PortAnswer = Static<typeof PortAnswer>;
export const PortList = wire.listOf(PortAnswer, 'PortList');

export const PortOfNetworkList = wire.listOf(
  wire.Named('PortOfNetwork', {
    id: Uuid('Port ID'),
    instance_id: Uuid('Instance ID'),
    instance_name: Type.String({ examples: ['web-1'] }),
  }),
  'PortOfNetworkList',
);

const idFilter = (description: string) =>
  wire.OptionalList(UuidInput(description), {
    maxItems: MAX_FILTER,
    description: `${description}; repeat for several`,
  });

export const PortListQuery = wire.Query({
  ...wire.listQuery(100),
  ids: idFilter('Port ID'),
  network_ids: idFilter('Network ID'),
  subnet_ids: idFilter('Subnet ID'),
  ip_addresses: wire.OptionalList(Type.String({ maxLength: 45, examples: ['10.0.0.5'] }), {
    maxItems: MAX_FILTER,
    description: 'Exact address; repeat for several',
  }),
  order_by: wire.OptionalChoice(['created_at.asc', 'created_at.desc', 'network_id.asc', 'network_id.desc'], {
    default: 'created_at.desc',
  }),
});
export type PortListQuery = Static<typeof PortListQuery>;

const pairFields = {
  ip_address: Type.String({ maxLength: 64, description: 'IP address or CIDR', examples: ['10.0.0.50'] }),
};
const wholeList = {
  maxItems: MAX_PAIRS,
  description: 'Replaces the current list; an empty list clears it',
};
const allowed_address_pairs = Type.Array(wire.Input('NewAllowedAddressPair', pairFields), wholeList);

export const UpdatePort = wire.Input(
  'UpdatePort',
  {
    port_security_enabled: wire.OptionalFlag({
      description:
        'Can only be disabled for a port without security groups and allowed address pairs that is not in the external network',
    }),
    security_group_ids: wire.OptionalList(UuidInput('Security group ID'), {
      maxItems: MAX_GROUPS,
      description: 'Replaces the current list; an empty list clears it',
    }),
    allowed_address_pairs: Type.Optional(allowed_address_pairs),
    ip_assignments: wire.OptionalList(
      wire.Input('NewPortIpAssignment', {
        ip_address: Type.String({ maxLength: 45, examples: ['10.0.0.5'] }),
        subnet_id: UuidInput("Subnet of the port's network"),
      }),
      {
        minItems: 1,
        maxItems: MAX_ADDRESSES,
        description: 'Replaces the current list. Assignments that are listed again are kept; at least one is required',
      },
    ),
    tags: Type.Optional(TagsPatchInput),
  },
  {
    port_security_enabled: true,
    allowed_address_pairs: [{ ip_address: '10.0.0.50' }],
    tags: { env: 'staging', owner: null },
  },
);
export type UpdatePort = Static<typeof UpdatePort>;

export const AllowAddressPairs = wire.Input(
  'AllowAddressPairs',
  {
    allowed_address_pairs: wire.OptionalList(
      wire.Input('NewHardwareAddressPair', {
        ...pairFields,
        mac_address: wire.OptionalTextOrNull({
          pattern: '^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$',
          rule: 'Must be a MAC address such as 02:00:00:00:00:01.',
          description: 'Source MAC address; defaults to that of the port',
          examples: ['02:00:00:00:00:01'],
        }),
      }),
      { ...wholeList, default: [] },
    ),
  },
  { allowed_address_pairs: [{ ip_address: '192.168.0.0/24' }] },
);

export const PortParams = wire.PlaceParams({ port_id: 'Port ID' });

/** Returns the pairs. A pair without a hardware address of its own has null, and uses that of the port. */
export function presentedPairs(port: { allowed_address_pairs: readonly AddressPair[] }) {
  return port.allowed_address_pairs.map(({ ip_address, mac_address = null }) => ({
    ip_address,
    mac_address,
  }));
}
