import { type Static, Type } from 'typebox';
import { LEGACY } from '../../lib/legacy.ts';
import { nullable } from '../../lib/nullable.ts';
import { listOf, listQuery, QueryTime, RepeatedId, SortOrder, Timestamp } from '../../lib/wire.ts';
import { ACTION_TYPES, API_GROUPS } from './published-names.ts';

const MOST_VALUES = 100;
const several = (description: string, example: string) =>
  Type.Optional(
    Type.Array(Type.String({ maxLength: 500 }), {
      maxItems: MOST_VALUES,
      description: `${description}; repeat it for several`,
      examples: [[example]],
    }),
  );
const Kind = Type.Enum(ACTION_TYPES, { type: 'string', description: 'What was done', examples: ['create'] });
const Group = Type.Enum(API_GROUPS, {
  type: 'string',
  description: 'To what kind of thing',
  examples: ['network'],
});

export const UserActionListQuery = Type.Object(
  {
    action_type: Type.Optional(
      Type.Array(Kind, { maxItems: MOST_VALUES, description: 'What was done; repeat it for several' }),
    ),
    api_group: Type.Optional(
      Type.Array(Group, { maxItems: MOST_VALUES, description: 'To what; repeat it for several' }),
    ),
    project_id: RepeatedId('Project ID'),
    region_id: RepeatedId('Region ID'),
    resource_id: several(
      'ID of something that was made, changed or removed',
      '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a',
    ),
    search_field: Type.Optional(
      Type.String({
        maxLength: 255,
        description: 'How the name or address of something begins, in any letter case',
        examples: ['web'],
      }),
    ),
    source_user_ips: several('Address that the request came from', '203.0.113.42'),
    user_agents: several('What the client calls itself, in full', 'MyApp/1.0.0'),
    from_timestamp: Type.Optional(QueryTime('Made then or later')),
    to_timestamp: Type.Optional(QueryTime('Made then or earlier')),
    order_by: Type.Optional({ ...SortOrder, description: 'By time; the newest first if left out' }),
    sorting: Type.Optional({ ...SortOrder, ...LEGACY, description: 'Older name of order_by' }),
    ...listQuery(),
  },
  { additionalProperties: false },
);
export type UserActionListQuery = Static<typeof UserActionListQuery>;

const integerOrNull = (description: string) => nullable(Type.Integer({ description }));
const NoObject = (description: string) =>
  Type.Unsafe<null>({ type: ['object', 'null'], additionalProperties: true, description });

const ActionResource = Type.Object(
  {
    resource_id: Type.String({ description: 'ID; the name of what has no other' }),
    resource_type: Type.String({ description: 'What it is', examples: ['network'] }),
    resource_body: NoObject('Always null: bodies are not kept'),
    search_field: nullable(Type.String({ description: 'Its name or address at that time' })),
  },
  { title: 'UserActionResource' },
);

export const UserAction = Type.Object(
  {
    id: Type.String({ description: 'Grows with time', examples: ['123'] }),
    timestamp: Timestamp('When the request came'),
    client_id: integerOrNull('The account that it was about'),
    user_id: Type.Integer({ description: 'Who did it' }),
    email: nullable(
      Type.String({ description: 'The address of that user; null for one who is not in the account' }),
    ),
    project_id: integerOrNull('Project ID'),
    region_id: integerOrNull('Region ID'),
    api_group: Group,
    action_type: Kind,
    action_data: NoObject('Always null: bodies are not kept'),
    task_id: nullable(Type.String({ description: 'The task that it started' })),
    user_agent: nullable(Type.String({ description: 'What the client calls itself' })),
    source_user_ip: nullable(Type.String({ description: 'The address that the request came from' })),
    acknowledged: Type.Boolean({ description: 'Whether it was sent to the subscription of the account' }),
    is_complete: Type.Boolean({ description: 'Whether it says what it was about' }),
    total_price: NoObject('Always null: changes have no price here'),
    token_id: integerOrNull('The API token that was used; null for a login'),
    issued_by_user_id: integerOrNull('Whose that token is'),
    resources: Type.Array(ActionResource, { description: 'What it was about' }),
  },
  { title: 'UserAction' },
);
export type UserAction = Static<typeof UserAction>;
export const UserActionList = listOf(UserAction, 'UserActionList');
