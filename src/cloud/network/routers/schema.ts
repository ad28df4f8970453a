import { type Static, Type } from 'typebox';
import { PlaceFields, TaskFields, Uuid, UuidInput } from '../../../lib/resource-fields.ts';
import * as wire from '../../../lib/wire.ts';

const AddressAnswer = wire.Named('RouterAddress', {
  ip_address: Type.String({ examples: ['10.10.0.1'] }),
  subnet_id: Uuid('Subnet ID'),
});

const GatewayAnswer = wire.Named('ExternalGateway', {
  network_id: Uuid('External network'),
  enable_snat: Type.Boolean({
    description:
      'Whether machines without a floating IP reach the outside, with the address of the router as their source',
  }),
  external_fixed_ips: Type.Array(AddressAnswer, {
    description: 'Addresses of the router in the external network',
  }),
});

const InterfaceAnswer = wire.Named('RouterInterface', {
  port_id: Uuid('Port ID'),
  network_id: Uuid('Network ID'),
  mac_address: Type.String({ examples: ['02:00:00:00:00:01'] }),
  ip_assignments: Type.Array(AddressAnswer),
});

const RouteAnswer = wire.Named('RouterRoute', {
  destination: Type.String({ description: 'CIDR', examples: ['192.168.0.0/16'] }),
  nexthop: Type.String({ description: 'Address', examples: ['10.10.0.5'] }),
});

export const RouterAnswer = wire.Named('Router', {
  id: Uuid('Router ID'),
  name: Type.String({ examples: ['backend_router'] }),
  status: Type.String({
    description: '`ALLOCATING` while it is being created, then `ACTIVE`',
    examples: ['ACTIVE'],
  }),
  distributed: Type.Boolean({ description: 'Always false' }),
  external_gateway_info: wire.orNull(GatewayAnswer, 'External gateway; null if the router leads nowhere'),
  interfaces: Type.Array(InterfaceAnswer, { description: 'Ports in subnets, in the order of attachment' }),
  routes: Type.Array(RouteAnswer, { description: 'Static routes' }),
  ...PlaceFields,
  ...TaskFields,
  created_at: wire.OffsetTimestamp(),
  updated_at: wire.OffsetTimestamp(),
});
export type RouterAnswer = Static<typeof RouterAnswer>;
export const RouterList = wire.listOf(RouterAnswer, 'RouterList');

export const RouterListQuery = wire.Query({
  ...wire.listQuery(),
  name: wire.OptionalText({ maxLength: 63, description: 'Exact name' }),
});
export type RouterListQuery = Static<typeof RouterListQuery>;

/** Far more than a router connects. */
const MAX_INTERFACES = 128;

const enable_snat = Type.Optional(
  wire.nullable(
    Type.Boolean({
      default: true,
      description:
        'Whether machines without a floating IP reach the outside, with the address of the router as their source; null means true',
    }),
  ),
);
const ManualGateway = wire.Input(
  'ManualRouterGateway',
  {
    type: wire.OptionalChoice(['manual'], { default: 'manual' }),
    network_id: UuidInput('External network of the region'),
    enable_snat,
  },
  { type: 'manual', network_id: '0b1f6f3e-6c44-4d0a-9a57-2f6a3c1d7e10', enable_snat: true },
);

/** One object instead of a union, so that a fault names its field. */
const NewGateway = wire.Input(
  'NewRouterGateway',
  {
    type: wire.OptionalChoice(['default', 'manual'], {
      description:
        '`default` lets the platform choose the external network, `manual` needs network_id; can be left out',
    }),
    network_id: Type.Optional(UuidInput('External network of the region; not with type `default`')),
    enable_snat,
  },
  { type: 'default', enable_snat: true },
);

const routes = Type.Array(
  wire.Input('NewRouterRoute', {
    destination: Type.String({
      maxLength: 64,
      description: 'CIDR',
      examples: ['192.168.0.0/16'],
    }),
    nexthop: Type.String({
      maxLength: 45,
      description:
        'IP address of the same IP version, in a subnet of the router or in its external network, to which the traffic is forwarded',
      examples: ['10.10.0.5'],
    }),
  }),
  { maxItems: 100, description: 'Static routes, at most 30' },
);

export const CreateRouter = wire.Input(
  'CreateRouter',
  {
    name: wire.ResourceName('Name'),
    external_gateway_info: Type.Optional(
      wire.nullable({ ...NewGateway, description: 'External gateway; without one the router leads nowhere' }),
    ),
    interfaces: Type.Optional(
      wire.nullable(
        Type.Array(
          wire.Input('NewRouterInterface', {
            type: wire.OptionalChoice(['subnet'], { default: 'subnet' }),
            subnet_id: UuidInput('Subnet with a gateway address, which becomes the address of the router'),
          }),
          { maxItems: MAX_INTERFACES, description: 'Subnets to attach' },
        ),
      ),
    ),
    routes: Type.Optional(wire.nullable(routes)),
  },
  { name: 'backend', external_gateway_info: { type: 'default', enable_snat: true } },
);
export type CreateRouter = Static<typeof CreateRouter>;

const external_gateway_info = Type.Optional(
  wire.nullable({ ...ManualGateway, description: 'New external gateway; null removes it' }),
);
const updateExample = {
  name: 'backend-2',
  external_gateway_info: {
    type: 'manual',
    network_id: '0b1f6f3e-6c44-4d0a-9a57-2f6a3c1d7e10',
    enable_snat: false,
  },
};

export const UpdateRouter = wire.Input(
  'UpdateRouter',
  {
    name: Type.Optional(wire.ResourceName('Name')),
    external_gateway_info,
    routes: Type.Optional({ ...routes, description: 'Replaces the current static routes; at most 30' }),
  },
  updateExample,
);
export type UpdateRouter = Static<typeof UpdateRouter>;

export const UpdateRouterNow = wire.Input(
  'UpdateRouterNow',
  {
    name: Type.Optional(wire.nullable(wire.ResourceName('Name; null leaves it unchanged'))),
    external_gateway_info,
    routes: Type.Optional({
      ...wire.nullable(routes),
      description: 'Replaces the current static routes, at most 30; null leaves them unchanged',
    }),
  },
  updateExample,
);
export type UpdateRouterNow = Static<typeof UpdateRouterNow>;

export const AttachSubnet = wire.Input(
  'AttachSubnet',
  {
    subnet_id: UuidInput('Subnet to attach'),
    ip_address: wire.OptionalText({
      maxLength: 45,
      description: "Address of the router in the subnet; defaults to the subnet's gateway address",
      examples: ['10.10.0.1'],
    }),
  },
  { subnet_id: '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a' },
);
export type AttachSubnet = Static<typeof AttachSubnet>;

export const DetachSubnet = wire.Input(
  'DetachSubnet',
  { subnet_id: UuidInput('Subnet to detach') },
  { subnet_id: '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a' },
);
export type DetachSubnet = Static<typeof DetachSubnet>;

export const RouterParams = wire.PlaceParams({ router_id: 'Router ID' });
