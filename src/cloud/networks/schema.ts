import { type Static, Type } from 'typebox';
import { MetadataList } from '../../lib/legacy-metadata.ts';
import { nullable } from '../../lib/nullable.ts';
import { ResourceFields, Uuid, UuidInput } from '../../lib/resource-fields.ts';
import { tagQuery } from '../../lib/tag-query.ts';
import { listOf, listQuery, ProjectRegion } from '../../lib/wire.ts';

const project_id = nullable(
  Type.Integer({ description: "Project ID; null for the platform's own, which every project may use" }),
);

export const NetworkAnswer = Type.Object(
  {
    id: Uuid('Network ID'),
    name: Type.String({ examples: ['default'] }),
    type: Type.Enum(['vlan', 'vxlan'], { type: 'string' }),
    mtu: Type.Integer({ description: 'Largest packet in bytes', examples: [1450] }),
    external: Type.Boolean({ description: 'Whether it leads to the outside' }),
    shared: Type.Boolean({ description: 'Whether other projects may use it' }),
    default: nullable(Type.Boolean({ description: 'Whether the platform made it with the project' })),
    port_security_enabled: Type.Boolean(),
    segmentation_id: nullable(Type.Integer({ description: 'Number of the segment' })),
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
    cidr: Type.String({ description: 'In its one form: IPv6 as in RFC 5952', examples: ['10.0.0.0/20'] }),
    ip_version: Type.Integer({ description: '4 or 6', examples: [4] }),
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
        description: 'Addresses that are free; null when more than 9007199254740991, as a /64 has',
      }),
    ),
    total_ips: nullable(
      Type.Integer({ description: 'Addresses that ports may get, free or not; null as well when so many' }),
    ),
    has_router: Type.Boolean({ deprecated: true, description: 'Always false' }),
    ...ResourceFields,
    ...MetadataList,
    project_id: Type.Integer({
      description: "Project ID; of the platform's own, which every project may use, that of the request",
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
    description: "`any` answers the platform's own as well",
  }),
);

export const NetworkListQuery = Type.Object(
  {
    ...listQuery(),
    name: Type.Optional(Type.String({ maxLength: 61, description: 'The whole name' })),
    external: Type.Optional(Type.Boolean()),
    network_type: Type.Optional(Type.String({ maxLength: 61, examples: ['vxlan'] })),
    owned_by,
    order_by: Type.Optional(
      Type.Enum(['created_at.asc', 'created_at.desc', 'name.asc', 'name.desc', 'priority.desc'], {
        type: 'string',
        default: 'created_at.desc',
        description: '`priority.desc`: the default network first',
      }),
    ),
    ...tagQuery,
  },
  { additionalProperties: false },
);
export type NetworkListQuery = Static<typeof NetworkListQuery>;

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
