import { type Static, Type } from 'typebox';
import { newTags } from '../../../lib/legacy-metadata.ts';
import { nullable } from '../../../lib/nullable.ts';
import { UuidInput } from '../../../lib/resource-fields.ts';
import { TagsPatchInput } from '../../../lib/tags-patch.ts';
import { ResourceName } from '../../../lib/wire.ts';

export const CreateNetwork = Type.Object(
  {
    name: ResourceName('Name'),
    create_router: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          'Whether to create a router with the network. It is named after the network, leads to the external network of the region with an address there, and new subnets are attached to it',
      }),
    ),
    type: Type.Optional(
      Type.Enum(['vlan', 'vxlan'], {
        type: 'string',
        default: 'vxlan',
        description: 'Network type, which determines how it is isolated from others',
      }),
    ),
    ...newTags,
  },
  {
    title: 'CreateNetwork',
    additionalProperties: false,
    examples: [{ name: 'backend', create_router: false, type: 'vxlan', tags: { env: 'production' } }],
  },
);
export type CreateNetwork = Static<typeof CreateNetwork>;

export const UpdateNetwork = Type.Object(
  { name: Type.Optional(ResourceName('Name')), tags: Type.Optional(TagsPatchInput) },
  {
    title: 'UpdateNetwork',
    additionalProperties: false,
    examples: [{ name: 'backend', tags: { env: 'staging', owner: null } }],
  },
);
export type UpdateNetwork = Static<typeof UpdateNetwork>;

const gateway_ip = nullable(
  Type.String({
    maxLength: 45,
    description: 'IP address of the gateway; null for no gateway',
    examples: ['10.10.0.1'],
  }),
);
const dns_nameservers = nullable(
  Type.Array(Type.String({ maxLength: 45 }), {
    maxItems: 100,
    description: 'IP addresses of DNS name servers, of the same IP version as the subnet, at most 5',
    examples: [['1.1.1.1', '9.9.9.9']],
  }),
);
const host_routes = nullable(
  Type.Array(
    Type.Object(
      {
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
      },
      { title: 'NewHostRoute', additionalProperties: false },
    ),
    { maxItems: 100, description: 'Static routes for machines in the subnet, at most 20' },
  ),
);

export const CreateSubnet = Type.Object(
  {
    name: ResourceName('Name'),
    network_id: UuidInput('Network of the subnet'),
    cidr: Type.String({
      maxLength: 64,
      description:
        'CIDR of the subnet: IPv4 from /8 to /29 or IPv6 from /32 to /125, without host bits. It must not overlap another subnet of the network',
      examples: ['10.10.0.0/24'],
    }),
    enable_dhcp: Type.Optional(Type.Boolean({ default: true })),
    gateway_ip: Type.Optional({
      ...gateway_ip,
      description: 'IP address of the gateway; defaults to the first address. Null for no gateway',
    }),
    connect_to_network_router: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          'Whether a router gets the gateway address; must be false if gateway_ip is null. Without router_id_to_connect, it is the router that was created with the network, if there is one',
      }),
    ),
    router_id_to_connect: Type.Optional(
      nullable(
        UuidInput('Router to attach the subnet to, instead of the one that was created with the network'),
      ),
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

export const UpdateSubnet = Type.Object(
  {
    name: Type.Optional(nullable(ResourceName('Name; null leaves it unchanged'))),
    enable_dhcp: Type.Optional(Type.Boolean()),
    gateway_ip: Type.Optional(gateway_ip),
    dns_nameservers: Type.Optional(dns_nameservers),
    host_routes: Type.Optional(host_routes),
    tags: Type.Optional(TagsPatchInput),
  },
  {
    title: 'UpdateSubnet',
    additionalProperties: false,
    examples: [{ name: 'backend', dns_nameservers: ['9.9.9.9'], tags: { env: 'staging', owner: null } }],
  },
);
export type UpdateSubnet = Static<typeof UpdateSubnet>;
