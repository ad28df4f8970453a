import { type Static, Type } from 'typebox';
import { LEGACY } from '../../../lib/legacy.ts';
import { ACTION_TYPES, API_GROUPS } from '../../../lib/published-names.ts';
import * as wire from '../../../lib/wire.ts';

const MOST_VALUES = 100;
const several = (description: string, example: string) =>
  wire.OptionalList(Type.String({ maxLength: 500 }), {
    maxItems: MOST_VALUES,
    description: `${description}; repeat for several`,
    examples: [[example]],
  });
const Kind = wire.Choice(ACTION_TYPES, { description: 'Type of action', examples: ['create'] });
const Group = wire.Choice(API_GROUPS, { description: 'Type of resource', examples: ['network'] });

export const UserActionListQuery = wire.Query({
  action_type: wire.OptionalList(Kind, { maxItems: MOST_VALUES, description: 'Type of action; repeat for several' }),
  api_group: wire.OptionalList(Group, { maxItems: MOST_VALUES, description: 'Type of resource; repeat for several' }),
  project_id: wire.RepeatedId('Project ID'),
  region_id: wire.RepeatedId('Region ID'),
  resource_id: several('ID of a resource that was created, changed or deleted', '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a'),
  search_field: wire.OptionalText({
    maxLength: 255,
    description: 'Start of the name or address of a resource, case-insensitive',
    examples: ['web'],
  }),
  source_user_ips: several('IP address of the client', '203.0.113.42'),
  user_agents: several('Exact User-Agent header of the client', 'MyApp/1.0.0'),
  from_timestamp: Type.Optional(wire.QueryTime('At this time or later')),
  to_timestamp: Type.Optional(wire.QueryTime('At this time or earlier')),
  order_by: Type.Optional({ ...wire.SortOrder, description: 'Order by time; defaults to newest first' }),
  sorting: Type.Optional({ ...wire.SortOrder, ...LEGACY, description: 'Old name of order_by' }),
  ...wire.listQuery(),
});
export type UserActionListQuery = Static<typeof UserActionListQuery>;

const integerOrNull = (description: string) => wire.IntegerOrNull({ description });
const NoObject = (description: string) =>
  Type.Unsafe<null>({ type: ['object', 'null'], additionalProperties: true, description });

const ActionResource = wire.Named('UserActionResource', {
  resource_id: Type.String({ description: 'Resource ID, or the name if there is no ID' }),
  resource_type: Type.String({ description: 'Type of the resource', examples: ['network'] }),
  resource_body: NoObject('Always null: bodies are not stored'),
  search_field: wire.TextOrNull({ description: 'Name or address of the resource at that time' }),
});

export const UserAction = wire.Named('UserAction', {
  id: Type.String({ description: 'Increases over time', examples: ['123'] }),
  timestamp: wire.Timestamp('When the request was received'),
  client_id: integerOrNull('Account that the action was about'),
  user_id: Type.Integer({ description: 'User who performed the action' }),
  email: wire.TextOrNull({
    description: "Email address of the user; null if the user isn't a member of the account",
  }),
  project_id: integerOrNull('Project ID'),
  region_id: integerOrNull('Region ID'),
  api_group: Group,
  action_type: Kind,
  action_data: NoObject('Always null: bodies are not stored'),
  task_id: wire.TextOrNull({ description: 'Task that the action started' }),
  user_agent: wire.TextOrNull({ description: 'User-Agent header of the client' }),
  source_user_ip: wire.TextOrNull({ description: 'IP address of the client' }),
  acknowledged: Type.Boolean({ description: 'Whether it was sent to the subscription of the account' }),
  is_complete: Type.Boolean({ description: 'Whether the affected resources are known' }),
  total_price: NoObject('Always null: changes have no price'),
  token_id: integerOrNull('API token used; null for a login'),
  issued_by_user_id: integerOrNull('User who owns the token'),
  resources: Type.Array(ActionResource, { description: 'Affected resources' }),
});
export type UserAction = Static<typeof UserAction>;
export const UserActionList = wire.listOf(UserAction, 'UserActionList');

const OUTCOMES = ['accepted', 'refused', 'failed'] as const;
const ownNullable = <T extends ReturnType<typeof Type.String | typeof Type.Integer>>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const RequestListQuery = wire.Query({
  project_id: wire.RepeatedId('Project ID'),
  region_id: wire.RepeatedId('Region ID'),
  user_id: Type.Optional(wire.IntegerId('Only requests of this user')),
  request_id: wire.OptionalText({ maxLength: 255, description: 'ID of a request, as in its header `x-request-id`' }),
  operation: wire.OptionalList(Type.String({ maxLength: 255 }), {
    maxItems: 100,
    description: 'Operation names; repeat for several',
    examples: [['createSecurityGroup']],
  }),
  outcome: wire.OptionalList(wire.Choice(OUTCOMES), {
    maxItems: 3,
    description: 'Repeat for several',
  }),
  from_timestamp: Type.Optional(wire.QueryTime('Received at this time or later')),
  to_timestamp: Type.Optional(wire.QueryTime('Received at this time or earlier')),
  order_by: Type.Optional({ ...wire.SortOrder, description: 'Order by time; defaults to newest first' }),
  ...wire.listQuery(100),
});
export type RequestListQuery = Static<typeof RequestListQuery>;

export const LoggedRequest = wire.Named('LoggedRequest', {
  id: Type.Integer({ description: 'Increases over time' }),
  timestamp: wire.Timestamp('When the request was received'),
  operation: Type.String({
    description: 'Operation ID in this document',
    examples: ['createSecurityGroup'],
  }),
  method: Type.String({ examples: ['POST'] }),
  path: Type.String({ description: 'Path of the request, without the query' }),
  outcome: wire.Choice(OUTCOMES, {
    description:
      'Whether the request was accepted, was refused, or failed with an internal error. For the outcome of an accepted task, see the task.',
  }),
  status: Type.Integer({ description: 'Status code of the response', examples: [200] }),
  client_id: Type.Integer({ description: 'Account that the request was about' }),
  user_id: Type.Integer({ description: 'User who sent the request' }),
  email: ownNullable(
    Type.String({
      description: "Email address of the user; null if the user isn't a member of the account",
    }),
  ),
  token_id: ownNullable(Type.Integer({ description: 'API token used' })),
  project_id: ownNullable(Type.Integer()),
  region_id: ownNullable(Type.Integer()),
  task_id: ownNullable(Type.String({ description: 'Task that the request started' })),
  request_id: Type.String({ description: 'As in the response header `x-request-id`' }),
  source_user_ip: Type.String({ description: 'IP address of the client' }),
  user_agent: ownNullable(Type.String({ description: 'User-Agent header of the client' })),
});

export const LoggedRequestList = wire.listOf(LoggedRequest, 'LoggedRequestList');
