import { type Static, Type } from 'typebox';
import { TaskFields, UUID_PATTERN, Uuid, UuidInput } from '../../../../lib/resource-fields.ts';
import * as wire from '../../../../lib/wire.ts';
import { timeoutFields, timeoutInputs } from '../pools/schema.ts';
import { NO_TRAFFIC } from '../presenter.ts';
import { AdminStateUp, olderBalancerId, StatsAnswer, showQuery, statusFields } from '../schema.ts';
import type { Forest } from '../tree/parts.ts';

const { Optional } = Type;

const Sni = () =>
  Type.Array(UuidInput('Secret'), {
    maxItems: 50,
    uniqueItems: true,
    description: 'Secrets with certificates for further names; with secret_id only',
  });

const PROTOCOLS = ['HTTP', 'HTTPS', 'PROMETHEUS', 'TCP', 'TERMINATED_HTTPS', 'UDP'] as const;
export type ListenerProtocol = (typeof PROTOCOLS)[number];
const Protocol = wire.oneOf(PROTOCOLS, { description: 'What clients speak', examples: ['HTTP'] });
const protocol_port = Type.Integer({
  minimum: 1,
  maximum: 65_535,
  description: 'Port; unique for the load balancer, but UDP has ports of its own',
  examples: [80],
});
const ConnectionLimit = (more: object) =>
  Type.Integer({
    minimum: -1,
    maximum: 1_000_000,
    description: 'Most connections at the same time; -1 stands for the default of 100000',
    examples: [100_000],
    ...more,
  });
const AllowedCidrs = wire.orNull(
  Type.Array(Type.String({ maxLength: 64, examples: ['10.0.0.0/8'] }), {
    maxItems: 100,
    description: 'Ranges from which clients may connect; null or none for everywhere',
  }),
);
const Users = Type.Array(
  wire.Input('ListenerUserInput', {
    username: Type.String({
      maxLength: 32,
      pattern: '^[a-zA-Z0-9][a-zA-Z 0-9._\\-]{1,30}[a-zA-Z0-9._]$',
      rule: 'Must be 3 to 32 letters, digits, spaces, dots, underscores and hyphens; the first and last is a letter or digit.',
      description: 'Name for Basic authentication',
      examples: ['admin'],
    }),
    encrypted_password: Type.String({
      pattern: '^[!-~]{1,128}$',
      rule: 'Must be 1 to 128 printable ASCII characters without spaces.',
      description: 'Hash of the password, as crypt(3) makes it',
      examples: ['$5$isRr.HJ1IrQP38.m$oViu3DJOpUG2ZsjCBtbITV3mqpxxbZfyWJojLPNSPO5'],
    }),
  }),
  { maxItems: 3, description: 'Who may connect, for HTTP, TERMINATED_HTTPS and PROMETHEUS listeners' },
);

export const newListenerFields = {
  name: wire.ResourceName('Name'),
  protocol: Protocol,
  protocol_port,
  connection_limit: Optional(ConnectionLimit({ default: 100_000 })),
  insert_x_forwarded: wire.OptionalFlag({
    description:
      'Adds X-Forwarded-For, X-Forwarded-Port and X-Forwarded-Proto to requests. Only for HTTP and TERMINATED_HTTPS.',
  }),
  allowed_cidrs: Optional(AllowedCidrs),
  ...timeoutInputs,
  user_list: Optional(Users),
  secret_id: wire.OptionalText({
    // The older library always sends it.
    pattern: `^$|${UUID_PATTERN}`,
    rule: 'Must be a UUID; empty for none.',
    description: 'Secret with the certificate and its key. Required for TERMINATED_HTTPS, also for PROMETHEUS.',
  }),
  sni_secret_id: Optional(Sni()),
};
export const CreateListener = wire.Input(
  'CreateListener',
  {
    load_balancer_id: UuidInput('Load balancer'),
    ...olderBalancerId,
    default_pool_id: Optional(UuidInput('Pool of the load balancer that gets the traffic')),
    ...newListenerFields,
  },
  {
    name: 'web',
    load_balancer_id: '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a',
    protocol: 'HTTP',
    protocol_port: 80,
  },
);
export type CreateListener = Static<typeof CreateListener>;
/** As it may be created with its load balancer, too. */
export type NewListener = Omit<CreateListener, 'default_pool_id' | 'load_balancer_id' | 'loadbalancer_id'>;

export const RenameListener = wire.Input('RenameListener', { name: wire.ResourceName('Name') }, { name: 'web' });

export const UpdateListener = wire.Input(
  'UpdateListener',
  {
    name: Optional(wire.ResourceName('Name')),
    admin_state_up: Optional(AdminStateUp()),
    connection_limit: Optional(ConnectionLimit({})),
    allowed_cidrs: Optional(AllowedCidrs),
    ...timeoutInputs,
    user_list: Optional(wire.orNull(Users)),
    secret_id: Optional(wire.orNull(UuidInput('Secret with the certificate and its key'))),
    sni_secret_id: Optional(wire.orNull(Sni())),
  },
  { name: 'web', admin_state_up: true },
);
export type UpdateListener = Static<typeof UpdateListener>;

export const ListenerAnswer = wire.Named('Listener', {
  id: Uuid('Listener ID'),
  load_balancer_id: Uuid('Load balancer ID'),
  name: Type.String({ description: 'Name' }),
  protocol: Protocol,
  protocol_port,
  ...statusFields,
  admin_state_up: AdminStateUp(),
  connection_limit: ConnectionLimit({}),
  insert_headers: Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Headers that requests get',
  }),
  allowed_cidrs: wire.nullable(
    Type.Array(Type.String(), { description: 'Ranges from which clients may connect; null for everywhere' }),
  ),
  ...timeoutFields,
  pool_count: Type.Integer({ description: 'Pools that it uses, by itself or through L7 policies' }),
  secret_id: wire.TextOrNull({ description: 'Secret with the certificate' }),
  sni_secret_id: Type.Array(Type.String(), { description: 'Secrets with certificates for further names' }),
  stats: wire.orNull(StatsAnswer, 'Traffic so far; null unless asked for'),
  user_list: Type.Array(wire.Named('ListenerUser', { username: Type.String(), encrypted_password: Type.String() }), {
    description: 'Who may connect',
  }),
  ...TaskFields,
});
export type ListenerAnswer = Static<typeof ListenerAnswer>;
export const ListenerList = wire.listOf(ListenerAnswer, 'ListenerList');

export const ListenerListQuery = wire.Query({
  ...wire.listQuery(),
  ...showQuery,
  load_balancer_id: Optional(UuidInput('Only listeners of this load balancer')),
  ...olderBalancerId,
  name: wire.OptionalText({ maxLength: 255, description: 'Only names that contain this' }),
});
export type ListenerListQuery = Static<typeof ListenerListQuery>;
export const ShowListenerQuery = wire.Query(showQuery);
export const DeleteListenerQuery = wire.Query({
  delete_default_pool: wire.OptionalFlag({ default: false, description: 'Deletes its default pool as well' }),
});

export const ListenerParams = wire.PlaceParams({ listener_id: 'Listener ID' });

const FORWARDED = { 'X-Forwarded-For': 'true', 'X-Forwarded-Port': 'true', 'X-Forwarded-Proto': 'true' };

export function presentedListener(
  row: Forest['listeners'][number],
  forest: Forest,
  { stats }: { stats: boolean },
): ListenerAnswer {
  const policies = forest.policiesOf.get(row.id) ?? [];
  const redirects = policies.flatMap(({ redirect_pool_id }) => redirect_pool_id ?? []);
  return {
    operating_status: forest.statuses.get(row.id) ?? 'OFFLINE',
    ...row,
    insert_headers: row.insert_x_forwarded ? FORWARDED : {},
    pool_count: new Set([...(row.default_pool_id ? [row.default_pool_id] : []), ...redirects]).size,
    sni_secret_id: row.sni_secret_ids,
    stats: stats ? NO_TRAFFIC : null,
  };
}
