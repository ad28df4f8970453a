import { type Static, Type } from 'typebox';
import * as wire from '../../lib/wire.ts';
import type { AuditRow, Sealed } from './store.ts';

const several = { minItems: 1, maxItems: 20 };

export const AuditQuery = wire.Query({
  client_id: Type.Optional(
    wire.IntegerId('Only what concerns this account. Other accounts than your own are for the platform administrator'),
  ),
  user_id: wire.RepeatedId('Only what these users did'),
  token_id: wire.RepeatedId('Only what was done with these API tokens'),
  type: wire.OptionalList(
    Type.String({
      maxLength: 100,
      pattern: '^tradewind\\.(\\*|[a-z0-9_]+\\.(\\*|[a-z0-9_]+))$',
      rule: 'Must be a type of event such as tradewind.cluster.updated, or end in a star: tradewind.cluster.*.',
      examples: ['tradewind.cluster.*'],
    }),
    {
      ...several,
      description: 'Types of events, with a star at the end for all that begin so. Repeat the parameter for several',
    },
  ),
  subject: wire.OptionalList(Type.String({ minLength: 1, maxLength: 300 }), {
    ...several,
    description: 'What it was about: the resource and its ID. Repeat the parameter for several',
    examples: [['instance/7f3f9a52-0a0e-4b0f-8f5a-3c8a2b6d1e90']],
  }),
  project_id: wire.RepeatedId('Only what happened in these projects'),
  address: wire.OptionalList(Type.String({ minLength: 1, maxLength: 45 }), {
    ...several,
    description: 'Addresses of clients. Repeat the parameter for several',
    examples: [['192.0.2.7']],
  }),
  outcome: wire.OptionalList(wire.Choice(['accepted', 'refused', 'failed']), {
    maxItems: 3,
    description: 'Repeat the parameter for several',
  }),
  request_id: wire.OptionalList(Type.String({ minLength: 1, maxLength: 100 }), {
    ...several,
    description: 'As in the header `x-request-id`. Repeat the parameter for several',
    examples: [['7f3f9a52-0a0e-4b0f-8f5a-3c8a2b6d1e90']],
  }),
  from: Type.Optional(wire.QueryTime('At this time or later')),
  to: Type.Optional(wire.QueryTime('Before this time')),
  limit: wire.OptionalInteger({
    minimum: 1,
    maximum: 1_000,
    default: 100,
    description: 'Most records in a list in JSON',
  }),
  page_token: wire.OptionalText({ pattern: '^[\\w-]{1,60}$', description: '`next_page_token` of the page before' }),
});
export type AuditQuery = Static<typeof AuditQuery>;

const AuditActor = wire.Named('AuditActor', {
  kind: wire.Choice(['user', 'operator', 'unknown'], {
    description: 'operator: a command on the server. unknown: credentials that belong to nobody',
  }),
  user_id: wire.IntegerOrNull({ description: 'User' }),
  email: wire.TextOrNull({ description: 'Their address, if they belong to the account' }),
  token: Type.Unsafe<{ id: number; name: string | null } | null>({
    type: ['object', 'null'],
    description: 'The API token; null for a login and for a command',
    properties: {
      id: { type: 'integer' },
      name: {
        type: ['string', 'null'],
        description: 'Null if the token is no longer known, or is that of another account',
      },
    },
  }),
});

export const AuditRecord = wire.Named('AuditRecord', {
  id: Type.Integer(),
  time: Type.String({ format: 'date-time' }),
  client_id: wire.IntegerOrNull({ description: 'Account that it concerns; null for credentials that nobody knows' }),
  actor: AuditActor,
  source: wire.Named('AuditSource', {
    address: wire.TextOrNull({
      description: 'Address of the client; null for a command, and for many addresses together',
    }),
    user_agent: wire.TextOrNull({
      description: 'The client, as it calls itself. Who ran a command, and where: for the platform administrator alone',
    }),
  }),
  operation: wire.TextOrNull({ description: 'Operation, or command of the operator' }),
  method: wire.TextOrNull({ description: 'HTTP method' }),
  path: wire.TextOrNull({ description: 'Path of the request, without the query' }),
  type: wire.TextOrNull({ description: 'Event that tells of it, or would have' }),
  subject: wire.TextOrNull({ description: 'What it was about' }),
  resources: Type.Array(
    wire.Named('AuditResource', {
      id: Type.String(),
      name: wire.TextOrNull({ description: 'Name or address' }),
    }),
    { description: 'What an accepted change of the cloud was about, the most important first' },
  ),
  project_id: wire.IntegerOrNull({ description: 'Project' }),
  region_id: wire.IntegerOrNull({ description: 'Region' }),
  task_id: wire.TextOrNull({ description: 'Task that was started' }),
  request_id: wire.TextOrNull({ description: 'As in the header `x-request-id`; of the first, if there were several' }),
  outcome: wire.Choice(['accepted', 'refused', 'failed']),
  status: wire.IntegerOrNull({ description: 'Status of the answer' }),
  reason: wire.TextOrNull({
    description: 'Why credentials were refused: expired, deleted, blocked, paused, unknown, no right',
  }),
  attempts: Type.Integer({ description: 'How often, if one record stands for several' }),
  sealed: Type.Boolean({ description: 'Whether the chain of hashes includes it' }),
});
export type AuditRecord = Static<typeof AuditRecord>;

export const AuditList = wire.Named('AuditList', {
  records: Type.Array(AuditRecord, { description: 'The newest first' }),
  next_page_token: wire.TextOrNull({ description: 'For the next page; null at the end' }),
});
export type AuditList = Static<typeof AuditList>;

/** The answers by media type. */
export const AuditAnswer = {
  description: 'What happened, by `Accept`: a page, or everything as lines of JSON',
  content: {
    'application/json': { schema: AuditList },
    'application/x-ndjson': {
      schema: Type.String({ description: 'A record in each line, the newest first' }),
    },
  },
};

/**
 * Returns a record as the API shows it. `sealed` is where the chain begins and ends. Accounts don't learn who runs
 * commands on which of the operator's machines; whoever may know `everything` does.
 */
export function presentedRecord(
  row: AuditRow,
  { sealed, everything }: { sealed: Sealed; everything: boolean },
): AuditRecord {
  const names = row.resource_names ?? [];
  const isCommand = row.origin === 'command';
  return {
    id: row.id,
    time: row.timestamp.toISOString(),
    client_id: row.client_id || null,
    actor: {
      kind: isCommand ? 'operator' : row.user_id === 0 ? 'unknown' : 'user',
      user_id: row.user_id || null,
      email: row.email,
      token: row.token_id === null ? null : { id: row.token_id, name: row.token_name },
    },
    source: {
      address: row.source_user_ip || null,
      user_agent: isCommand && !everything ? null : row.user_agent,
    },
    operation: row.operation || null,
    method: row.method || null,
    path: row.path || null,
    type: row.event_type,
    subject: row.subject,
    resources: (row.resource_ids ?? []).map((id, place) => ({ id, name: names[place] ?? null })),
    project_id: row.project_id,
    region_id: row.region_id,
    task_id: row.task_id,
    request_id: row.request_id || null,
    outcome: row.outcome,
    status: row.status || null,
    reason: row.reason,
    attempts: row.attempts ?? 1,
    sealed: row.id > sealed.after && row.id <= sealed.upTo,
  };
}
