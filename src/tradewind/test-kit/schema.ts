import { type Static, Type } from 'typebox';
import { Rule } from './rule-schema.ts';

const exact = <P extends Parameters<typeof Type.Object>[0]>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

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
