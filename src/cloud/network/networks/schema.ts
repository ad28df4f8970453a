import { type Static, Type } from 'typebox';
import { MetadataList, newTags } from '../../../lib/legacy-metadata.ts';
import { ResourceFields, Uuid, UuidInput } from '../../../lib/resource-fields.ts';
import { TagsPatchInput, tagQuery } from '../../../lib/tags.ts';
import * as wire from '../../../lib/wire.ts';

const project_id = wire.IntegerOrNull({
  description: 'Project ID; null for networks of the platform, which every project can use',
});

export const NetworkAnswer = wire.Named('Network', {
  id: Uuid('Network ID'),
  name: Type.String({ examples: ['default'] }),
  type: wire.Choice(['vlan', 'vxlan']),
  mtu: Type.Integer({ description: 'Maximum packet size in bytes', examples: [1450] }),
  external: Type.Boolean({ description: 'Whether it is an external network' }),
  shared: Type.Boolean({ description: 'Whether other projects can use it' }),
  default: wire.nullable(Type.Boolean({ description: 'Whether it is the default network of the project' })),
  port_security_enabled: Type.Boolean(),
  segmentation_id: wire.IntegerOrNull({ description: 'VLAN or VXLAN ID' }),
  subnets: Type.Array(Uuid('Subnet ID')),
  ...ResourceFields,
  ...MetadataList,
  project_id,
});
export type NetworkAnswer = Static<typeof NetworkAnswer>;
export const NetworkList = wire.listOf(NetworkAnswer, 'NetworkList');

export const SubnetAnswer = wire.Named('Subnet', {
  id: Uuid('Subnet ID'),
  name: Type.String({ examples: ['default'] }),
  network_id: Uuid('Network ID'),
  cidr: Type.String({ description: 'In canonical form; IPv6 as in RFC 5952', examples: ['10.0.0.0/20'] }),
  ip_version: Type.Integer({ description: 'IP version, 4 or 6', examples: [4] }),
  enable_dhcp: Type.Boolean(),
  gateway_ip: wire.TextOrNull({ examples: ['10.0.0.1'] }),
  dns_nameservers: Type.Array(Type.String()),
  host_routes: Type.Array(
    wire.Named('HostRoute', {
      destination: Type.String({ description: 'CIDR' }),
      nexthop: Type.String({ description: 'Address' }),
    }),
  ),
  available_ips: wire.IntegerOrNull({
    description: 'Number of free addresses; null if greater than 9007199254740991, as in a /64',
  }),
  total_ips: wire.IntegerOrNull({
    description: 'Number of addresses that ports can use, free or not; null if greater than 9007199254740991',
  }),
  has_router: Type.Boolean({
    deprecated: true,
    description: 'Always false; the interfaces of routers name their subnets',
  }),
  ...ResourceFields,
  ...MetadataList,
  project_id: Type.Integer({
    description: 'Project ID; for subnets of the platform, which every project can use, the project in the request',
  }),
});
export type SubnetAnswer = Static<typeof SubnetAnswer>;
export const SubnetList = wire.listOf(SubnetAnswer, 'SubnetList');

const owned_by = wire.OptionalChoice(['any', 'project'], {
  default: 'project',
  description: '`any` also includes resources of the platform',
});

export const NetworkListQuery = wire.Query({
  ...wire.listQuery(),
  name: wire.OptionalText({ maxLength: 61, description: 'Exact name' }),
  external: Type.Optional(Type.Boolean()),
  network_type: wire.OptionalText({ maxLength: 61, examples: ['vxlan'] }),
  owned_by,
  order_by: wire.OptionalChoice(['created_at.asc', 'created_at.desc', 'name.asc', 'name.desc', 'priority.desc'], {
    default: 'created_at.desc',
    description: '`priority.desc` lists the default network first',
  }),
  ...tagQuery,
});
export type NetworkListQuery = Static<typeof NetworkListQuery>;

export const AvailableNetwork = wire.Named('AvailableNetwork', {
  ...NetworkAnswer.properties,
  subnets: Type.Array(SubnetAnswer, { description: 'Subnets' }),
});
export const AvailableNetworkList = wire.listOf(AvailableNetwork, 'AvailableNetworkList');

const { owned_by: _, ...sharedQuery } = NetworkListQuery.properties;
export const AvailableNetworkQuery = wire.Query({
  ...sharedQuery,
  network_id: Type.Optional(UuidInput('Only this network')),
  network_type: wire.OptionalChoice(['vlan', 'vxlan'], 'Type of the network'),
  shared: wire.OptionalFlag({ description: 'Whether other projects can use it' }),
});
export type AvailableNetworkQuery = Static<typeof AvailableNetworkQuery>;

const subnetOrders = ['available_ips', 'cidr', 'created_at', 'name', 'total_ips', 'updated_at'] as const;

export const SubnetListQuery = wire.Query({
  ...wire.listQuery(),
  network_id: Type.Optional(UuidInput('Network ID')),
  owned_by,
  order_by: wire.OptionalChoice(
    subnetOrders.flatMap((column) => [`${column}.asc` as const, `${column}.desc` as const]),
    { default: 'cidr.asc' },
  ),
  ...tagQuery,
});
export type SubnetListQuery = Static<typeof SubnetListQuery>;

export const NetworkParams = wire.PlaceParams({ network_id: 'Network ID' });
export const SubnetParams = wire.PlaceParams({ subnet_id: 'Subnet ID' });

export const CreateNetwork = wire.Input(
  'CreateNetwork',
  {
    name: wire.ResourceName('Name'),
    create_router: wire.OptionalFlag({
      default: true,
      description:
        'Whether to create a router with the network. It is named after the network, leads to the external network of the region with an address there, and new subnets are attached to it',
    }),
    type: wire.OptionalChoice(['vlan', 'vxlan'], {
      default: 'vxlan',
      description: 'Network type, which determines how it is isolated from others',
    }),
    ...newTags,
  },
  { name: 'backend', create_router: false, type: 'vxlan', tags: { env: 'production' } },
);
export type CreateNetwork = Static<typeof CreateNetwork>;

export const UpdateNetwork = wire.Input(
  'UpdateNetwork',
  { name: Type.Optional(wire.ResourceName('Name')), tags: Type.Optional(TagsPatchInput) },
  { name: 'backend', tags: { env: 'staging', owner: null } },
);
export type UpdateNetwork = Static<typeof UpdateNetwork>;

const gateway_ip = wire.TextOrNull({
  maxLength: 45,
  description: 'IP address of the gateway; null for no gateway',
  examples: ['10.10.0.1'],
});
const dns_nameservers = wire.nullable(
  Type.Array(Type.String({ maxLength: 45 }), {
    maxItems: 100,
    description: 'IP addresses of DNS name servers, of the same IP version as the subnet, at most 5',
    examples: [['1.1.1.1', '9.9.9.9']],
  }),
);
const host_routes = wire.nullable(
  Type.Array(
    wire.Input('NewHostRoute', {
      destination: Type.String({
        maxLength: 64,
        description: 'CIDR of the same IP version as the subnet',
        examples: ['192.168.0.0/16'],
      }),
      nexthop: Type.String({
        maxLength: 45,
        description: 'IP address of the same IP version as the subnet',
        examples: ['10.10.0.5'],
      }),
    }),
    { maxItems: 100, description: 'Static routes for machines in the subnet, at most 20' },
  ),
);

export const CreateSubnet = Type.Object(
  {
    name: wire.ResourceName('Name'),
    network_id: UuidInput('Network of the subnet'),
    cidr: Type.String({
      maxLength: 64,
      description:
        'CIDR of the subnet: IPv4 from /8 to /29 or IPv6 from /32 to /125, without host bits. It must not overlap another subnet of the network',
      examples: ['10.10.0.0/24'],
    }),
    enable_dhcp: wire.OptionalFlag({ default: true }),
    gateway_ip: Type.Optional({
      ...gateway_ip,
      description: 'IP address of the gateway; defaults to the first address. Null for no gateway',
    }),
    connect_to_network_router: wire.OptionalFlag({
      default: true,
      description:
        'Whether a router gets the gateway address; must be false if gateway_ip is null. Without router_id_to_connect, it is the router that was created with the network, if there is one',
    }),
    router_id_to_connect: Type.Optional(
      wire.nullable(UuidInput('Router to attach the subnet to, instead of the one that was created with the network')),
    ),
    dns_nameservers: Type.Optional(dns_nameservers),
    host_routes: Type.Optional(host_routes),
    ip_version: Type.Optional(
      Type.Enum([4, 6], { type: 'integer', description: 'IP version; must match cidr and can be omitted' }),
    ),
    ...newTags,
  },
  {
    title: 'CreateSubnet',
    additionalProperties: false,
    examples: [
      {
        name: 'backend',
        network_id: '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a',
        cidr: '10.10.0.0/24',
        dns_nameservers: ['1.1.1.1'],
        tags: { env: 'production' },
      },
      {
        name: 'backend-ipv6',
        network_id: '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a',
        cidr: 'fd00:10::/64',
        ip_version: 6,
      },
    ],
  },
);
export type CreateSubnet = Static<typeof CreateSubnet>;

export const UpdateSubnet = wire.Input(
  'UpdateSubnet',
  {
    name: Type.Optional(wire.nullable(wire.ResourceName('Name; null leaves it unchanged'))),
    enable_dhcp: Type.Optional(Type.Boolean()),
    gateway_ip: Type.Optional(gateway_ip),
    dns_nameservers: Type.Optional(dns_nameservers),
    host_routes: Type.Optional(host_routes),
    tags: Type.Optional(TagsPatchInput),
  },
  { name: 'backend', dns_nameservers: ['9.9.9.9'], tags: { env: 'staging', owner: null } },
);
export type UpdateSubnet = Static<typeof UpdateSubnet>;
