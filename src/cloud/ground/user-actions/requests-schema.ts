import { type Static, Type } from 'typebox';
import {
  IntegerId,
  listOf,
  listQuery,
  QueryTime,
  RepeatedId,
  SortOrder,
  Timestamp,
} from '../../../lib/wire.ts';
import type { Outcome } from '../../../requests/tables.ts';

const OUTCOMES: Outcome[] = ['accepted', 'refused', 'failed'];
const nullable = <T extends ReturnType<typeof Type.String | typeof Type.Integer>>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const RequestListQuery = Type.Object(
  {
    project_id: RepeatedId('Project ID'),
    region_id: RepeatedId('Region ID'),
    user_id: Type.Optional(IntegerId('Only requests of this user')),
    request_id: Type.Optional(
      Type.String({ maxLength: 255, description: 'ID of a request, as in its header `x-request-id`' }),
    ),
    operation: Type.Optional(
      Type.Array(Type.String({ maxLength: 255 }), {
        maxItems: 100,
        description: 'Operation names; repeat for several',
        examples: [['createSecurityGroup']],
      }),
    ),
    outcome: Type.Optional(
      Type.Array(Type.Enum(OUTCOMES, { type: 'string' }), {
        maxItems: 3,
        description: 'Repeat for several',
      }),
    ),
    from_timestamp: Type.Optional(QueryTime('Received at this time or later')),
    to_timestamp: Type.Optional(QueryTime('Received at this time or earlier')),
    order_by: Type.Optional({ ...SortOrder, description: 'Order by time; defaults to newest first' }),
    ...listQuery(100),
  },
  { additionalProperties: false },
);
export type RequestListQuery = Static<typeof RequestListQuery>;

export const LoggedRequest = Type.Object(
  {
    id: Type.Integer({ description: 'Increases over time' }),
    timestamp: Timestamp('When the request was received'),
    operation: Type.String({
      description: 'Operation ID in this document',
      examples: ['createSecurityGroup'],
    }),
    method: Type.String({ examples: ['POST'] }),
    path: Type.String({ description: 'Path of the request, without the query' }),
    outcome: Type.Enum(OUTCOMES, {
      type: 'string',
      description:
        'Whether the request was accepted, was refused, or failed with an internal error. For the outcome of an accepted task, see the task.',
    }),
    status: Type.Integer({ description: 'Status code of the response', examples: [200] }),
    client_id: Type.Integer({ description: 'Account that the request was about' }),
    user_id: Type.Integer({ description: 'User who sent the request' }),
    email: nullable(
      Type.String({
        description: "Email address of the user; null if the user isn't a member of the account",
      }),
    ),
    token_id: nullable(Type.Integer({ description: 'API token used' })),
    project_id: nullable(Type.Integer()),
    region_id: nullable(Type.Integer()),
    task_id: nullable(Type.String({ description: 'Task that the request started' })),
    request_id: Type.String({ description: 'As in the response header `x-request-id`' }),
    source_user_ip: Type.String({ description: 'IP address of the client' }),
    user_agent: nullable(Type.String({ description: 'User-Agent header of the client' })),
  },
  { title: 'LoggedRequest' },
);

export const LoggedRequestList = listOf(LoggedRequest, 'LoggedRequestList');
