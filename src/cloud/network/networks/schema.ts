import { type Static, Type } from 'typebox';
import { MetadataList } from '../../../lib/legacy-metadata.ts';
import { nullable } from '../../../lib/nullable.ts';
import { ResourceFields, Uuid, UuidInput } from '../../../lib/resource-fields.ts';
import { tagQuery } from '../../../lib/tag-query.ts';
import { listOf, listQuery, ProjectRegion } from '../../../lib/wire.ts';

const project_id = nullable(
  Type.Integer({ description: 'Project ID; null for networks of the platform, which every project can use' }),
);

export const NetworkAnswer = Type.Object(
  {
    id: Uuid('Network ID'),
    name: Type.String({ examples: ['default'] }),
    type: Type.Enum(['vlan', 'vxlan'], { type: 'string' }),
    mtu: Type.Integer({ description: 'Maximum packet size in bytes', examples: [1450] }),
    external: Type.Boolean({ description: 'Whether it is an external network' }),
    shared: Type.Boolean({ description: 'Whether other projects can use it' }),
    default: nullable(Type.Boolean({ description: 'Whether it is the default network of the project' })),
    port_security_enabled: Type.Boolean(),
    segmentation_id: nullable(Type.Integer({ description: 'VLAN or VXLAN ID' })),
    subnets: Type.Array(Uuid('Subnet ID')),
    ...ResourceFields,
    ...MetadataList,
    project_id,
  },
  { title: 'Network' },
);
export type NetworkAnswer = Static<typeof NetworkAnswer>;
export const NetworkList = listOf(NetworkAnswer, 'NetworkList');

export const SubnetAnswer = Type.Object(
  {
    id: Uuid('Subnet ID'),
    name: Type.String({ examples: ['default'] }),
    network_id: Uuid('Network ID'),
    cidr: Type.String({ description: 'In canonical form; IPv6 as in RFC 5952', examples: ['10.0.0.0/20'] }),
    ip_version: Type.Integer({ description: 'IP version, 4 or 6', examples: [4] }),
    enable_dhcp: Type.Boolean(),
    gateway_ip: nullable(Type.String({ examples: ['10.0.0.1'] })),
    dns_nameservers: Type.Array(Type.String()),
    host_routes: Type.Array(
      Type.Object(
        {
          destination: Type.String({ description: 'CIDR' }),
          nexthop: Type.String({ description: 'Address' }),
        },
        { title: 'HostRoute' },
      ),
    ),
    available_ips: nullable(
      Type.Integer({
        description: 'Number of free addresses; null if greater than 9007199254740991, as in a /64',
      }),
    ),
    total_ips: nullable(
      Type.Integer({
        description:
          'Number of addresses that ports can use, free or not; null if greater than 9007199254740991',
      }),
    ),
    has_router: Type.Boolean({
      deprecated: true,
      description: 'Always false; the interfaces of routers name their subnets',
    }),
    ...ResourceFields,
    ...MetadataList,
    project_id: Type.Integer({
      description:
        'Project ID; for subnets of the platform, which every project can use, the project in the request',
    }),
  },
  { title: 'Subnet' },
);
export type SubnetAnswer = Static<typeof SubnetAnswer>;
export const SubnetList = listOf(SubnetAnswer, 'SubnetList');

const owned_by = Type.Optional(
  Type.Enum(['any', 'project'], {
    type: 'string',
    default: 'project',
    description: '`any` also includes resources of the platform',
  }),
);

export const NetworkListQuery = Type.Object(
  {
    ...listQuery(),
    name: Type.Optional(Type.String({ maxLength: 61, description: 'Exact name' })),
    external: Type.Optional(Type.Boolean()),
    network_type: Type.Optional(Type.String({ maxLength: 61, examples: ['vxlan'] })),
    owned_by,
    order_by: Type.Optional(
      Type.Enum(['created_at.asc', 'created_at.desc', 'name.asc', 'name.desc', 'priority.desc'], {
        type: 'string',
        default: 'created_at.desc',
        description: '`priority.desc` lists the default network first',
      }),
    ),
    ...tagQuery,
  },
  { additionalProperties: false },
);
export type NetworkListQuery = Static<typeof NetworkListQuery>;

/** A network as the older list shows it. */
export const AvailableNetwork = Type.Object(
  { ...NetworkAnswer.properties, subnets: Type.Array(SubnetAnswer, { description: 'Subnets' }) },
  { title: 'AvailableNetwork' },
);
export const AvailableNetworkList = listOf(AvailableNetwork, 'AvailableNetworkList');

const { owned_by: _, ...sharedQuery } = NetworkListQuery.properties;
export const AvailableNetworkQuery = Type.Object(
  {
    ...sharedQuery,
    network_id: Type.Optional(UuidInput('Only this network')),
    network_type: Type.Optional(
      Type.Enum(['vlan', 'vxlan'], { type: 'string', description: 'Type of the network' }),
    ),
    shared: Type.Optional(Type.Boolean({ description: 'Whether other projects can use it' })),
  },
  { additionalProperties: false },
);
export type AvailableNetworkQuery = Static<typeof AvailableNetworkQuery>;

const subnetOrders = ['available_ips', 'cidr', 'created_at', 'name', 'total_ips', 'updated_at'] as const;

export const SubnetListQuery = Type.Object(
  {
    ...listQuery(),
    network_id: Type.Optional(UuidInput('Network ID')),
    owned_by,
    order_by: Type.Optional(
      Type.Enum(
        subnetOrders.flatMap((column) => [`${column}.asc` as const, `${column}.desc` as const]),
        { type: 'string', default: 'cidr.asc' },
      ),
    ),
    ...tagQuery,
  },
  { additionalProperties: false },
);
export type SubnetListQuery = Static<typeof SubnetListQuery>;

export const NetworkParams = Type.Object({
  ...ProjectRegion,
  network_id: Type.String({ description: 'Network ID' }),
});
export const SubnetParams = Type.Object({
  ...ProjectRegion,
  subnet_id: Type.String({ description: 'Subnet ID' }),
});
