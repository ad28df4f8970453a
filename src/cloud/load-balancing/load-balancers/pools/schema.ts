import { type Static, Type } from 'typebox';
import { LEGACY } from '../../../../lib/legacy.ts';
import { TaskFields, Uuid, UuidInput } from '../../../../lib/resource-fields.ts';
import * as wire from '../../../../lib/wire.ts';
import { AdminStateUp, MOST_IN_ALL, olderBalancerId, statusFields } from '../schema.ts';
import type { Forest } from '../tree/parts.ts';

const { Optional } = Type;

/** Our own limits. None are published. */
export const MAX_POOLS = 100;
export const MAX_MEMBERS = 250;

const Timeout = (description: string) =>
  wire.IntegerOrNull({
    minimum: 0,
    maximum: 86_400_000,
    description: `${description}, in milliseconds; null leaves it to the platform`,
  });
/** Listeners and pools have the same three. */
export const timeoutFields = {
  timeout_client_data: Timeout('How long a client may be silent'),
  timeout_member_connect: Timeout('How long connecting to a member may take'),
  timeout_member_data: Timeout('How long a member may be silent'),
};
export const timeoutInputs = {
  timeout_client_data: Optional(timeoutFields.timeout_client_data),
  timeout_member_connect: Optional(timeoutFields.timeout_member_connect),
  timeout_member_data: Optional(timeoutFields.timeout_member_data),
};

const PROTOCOLS = ['HTTP', 'HTTPS', 'PROXY', 'PROXYV2', 'TCP', 'UDP'] as const;
export type PoolProtocol = (typeof PROTOCOLS)[number];
const Protocol = wire.oneOf(PROTOCOLS, {
  description: 'What members are spoken to in',
  examples: ['HTTP'],
});
const Algorithm = wire.oneOf(['LEAST_CONNECTIONS', 'ROUND_ROBIN', 'SOURCE_IP'], {
  description: 'How a member is chosen',
  examples: ['ROUND_ROBIN'],
});
const MonitorType = wire.oneOf(['HTTP', 'HTTPS', 'K8S', 'PING', 'TCP', 'TLS-HELLO', 'UDP-CONNECT'], {
  description: 'How members are asked. It stays as long as the monitor does.',
  examples: ['TCP'],
});
const HTTP_METHODS = ['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE'] as const;
const ofHttp = (description: string) => `${description}. Only for HTTP and HTTPS.`;

const monitorFields = {
  admin_state_up: Optional(AdminStateUp('Whether it asks; true by default')),
  delay: Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'Seconds from one question to the next',
    examples: [10],
  }),
  timeout: Type.Integer({
    minimum: 1,
    maximum: 2_147_483,
    description: 'Seconds to wait for the answer; less than delay',
    examples: [5],
  }),
  max_retries: Type.Integer({
    minimum: 1,
    maximum: 10,
    description: 'Good answers until a member is ONLINE',
    examples: [2],
  }),
  max_retries_down: wire.OptionalInteger({
    minimum: 1,
    maximum: 10,
    description: 'Failures until a member is ERROR; 3 by default',
    examples: [3],
  }),
  http_method: Optional(wire.nullable(wire.Choice(HTTP_METHODS, ofHttp('Method')))),
  http_version: Optional(wire.nullable(wire.Choice(['1.0', '1.1'], ofHttp('Version of HTTP')))),
  url_path: wire.OptionalTextOrNull({
    maxLength: 255,
    pattern: '^/([^/?#%][^?#%]*)?$',
    rule: 'Must be a path such as /healthz, without a query, a fragment and "%".',
    description: ofHttp('Path that is asked for'),
  }),
  expected_codes: wire.OptionalTextOrNull({
    maxLength: 255,
    pattern: '^[1-5]\\d\\d(-[1-5]\\d\\d)?(,[1-5]\\d\\d(-[1-5]\\d\\d)?)*$',
    rule: 'Must be codes and ranges such as 200,202,300-302.',
    description: ofHttp('Codes of good answers; 200 by default'),
  }),
  domain_name: wire.OptionalTextOrNull({
    pattern: '^[A-Za-z0-9._-]{1,253}$',
    rule: 'Must be a name such as www.example.com.',
    description: ofHttp('Host header; needs HTTP 1.1'),
  }),
};
const createMonitorFields = { type: MonitorType, ...monitorFields };
const MonitorOfPool = wire.Input('HealthMonitorOfPool', createMonitorFields);
/** The same with an example, which belongs to the body only. */
export const CreateHealthMonitor = wire.Input('CreateHealthMonitor', createMonitorFields, {
  type: 'TCP',
  delay: 10,
  timeout: 5,
  max_retries: 2,
});
export type CreateHealthMonitor = Static<typeof CreateHealthMonitor>;
const ChangeHealthMonitor = wire.Input('ChangeHealthMonitor', {
  type: Optional(
    wire.nullable(
      wire.Choice(['HTTP', 'HTTPS', 'K8S', 'PING', 'TCP', 'TLS-HELLO', 'UDP-CONNECT'], {
        description: 'Must be the type that it has; required for a pool without a monitor',
      }),
    ),
  ),
  ...monitorFields,
});
export type ChangeHealthMonitor = Static<typeof ChangeHealthMonitor>;
export const UpdateHealthMonitor = wire.Input(
  'UpdateHealthMonitor',
  Type.Partial(Type.Object(monitorFields)).properties,
  {
    delay: 20,
    timeout: 10,
    max_retries: 3,
  },
);
export type UpdateHealthMonitor = Static<typeof UpdateHealthMonitor>;

const Persistence = wire.Input('SessionPersistenceInput', {
  type: wire.oneOf(['APP_COOKIE', 'HTTP_COOKIE', 'SOURCE_IP'], {
    description: 'By what a client is known',
    examples: ['HTTP_COOKIE'],
  }),
  cookie_name: wire.OptionalTextOrNull({
    pattern: '^[a-zA-Z0-9][a-zA-Z 0-9._\\-]{1,61}[a-zA-Z0-9._]$',
    rule: 'Must be 3 to 63 letters, digits, spaces, dots, underscores and hyphens; the first and last is a letter or digit.',
    description: 'Name of the cookie; required for APP_COOKIE',
  }),
  persistence_granularity: wire.OptionalTextOrNull({
    maxLength: 64,
    description: 'Subnet mask. Only for SOURCE_IP in UDP pools.',
  }),
  persistence_timeout: wire.OptionalIntegerOrNull({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'In seconds. Only for SOURCE_IP in UDP pools.',
  }),
});
export type PersistenceInput = Static<typeof Persistence>;

const Port = { minimum: 1, maximum: 65_535 };
const changeableMemberFields = {
  weight: wire.OptionalInteger({
    minimum: 1,
    maximum: 256,
    description: 'Share of the traffic, compared with the other members; 1 by default',
    examples: [1],
  }),
  backup: wire.OptionalFlag({
    description: 'Whether it gets traffic only when no other member works; false by default',
  }),
  admin_state_up: Optional(AdminStateUp('Whether it gets traffic; true by default')),
  monitor_address: wire.OptionalTextOrNull({
    maxLength: 64,
    description: 'Address that the health monitor asks instead',
  }),
  monitor_port: wire.OptionalIntegerOrNull({ ...Port, description: 'Port that the health monitor asks instead' }),
};
const createMemberFields = {
  address: Type.String({ maxLength: 64, description: 'IP address', examples: ['192.168.40.33'] }),
  protocol_port: Type.Integer({ ...Port, description: 'Port', examples: [80] }),
  subnet_id: Optional(wire.orNull(UuidInput('Subnet of the address'))),
  instance_id: Optional(wire.orNull(UuidInput('Instance that has the address; with subnet_id, in that subnet'))),
  ...changeableMemberFields,
};
const MemberOfPool = wire.Input('MemberOfPool', createMemberFields);
/** The same with an example, which belongs to the body only. */
export const CreateMember = wire.Input('CreatePoolMember', createMemberFields, {
  address: '192.168.40.33',
  protocol_port: 80,
  weight: 2,
});
export type CreateMember = Static<typeof CreateMember>;
const Members = Type.Array(MemberOfPool, {
  maxItems: MAX_MEMBERS,
  description: `Members; at most ${MOST_IN_ALL.members} over all pools of a load balancer`,
});
export const ReplaceMembers = Type.Array(MemberOfPool, {
  title: 'ReplacePoolMembers',
  maxItems: MAX_MEMBERS,
  description: 'All members that the pool is to have',
  examples: [[{ address: '192.168.40.33', protocol_port: 80 }]],
});
export const UpdateMember = wire.Input('UpdatePoolMember', changeableMemberFields, { weight: 3 });
export type UpdateMember = Static<typeof UpdateMember>;

const ofTls = 'Only for HTTP and HTTPS pools.';
const secretInputs = {
  secret_id: Optional(
    wire.orNull(UuidInput(`Secret with the certificate that is shown to members, and its key. ${ofTls}`)),
  ),
  ca_secret_id: Optional(
    wire.orNull(UuidInput(`Secret with the authorities that members are checked against. ${ofTls}`)),
  ),
  crl_secret_id: Optional(
    wire.orNull(UuidInput(`Secret with a list of certificates that were revoked; with ca_secret_id only. ${ofTls}`)),
  ),
};

export const newPoolFields = {
  name: wire.ResourceName('Name'),
  protocol: Protocol,
  lb_algorithm: Algorithm,
  session_persistence: Optional(wire.orNull(Persistence)),
  healthmonitor: Optional(wire.orNull(MonitorOfPool)),
  members: Optional(Members),
  ...timeoutInputs,
  ...secretInputs,
};
/** As it is created with its listener. */
export const PoolOfListener = wire.Input('PoolOfListener', newPoolFields);
export type NewPool = Static<typeof PoolOfListener>;

export const CreatePool = wire.Input(
  'CreatePool',
  {
    load_balancer_id: Optional(wire.orNull(UuidInput('Load balancer. Not needed with listener_id.'))),
    ...olderBalancerId,
    listener_id: Optional(wire.orNull(UuidInput('Listener of which it is the default pool'))),
    ...newPoolFields,
  },
  {
    name: 'web servers',
    load_balancer_id: '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a',
    protocol: 'HTTP',
    lb_algorithm: 'ROUND_ROBIN',
    members: [{ address: '192.168.40.33', protocol_port: 80 }],
  },
);
export type CreatePool = Static<typeof CreatePool>;

export const UpdatePool = wire.Input(
  'UpdatePool',
  {
    name: Optional(wire.ResourceName('Name')),
    protocol: Optional(Protocol),
    lb_algorithm: Optional(Algorithm),
    admin_state_up: Optional(AdminStateUp()),
    session_persistence: Optional(wire.orNull(Persistence)),
    healthmonitor: Optional(wire.orNull(ChangeHealthMonitor)),
    members: Optional(wire.orNull(Members)),
    ...timeoutInputs,
    ...secretInputs,
  },
  { name: 'web servers', lb_algorithm: 'LEAST_CONNECTIONS' },
);
export type UpdatePool = Static<typeof UpdatePool>;

const text = (description: string) => wire.TextOrNull({ description });

export const HealthMonitorAnswer = wire.Named('HealthMonitor', {
  id: Uuid('Health monitor ID'),
  type: MonitorType,
  ...statusFields,
  admin_state_up: AdminStateUp(),
  delay: Type.Integer(),
  timeout: Type.Integer(),
  max_retries: Type.Integer(),
  max_retries_down: Type.Integer(),
  http_method: wire.nullable(wire.Choice(HTTP_METHODS)),
  http_version: wire.nullable(wire.Choice(['1.0', '1.1'])),
  url_path: text('Path that is asked for'),
  expected_codes: text('Codes of good answers'),
  domain_name: text('Host header'),
});
export type HealthMonitorAnswer = Static<typeof HealthMonitorAnswer>;

export const MemberAnswer = wire.Named('PoolMember', {
  id: Uuid('Member ID'),
  address: Type.String({ description: 'IP address' }),
  protocol_port: Type.Integer({ description: 'Port' }),
  subnet_id: text('Subnet of the address, where the request named it or its instance'),
  // The older Terraform provider would plan the instance of a member anew, each time it doesn't read it.
  instance_id: { ...text('Instance that has the address, where the request named it'), ...LEGACY },
  weight: Type.Integer(),
  backup: Type.Boolean(),
  admin_state_up: AdminStateUp(),
  monitor_address: text('Address that the health monitor asks instead'),
  monitor_port: wire.nullable(Type.Integer()),
  ...statusFields,
});
export type MemberAnswer = Static<typeof MemberAnswer>;
export const MemberList = wire.listOf(MemberAnswer, 'PoolMemberList');
const MemberInList = Type.Object(
  { id: Uuid('Member ID'), ...Type.Partial(Type.Omit(MemberAnswer, ['id'])).properties },
  { title: 'PoolMemberInList', description: 'Only the ID, unless details are asked for.' },
);
const Id = wire.Named('PoolUserId', { id: Uuid('ID') });

const PersistenceAnswer = wire.Named('SessionPersistence', {
  type: Type.String(),
  cookie_name: text('Name of the cookie'),
  persistence_granularity: text('Subnet mask'),
  persistence_timeout: wire.nullable(Type.Integer()),
});

const poolFields = {
  id: Uuid('Pool ID'),
  name: Type.String({ description: 'Name' }),
  protocol: Protocol,
  lb_algorithm: Algorithm,
  ...statusFields,
  admin_state_up: AdminStateUp(),
  loadbalancers: Type.Array(Id, { description: 'The load balancer' }),
  listeners: Type.Array(Id, { description: 'Listeners of which it is the default pool' }),
  session_persistence: wire.orNull(PersistenceAnswer, 'How clients are sent to the same member again'),
  healthmonitor: wire.orNull(HealthMonitorAnswer, 'Health monitor'),
  ...timeoutFields,
  secret_id: text('Secret with the certificate for members'),
  ca_secret_id: text('Secret with the authorities that members are checked against'),
  crl_secret_id: text('Secret with certificates that were revoked'),
  ...TaskFields,
};

export const PoolAnswer = wire.Named('Pool', { ...poolFields, members: Type.Array(MemberAnswer) });
export type PoolAnswer = Static<typeof PoolAnswer>;
export const PoolList = wire.listOf(
  wire.Named('PoolInList', { ...poolFields, members: Type.Array(MemberInList) }),
  'PoolList',
);

export const PoolListQuery = wire.Query({
  ...wire.listQuery(),
  details: wire.OptionalFlag({ default: false, description: 'Include what members are like' }),
  load_balancer_id: Optional(UuidInput('Only pools of this load balancer')),
  ...olderBalancerId,
  listener_id: Optional(UuidInput('Only the default pool of this listener')),
  name: wire.OptionalText({ maxLength: 255, description: 'Only names that contain this' }),
});
export type PoolListQuery = Static<typeof PoolListQuery>;

export const MemberListQuery = wire.Query({
  ...wire.listQuery(),
  order_by: wire.OptionalChoice(['address.asc', 'address.desc', 'created_at.asc', 'created_at.desc'], {
    default: 'address.asc',
    description: 'Order; those with the same address by port',
  }),
});
export type MemberListQuery = Static<typeof MemberListQuery>;

export const PoolParams = wire.PlaceParams({ pool_id: 'Pool ID' });
export const MemberParams = Type.Object({
  ...PoolParams.properties,
  member_id: Type.String({ description: 'Member ID' }),
});

type PoolInTree = Forest['pools'][number];

export function presentedPool(row: PoolInTree, forest: Forest): PoolAnswer {
  const { health_monitor: monitor, session_persistence } = row;
  const operating = (id: string) => forest.statuses.get(id) ?? 'OFFLINE';
  return {
    operating_status: operating(row.id),
    ...row,
    loadbalancers: [{ id: row.load_balancer_id }],
    listeners: (forest.listenersWith.get(row.id) ?? []).map(({ id }) => ({ id })),
    session_persistence,
    healthmonitor: monitor && {
      provisioning_status: row.provisioning_status,
      ...monitor,
      operating_status: operating(monitor.id),
    },
    members: (forest.membersOf.get(row.id) ?? []).map((member) => presentedMember(member, forest)),
  };
}

export function presentedMember(row: Forest['members'][number], { statuses }: Forest): MemberAnswer {
  return { operating_status: statuses.get(row.id) ?? 'OFFLINE', ...row };
}

/** In lists, members are only named unless details are asked for. */
export function presentedInList(row: PoolInTree, forest: Forest, { details }: { details: boolean }) {
  const pool = presentedPool(row, forest);
  return details ? pool : { ...pool, members: pool.members.map(({ id }) => ({ id })) };
}
