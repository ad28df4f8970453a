import { type Static, Type } from 'typebox';
import { FATES } from '../simulation/index.ts';
import { Closed } from '../src/lib/wire.ts';

const exact = <P extends Parameters<typeof Type.Object>[0]>(properties: P) => Closed(properties);

const whole = (description: string) => Type.Integer({ minimum: 1, maximum: 1_000_000, description });
const text = (description: string, maxLength = 300) => Type.String({ minLength: 1, maxLength, description });

const variants = [
  exact({
    status: Type.Integer({
      minimum: 400,
      maximum: 599,
      description: 'The request is answered with it, and nothing is done.',
    }),
    retry_after: Type.Optional(whole('Sent as `Retry-After`, in seconds.')),
    message: Type.Optional(text('The text of the error.')),
  }),
  exact({
    delay_ms: Type.Integer({
      minimum: 1,
      maximum: 600_000,
      description: 'Before the request is handled, or before the task goes on.',
    }),
  }),
  exact({
    drop: Type.Enum(['before', 'after_commit'], {
      description: 'The connection is cut without an answer: before anything is done, or when everything is.',
    }),
  }),
  exact({ quota: text('The request is refused as if this quota were used up.', 60) }),
  exact({ fail: text('The task ends with this reason.') }),
  exact({
    hold: Type.Literal(true, { description: 'The task makes no progress until the rule is deleted.' }),
  }),
] as const;
export type Effect = Static<(typeof variants)[number]>;

/** What goes wrong, and where. A field that is left out matches everything. */
export const RuleRequest = exact({
  operation: Type.Optional(text('The `operationId` of requests.', 100)),
  task: Type.Optional(text('The type of tasks.', 60)),
  kind: Type.Optional(text('The kind of things that tasks make, such as `machine`.', 40)),
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      // With more wildcards, some texts would take long to match.
      pattern: '^[^*]*(\\*[^*]*){0,2}$',
      description:
        'The name of the thing, or of the body of requests: `?` stands for one character, `*` (twice at most) for any.',
    }),
  ),
  client_id: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  nth: Type.Optional(whole('The first match that it applies to.')),
  times: Type.Optional(whole('How many matches it applies to: one if `nth` is given, else all.')),
  probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  seed: Type.Optional(Type.Integer({ description: 'The same seed gives the same random numbers.' })),
  do: Type.Unsafe<Effect>({ oneOf: variants }),
});
export type RuleRequest = Static<typeof RuleRequest>;

export const Rule = Type.Object({
  ...RuleRequest.properties,
  id: Type.Integer(),
  hits: Type.Integer({ description: 'How many requests or tasks it has applied to.' }),
});
export type Rule = Static<typeof Rule>;

export const Reset = exact({
  scope: Type.Enum(['all', 'client', 'project'], {
    type: 'string',
    description: 'Everything goes back to how it was when the server had started, or one of them is emptied.',
  }),
  id: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Of the account, by default the own one, or of the project.',
    }),
  ),
});

export const Name = Type.String({
  pattern: '^[a-z0-9][a-z0-9_-]{0,39}$',
  description: 'Small letters, digits, - and _.',
});
export const NamedSnapshot = exact({ name: Name });
export const Snapshots = Type.Object({ results: Type.Array(Type.Object({ name: Type.String() })) });

export const RuleList = Type.Object({ results: Type.Array(Rule) });
export const RuleParams = Type.Object({ id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) });

export const ClockChange = exact({
  at: Type.Optional(Type.String({ format: 'date-time', description: 'Set to this time.' })),
  advance_s: Type.Optional(
    Type.Number({
      minimum: -3_000_000_000,
      maximum: 3_000_000_000,
      description: 'Moved on by so many seconds.',
    }),
  ),
  running: Type.Optional(Type.Boolean({ description: 'Stopped, or running again.' })),
});
export type ClockChange = Static<typeof ClockChange>;
export const ClockState = Type.Object({ at: Type.String({ format: 'date-time' }), running: Type.Boolean() });

export const Simulation = exact({
  speed: Type.Number({ minimum: 0.01, maximum: 100_000, description: 'A factor; 1 is the normal speed.' }),
});

export const MachineParams = Type.Object({ instance_id: Type.String({ maxLength: 100 }) });
export const MachineFate = exact({
  becomes: Type.Enum([...FATES, 'running'], {
    type: 'string',
    description:
      'What becomes of the simulated machine by itself: its guest switches it off, it crashes, its host goes away, or it runs again.',
  }),
});

export const RequestsQuery = exact({
  operation: Type.Optional(Type.String({ maxLength: 100 })),
  method: Type.Optional(Type.String({ maxLength: 10 })),
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
  client_id: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
});
export type RequestsQuery = Static<typeof RequestsQuery>;
export const SeenRequests = Type.Object({ results: Type.Array(Type.Unknown()) });

export const TaskParams = Type.Object({ task_id: Type.String({ maxLength: 100 }) });
export const TaskFailure = exact({ reason: Type.String({ minLength: 1, maxLength: 300 }) });
