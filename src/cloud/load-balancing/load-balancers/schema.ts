import { type Static, type TProperties, Type } from 'typebox';
import { olderNameOf } from '../../../lib/legacy.ts';
import { MetadataList, newTags } from '../../../lib/legacy-metadata.ts';
import { PlaceFields, TagAnswer, TaskFields, Uuid, UuidInput } from '../../../lib/resource-fields.ts';
import { TagsPatchInput, tagQuery } from '../../../lib/tags.ts';
import * as wire from '../../../lib/wire.ts';
import { InterfaceFloatingIp } from '../../compute/instances/schema.ts';
import { RetentionPolicy, TopicName } from '../../ground/logging/schema.ts';
import { exceededQuotasSchema } from '../../ground/quotas/schema.ts';
import { FloatingIpAnswer } from '../../network/floating-ips/schema.ts';
import { OPERATING_STATUSES } from './tree/operating-status.ts';

/** What the descriptions of changes and of removals say of other tasks. */
export const HELD = 'Returns 409 while a task holds the load balancer.';
export const WAITS =
  'Waits for other deletions of parts of the load balancer. Returns 409 while another task holds it.';

const { Optional } = Type;

export const PROVISIONING_STATUSES = [
  'ACTIVE',
  'DELETED',
  'ERROR',
  'PENDING_CREATE',
  'PENDING_DELETE',
  'PENDING_UPDATE',
] as const;

/**
 * What a load balancer may have over all its parts. Our own limits: every change writes the whole of it anew, and every
 * answer about a part of it reads all members.
 */
export const MOST_IN_ALL = { members: 1000, policies: 500, rules: 1000 };

export const Provisioning = wire.oneOf(PROVISIONING_STATUSES, {
  description: 'Whether it is as requested, or a task is changing it',
  examples: ['ACTIVE'],
});
export const Operating = wire.oneOf(OPERATING_STATUSES, {
  description: 'Whether it works, as far as health monitors see it',
  examples: ['ONLINE'],
});
export const statusFields = { provisioning_status: Provisioning, operating_status: Operating };

export const AdminStateUp = (description = 'Whether it is switched on') =>
  Type.Boolean({ description, examples: [true] });

/** What the library of the older Terraform provider calls the load balancer of a listener or a pool. */
export const olderBalancerId = {
  loadbalancer_id: Optional({ ...UuidInput(''), ...olderNameOf('load_balancer_id') }),
};

const Connectivity = wire.oneOf(['L2', 'L3'], {
  description:
    'How members that name an instance are reached: `L2` through their own network, `L3` routed, which needs fewer addresses',
  examples: ['L2'],
});

const LoggingInput = wire.closed(
  {
    enabled: wire.OptionalFlag({ description: 'Forwards the logs; false by default', examples: [true] }),
    destination_region_id: Optional(
      wire.orNull(
        Type.Integer({
          minimum: 0,
          maximum: 2_147_483_647,
          description: 'Region that stores the logs. Required to enable logging.',
          examples: [1],
        }),
      ),
    ),
    topic_name: Optional(
      wire.orNull(
        TopicName(
          'Topic for the logs. If logging is enabled without a topic, it is named after the ID of the load balancer.',
        ),
      ),
    ),
    retention_policy: Optional(wire.orNull(RetentionPolicy)),
  },
  { title: 'LoadBalancerLoggingInput', description: 'Log forwarding. Omitted fields keep their value.' },
);

/** Where the virtual address comes from. */
const vipFields = {
  vip_network_id: Optional(
    UuidInput('Network of the virtual address; the external one by default. Not together with vip_port_id.'),
  ),
  vip_port_id: Optional(UuidInput('Reserved fixed IP whose address is used. Not together with vip_network_id.')),
  vip_ip_family: Optional(
    wire.oneOf(['dual', 'ipv4', 'ipv6'], {
      description: 'Address family; `dual` assigns one of each. Defaults to `ipv4`.',
      examples: ['ipv4'],
    }),
  ),
};
const vip_subnet_id = Optional(
  UuidInput('Subnet of vip_network_id, ignored without it. If left out, one with free addresses is chosen.'),
);

export const newBalancerFields = {
  name: wire.ResourceName('Name'),
  flavor: wire.OptionalText({
    minLength: 1,
    maxLength: 255,
    description: 'Flavor; the first one of the region by default',
    examples: ['lb1-1-2'],
  }),
  ...vipFields,
  vip_subnet_id,
  floating_ip: Optional(InterfaceFloatingIp()),
  preferred_connectivity: Optional(Connectivity),
  logging: Optional(LoggingInput),
  ...newTags,
};

const updateFields = {
  name: Optional(wire.ResourceName('Name')),
  logging: Optional(LoggingInput),
  preferred_connectivity: Optional(Connectivity),
  tags: Optional(TagsPatchInput),
};
/** The deprecated operation can't switch it off. */
export const UpdateLoadBalancerNow = wire.Input('UpdateLoadBalancerNow', updateFields, {
  name: 'shop front',
});
export const UpdateLoadBalancer = wire.Input(
  'UpdateLoadBalancer',
  { ...updateFields, admin_state_up: Optional(AdminStateUp()) },
  { name: 'shop front', admin_state_up: true },
);
export type UpdateLoadBalancer = Static<typeof UpdateLoadBalancer>;

export const CheckLoadBalancerLimits = wire.Input(
  'CheckLoadBalancerLimits',
  {
    ...vipFields,
    floating_ip: Optional(
      wire.Input('FloatingIpOfLoadBalancerToCheck', {
        source: wire.oneOf(['existing', 'new'], { description: 'Whether it is created', examples: ['new'] }),
        existing_floating_id: Optional(UuidInput('Floating IP ID')),
      }),
    ),
    logging: Optional(LoggingInput),
  },
  { floating_ip: { source: 'new' } },
);
export type CheckLoadBalancerLimits = Static<typeof CheckLoadBalancerLimits>;
export const ExceededLoadBalancerQuotas = exceededQuotasSchema('ExceededLoadBalancerQuotas', [
  'floating_count',
  'loadbalancer_count',
]);

/** A flavor as flavor lists and load balancers show it. */
export const lbFlavorFields = {
  flavor_id: Type.String({ description: 'Flavor ID', examples: ['lb1-1-2'] }),
  flavor_name: Type.String({ description: 'Same as flavor_id' }),
  vcpus: Type.Integer({ description: 'Virtual CPUs' }),
  ram: Type.Integer({ description: 'Memory in MiB' }),
};

export const StatsAnswer = wire.Named('LoadBalancerStats', {
  active_connections: Type.Integer({ description: 'Connections that are open now' }),
  bytes_in: Type.Integer({ description: 'Bytes received' }),
  bytes_out: Type.Integer({ description: 'Bytes sent' }),
  request_errors: Type.Integer({ description: 'Requests that could not be answered' }),
  total_connections: Type.Integer({ description: 'Connections so far' }),
});

const text = (description: string) => wire.TextOrNull({ description });
const orNothing = <P extends TProperties>(title: string, properties: P, description: string) =>
  wire.orNull(wire.Named(title, properties), description);

export const LoadBalancerAnswer = wire.Named('LoadBalancer', {
  id: Uuid('Load balancer ID'),
  name: Type.String({ description: 'Name' }),
  ...statusFields,
  admin_state_up: AdminStateUp(),
  flavor: orNothing('LoadBalancerFlavorOfOne', lbFlavorFields, 'Flavor; null if no request named one'),
  preferred_connectivity: Connectivity,
  vip_address: text('Virtual address; the IPv4 one if there are two'),
  vip_ip_family: wire.nullable(wire.Choice(['dual', 'ipv4', 'ipv6'])),
  vip_port_id: text('Port with the virtual address'),
  vip_fqdn: Type.Null({ description: 'Always null: virtual addresses have no names' }),
  additional_vips: Type.Array(
    wire.Named('AdditionalVip', { ip_address: Type.String(), subnet_id: Uuid('Subnet ID') }),
    { description: 'Further addresses of the port' },
  ),
  vrrp_ips: Type.Array(
    wire.Named('VrrpIp', { ip_address: Type.String(), subnet_id: Uuid('Subnet ID'), role: Type.String() }),
    { description: 'Always empty: the machines behind the virtual address have no addresses to show' },
  ),
  floating_ips: Type.Array(FloatingIpAnswer, { description: 'Floating IPs of the virtual address' }),
  listeners: Type.Array(wire.Named('ListenerId', { id: Uuid('Listener ID') }), { description: 'Listeners' }),
  logging: orNothing(
    'LoadBalancerLogging',
    {
      enabled: Type.Boolean(),
      destination_region_id: wire.IntegerOrNull({ description: 'Region that stores the logs' }),
      topic_name: text('Topic that receives the logs'),
      retention_policy: wire.orNull(RetentionPolicy),
    },
    'Log forwarding; null if it was never set up',
  ),
  stats: wire.orNull(StatsAnswer, 'Traffic so far; null unless asked for'),
  ddos_profile: Type.Null({ description: 'Always null: DDoS profiles are in a list of their own' }),
  tags_v2: Type.Array(TagAnswer, { description: 'Tags' }),
  ...MetadataList,
  ...PlaceFields,
  ...TaskFields,
  created_at: wire.OffsetTimestamp(),
  updated_at: wire.OffsetTimestamp(),
});
export type LoadBalancerAnswer = Static<typeof LoadBalancerAnswer>;
export const LoadBalancerList = wire.listOf(LoadBalancerAnswer, 'LoadBalancerList');

const flag = (description: string) => wire.OptionalFlag({ description });
export const showQuery = {
  show_stats: wire.OptionalFlag({ default: false, description: 'Include the traffic so far' }),
};
const withDdos = {
  with_ddos: wire.OptionalFlag({
    default: false,
    description: 'Has no effect: DDoS profiles are in a list of their own',
  }),
};
export const ShowBalancerQuery = wire.Query({ ...showQuery, ...withDdos });

const ORDER_COLUMNS = [
  'created_at',
  'flavor',
  'name',
  'operating_status',
  'provisioning_status',
  'updated_at',
  'vip_address',
  'vip_ip_family',
] as const;
type OrderColumn = (typeof ORDER_COLUMNS)[number];

export const LoadBalancerListQuery = wire.Query({
  ...wire.listQuery(),
  ...showQuery,
  ...withDdos,
  ...tagQuery,
  name: wire.OptionalText({ maxLength: 255, description: 'Only names that contain this' }),
  assigned_floating: flag('Only those with a floating IP, or those without'),
  logging_enabled: flag('Only those that forward logs, or those that do not'),
  operating_status: Optional(Operating),
  provisioning_status: Optional(Provisioning),
  order_by: Optional(
    Type.Unsafe<`${OrderColumn}.${'asc' | 'desc'}`>({
      type: 'string',
      enum: ORDER_COLUMNS.flatMap((column) => [`${column}.asc`, `${column}.desc`]),
      default: 'created_at.desc',
      description: 'Order',
    }),
  ),
});
export type LoadBalancerListQuery = Static<typeof LoadBalancerListQuery>;

export const LoadBalancerParams = wire.PlaceParams({ load_balancer_id: 'Load balancer ID' });
