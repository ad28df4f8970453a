import { type Static, Type } from 'typebox';
import { IntegerId, listOf, listQuery, QueryTime, RepeatedId, SortOrder, Timestamp } from '../../lib/wire.ts';
import type { Outcome } from './tables.ts';

const OUTCOMES: Outcome[] = ['accepted', 'refused', 'failed'];
const nullable = <T extends ReturnType<typeof Type.String | typeof Type.Integer>>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const RequestListQuery = Type.Object(
  {
    project_id: RepeatedId('Project ID'),
    region_id: RepeatedId('Region ID'),
    user_id: Type.Optional(IntegerId('Only what this user did')),
    request_id: Type.Optional(
      Type.String({ maxLength: 255, description: 'The ID of one request, as in its header `x-request-id`' }),
    ),
    operation: Type.Optional(
      Type.Array(Type.String({ maxLength: 255 }), {
        maxItems: 100,
        description: 'Names of operations; repeat it for several',
        examples: [['createSecurityGroup']],
      }),
    ),
    outcome: Type.Optional(
      Type.Array(Type.Enum(OUTCOMES, { type: 'string' }), {
        maxItems: 3,
        description: 'Repeat it for several',
      }),
    ),
    from_timestamp: Type.Optional(QueryTime('Made then or later')),
    to_timestamp: Type.Optional(QueryTime('Made then or earlier')),
    order_by: Type.Optional({ ...SortOrder, description: 'By time; the newest first if left out' }),
    ...listQuery(100),
  },
  { additionalProperties: false },
);
export type RequestListQuery = Static<typeof RequestListQuery>;

export const LoggedRequest = Type.Object(
  {
    id: Type.Integer({ description: 'Grows with time' }),
    timestamp: Timestamp('When the request came'),
    operation: Type.String({
      description: 'The name of the operation in this document',
      examples: ['createSecurityGroup'],
    }),
    method: Type.String({ examples: ['POST'] }),
    path: Type.String({ description: 'The path that was called, without its query' }),
    outcome: Type.Enum(OUTCOMES, {
      type: 'string',
      description:
        'Whether the request was accepted, refused for a reason of its own, or failed inside. What an accepted task came to is in the task.',
    }),
    status: Type.Integer({ description: 'The status of the answer', examples: [200] }),
    client_id: Type.Integer({ description: 'The account that it was about' }),
    user_id: Type.Integer({ description: 'Who did it' }),
    email: nullable(
      Type.String({ description: 'The address of that user; null for one who is not in the account' }),
    ),
    token_id: nullable(Type.Integer({ description: 'The API token that was used' })),
    project_id: nullable(Type.Integer()),
    region_id: nullable(Type.Integer()),
    task_id: nullable(Type.String({ description: 'The task that it started' })),
    request_id: Type.String({ description: 'As in the header `x-request-id` of the answer' }),
    source_user_ip: Type.String({ description: 'The address that the request came from' }),
    user_agent: nullable(Type.String({ description: 'What the client calls itself' })),
  },
  { title: 'LoggedRequest' },
);

export const LoggedRequestList = listOf(LoggedRequest, 'LoggedRequestList');
