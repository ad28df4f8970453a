import { type Static, type TStringOptions, Type } from 'typebox';
import * as wire from '../../lib/wire.ts';
import type { EventRow } from './store.ts';

const repeated = (item: TStringOptions, description: string) =>
  wire.OptionalList(Type.String(item), {
    minItems: 1,
    maxItems: 20,
    description: `${description}. Repeat the parameter for several`,
  });

/** A type of events, or a star at the end for all that begin so. */
export const TYPE_PATTERN = {
  maxLength: 100,
  pattern: '^(\\*|tradewind\\.(\\*|[a-z0-9_]+\\.(\\*|[a-z0-9_]+)))$',
  rule: 'Must be a type such as tradewind.cluster.updated, or end in a star: tradewind.task.*.',
  examples: ['tradewind.task.*'],
};

const filter = {
  type: repeated(TYPE_PATTERN, 'Types of events, with a star at the end for all that begin so'),
  project_id: wire.RepeatedId('Only events of these projects'),
  subject: repeated(
    { minLength: 1, maxLength: 300, examples: ['instance/7f3f9a52-0a0e-4b0f-8f5a-3c8a2b6d1e90'] },
    'What the events are about: the resource and its ID',
  ),
};

const CURSOR = {
  pattern: '^(oldest|\\d{1,15})$',
  rule: 'Must be a cursor from an earlier answer, or oldest.',
};

export const EventsQuery = wire.Query({
  ...filter,
  cursor: wire.OptionalText({
    ...CURSOR,
    description:
      'Where to continue: the cursor from an earlier answer, or `oldest` for all that is kept. From now on by default. `Last-Event-ID` goes before it',
  }),
  wait: wire.OptionalInteger({
    minimum: 0,
    maximum: 60,
    default: 0,
    description: 'Seconds to wait for the first event; for an answer in JSON',
  }),
  limit: wire.OptionalInteger({
    minimum: 1,
    maximum: 1_000,
    default: 100,
    description: 'Most events in an answer in JSON',
  }),
});
export type EventsQuery = Static<typeof EventsQuery>;
export type EventsFilter = Pick<EventsQuery, 'type' | 'project_id' | 'subject'>;

export const EventsHeaders = Type.Object({
  'last-event-id': wire.OptionalText({ ...CURSOR, description: 'The ID of the last event that was received' }),
});

const EventData = wire.Named('EventData', {
  client_id: wire.IntegerId('Account'),
  project_id: wire.IntegerOrNull({ description: 'Project' }),
  region_id: wire.IntegerOrNull({ description: 'Region' }),
  resources: Type.Array(
    wire.Named('EventResource', {
      type: Type.String({ description: 'The resource, as in types of events' }),
      id: Type.String(),
      name: wire.TextOrNull({ description: 'Name or address' }),
    }),
    { description: 'What the event is about, the most important first' },
  ),
  revision: Type.Unsafe<{ before: number; after: number } | null>({
    type: ['object', 'null'],
    description: 'The revision of the subject before and after the change, if it has one and it changed',
    properties: { before: { type: 'integer' }, after: { type: 'integer' } },
  }),
  task: Type.Unsafe<object | null>({
    type: ['object', 'null'],
    description:
      'The task that was started, or that the event is about: then with `type`, `state`, `error` and `created_resources`; progress has `doing`, `done`, `of` and `step`',
    properties: {
      id: { type: 'string', format: 'uuid' },
      doing: { type: 'string', examples: ['applying logging: 3 of 6'] },
    },
    additionalProperties: true,
  }),
  actor: Type.Unsafe<object | null>({
    type: ['object', 'null'],
    description: 'Who asked for it',
    properties: {
      user_id: { type: 'integer' },
      client_id: { type: 'integer', description: 'Account of the user' },
      token_id: { type: ['integer', 'null'], description: 'API token; null for a login' },
    },
  }),
  request_id: wire.TextOrNull({ description: 'ID of the request' }),
  operation: wire.OptionalText({ description: 'Name of the operation, for an accepted request' }),
  reason: wire.OptionalText({ description: 'Why it happened, if nobody asked for it' }),
  href: wire.OptionalText({
    description: 'Where to read what it is about, with `tradewind.usage.closed`',
    examples: ['/tradewind/v1/usage?from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z'],
  }),
});

export const Event = wire.Named('Event', {
  specversion: Type.Literal('1.0'),
  id: Type.String({ format: 'uuid' }),
  source: Type.Literal('/tradewind/v1'),
  type: Type.String({ examples: ['tradewind.cluster.updated'] }),
  subject: Type.String({ examples: ['cluster/7f3f9a52-0a0e-4b0f-8f5a-3c8a2b6d1e90'] }),
  time: Type.String({ format: 'date-time' }),
  datacontenttype: Type.Literal('application/json'),
  data: EventData,
});
export type Event = Static<typeof Event>;

export const EventList = wire.Named('EventList', {
  cursor: Type.String({ description: 'For the next request' }),
  reset: Type.Boolean({
    description:
      'Whether events are missing between the given cursor and these: read anew what you need to know, then continue from here',
  }),
  events: Type.Array(Event),
});
export type EventList = Static<typeof EventList>;

/** The answers by media type. */
export const EventsAnswer = {
  description:
    'What has happened, by `Accept`: a list, a stream of server-sent events, or a line of JSON for each event',
  content: {
    'application/json': { schema: EventList },
    'text/event-stream': {
      schema: Type.String({
        description:
          '`id` is the cursor, `event` the type, `data` the event. An event `reset` says that some are missing. A comment with an `id` comes at least every 15 seconds',
      }),
    },
    'application/x-ndjson': {
      schema: Type.String({
        description:
          'An event with its `cursor` in each line, or `{"type": "heartbeat"}` or `{"type": "reset"}` with one',
      }),
    },
  },
};

/** What a listener is told at once. Without events it only learns how far it is. */
export interface Told {
  events: EventRow[];
  /** Whether events are missing before these. */
  reset: boolean;
  cursor: string;
}

/** Returns an event as CloudEvents 1.0 has it. */
export function presentedEvent({
  id,
  type,
  subject,
  time,
  data,
}: Pick<EventRow, 'id' | 'type' | 'subject' | 'time' | 'data'>): Event {
  return {
    specversion: '1.0',
    id,
    source: '/tradewind/v1',
    type,
    subject,
    time: time.toISOString(),
    datacontenttype: 'application/json',
    data: data as Event['data'],
  };
}

// Many listeners are told of the same event.
const texts = new WeakMap<EventRow, string>();

function textOf(row: EventRow): string {
  const known = texts.get(row);
  if (known !== undefined) return known;
  const made = JSON.stringify(presentedEvent(row));
  texts.set(row, made);
  return made;
}

const MISSED = 'Some events are no longer kept. Read anew what you need to know; the stream goes on from here.';

/** Returns what a listener is told in the form of server-sent events. */
export function asServerSent({ events, reset, cursor }: Told): string {
  const frames = events.map((row) => `id: ${row.position}\nevent: ${row.type}\ndata: ${textOf(row)}\n\n`);
  if (reset) frames.unshift(`id: ${cursor}\nevent: reset\ndata: ${JSON.stringify({ detail: MISSED })}\n\n`);
  // A client keeps the id of a comment as well.
  return frames.length > 0 ? frames.join('') : `: heartbeat\nid: ${cursor}\n\n`;
}

/** Returns the same as lines of JSON. */
export function asLines({ events, reset, cursor }: Told): string {
  const lines = events.map((row) => `${textOf(row).slice(0, -1)},"cursor":"${row.position}"}\n`);
  if (reset) lines.unshift(`${JSON.stringify({ type: 'reset', cursor, detail: MISSED })}\n`);
  return lines.length > 0 ? lines.join('') : `${JSON.stringify({ type: 'heartbeat', cursor })}\n`;
}
