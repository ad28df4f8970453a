import { type Static, type TSchema, Type } from 'typebox';
import { STATES } from '../../cloud/ground/tasks/states.ts';
import { Uuid } from '../../lib/resource-fields.ts';
import * as wire from '../../lib/wire.ts';
import { KIND_NAMES } from './kinds.ts';

const several = { minItems: 1, maxItems: 20, description: 'Repeat the parameter for several' };

const places = {
  client_id: wire.RepeatedId('Only of these accounts'),
  project_id: wire.RepeatedId('Only in these projects'),
  region_id: wire.RepeatedId('Only in these regions'),
};
const times = {
  from: Type.Optional(wire.QueryTime('Created at this time or later')),
  to: Type.Optional(wire.QueryTime('Created before this time')),
};
const paging = {
  limit: wire.OptionalInteger({ minimum: 1, maximum: 100, default: 50, description: 'Most results on a page' }),
  page_token: wire.OptionalText({ pattern: '^[\\w-]{1,800}$', description: '`next_page_token` of the page before' }),
};

const page = <T extends TSchema>(title: string, item: T, order: string) =>
  wire.Named(title, {
    results: Type.Array(item, {
      description: `${order}. May be fewer than asked for, or none, although there are others: go on as long as there is a token`,
    }),
    next_page_token: wire.TextOrNull({ description: 'For the next page; null at the end' }),
  });

const timeOrNull = (description: string) => wire.nullable(wire.Timestamp(description));
const clientOrNull = wire.IntegerOrNull({ description: 'Account; null for what is the platform’s own' });
const projectOrNull = wire.IntegerOrNull({ description: 'Project' });
const regionOrNull = wire.IntegerOrNull({ description: 'Region; null for what is in none' });

export const ManagedTaskQuery = wire.Query({
  ...places,
  state: wire.OptionalList(wire.Choice(STATES), { ...several, examples: [['NEW', 'RUNNING']] }),
  task_type: wire.OptionalList(Type.String({ minLength: 1, maxLength: 255, examples: ['create_vm'] }), several),
  resource_id: wire.OptionalList(
    Type.String({ pattern: '^[\\w-]{1,64}$', examples: ['4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a'] }),
    {
      ...several,
      description: 'Only tasks about one of these resources, by their IDs: what the log knows of them',
    },
  ),
  error: wire.OptionalText({
    minLength: 3,
    maxLength: 100,
    description: 'Only failed tasks whose error has this text',
  }),
  ...times,
  ...paging,
});
export type ManagedTaskQuery = Static<typeof ManagedTaskQuery>;

const TaskWait = wire.Named('ManagedTaskWait', {
  kind: Type.String({
    description: 'Kind of infrastructure; `task` while it waits for another task',
    examples: ['machine'],
  }),
  id: Type.String({ description: 'Its ID' }),
  state: wire.Choice(['waiting', 'doing'], { description: 'Whether a worker has it in hand' }),
  doing: wire.TextOrNull({ description: 'What is being done, or why it waits: the words of the backend' }),
  failures: Type.Integer({ description: 'How many tries have failed in a row' }),
  worker: wire.TextOrNull({
    description: 'Host and process of the worker that has it. Only for the platform administrator',
  }),
  backend: wire.TextOrNull({ description: 'The backend that has to do it. Only for the platform administrator' }),
  due_at: timeOrNull('When it is tried again'),
});

export const ManagedTask = wire.Named('ManagedTask', {
  id: Uuid('Task'),
  task_type: Type.String({ examples: ['create_vm'] }),
  state: wire.Choice(STATES),
  client_id: Type.Integer({ description: 'Account' }),
  project_id: projectOrNull,
  region_id: regionOrNull,
  user_id: Type.Integer({ description: 'Who asked for it' }),
  request_id: wire.TextOrNull({ description: 'The request that began it, as in the audit log' }),
  error: wire.TextOrNull({ description: 'Why it failed' }),
  created_on: wire.Timestamp(),
  updated_on: timeOrNull('When its state last changed'),
  finished_on: timeOrNull('When it ended'),
  deadline_at: wire.Timestamp('When it fails if it has not ended'),
  waits_for: wire.orNull(TaskWait, 'The part that has failed most, or that it waits for; null if there is none'),
});
export type ManagedTask = Static<typeof ManagedTask>;

export const ManagedTasks = page('ManagedTasks', ManagedTask, 'The newest first');

export const ManagedResourceQuery = wire.Query({
  kind: wire.OptionalList(wire.Choice(KIND_NAMES), {
    ...several,
    maxItems: KIND_NAMES.length,
    examples: [['instance']],
  }),
  ...places,
  name: wire.OptionalText({
    minLength: 1,
    maxLength: 200,
    description:
      'Only what has this name, whatever the case; with a star at the end, what begins so. Then names order the list',
    examples: ['web*'],
  }),
  state: wire.OptionalList(Type.String({ pattern: '^[A-Za-z_-]{1,40}$', examples: ['ERROR'] }), {
    ...several,
    description: 'Only what is in one of these states, as its kind names them. Kinds without states are left out',
  }),
  address: wire.OptionalText({
    minLength: 2,
    maxLength: 45,
    description:
      'Only what has this IP address: ports and what they belong to, floating IPs, routers, members. A thousand at most',
    examples: ['203.0.113.7'],
  }),
  ...times,
  ...paging,
});
export type ManagedResourceQuery = Static<typeof ManagedResourceQuery>;

export const ManagedResource = wire.Named('ManagedResource', {
  kind: Type.String({ description: 'Its kind, as in the types of events', examples: ['instance'] }),
  id: Type.String({ description: 'Its ID' }),
  name: wire.TextOrNull({ description: 'Name or address; null if it has none' }),
  client_id: clientOrNull,
  project_id: projectOrNull,
  region_id: regionOrNull,
  state: wire.TextOrNull({ description: 'As its kind names it; null for kinds without states' }),
  created_at: timeOrNull('When it was created; null if nobody noted it'),
  task_id: wire.TextOrNull({ description: 'Task that holds it now' }),
});
export type ManagedResource = Static<typeof ManagedResource>;

export const ManagedResources = page('ManagedResources', ManagedResource, 'The newest first, or by name');

export const SearchQuery = wire.Query({
  q: Type.String({
    minLength: 1,
    maxLength: 100,
    description:
      'An ID of anything, of a task or of a request; an IP address; the beginning of the name of a resource, of a company or of an e-mail address',
    examples: ['web-1'],
  }),
});

const Customer = wire.Named('FoundCustomer', {
  id: Type.Integer({ description: 'Account' }),
  company: Type.String(),
  email: Type.String(),
  custom_id: wire.TextOrNull({ description: 'The ID that its reseller gave it' }),
  reseller_id: Type.Integer(),
  status: Type.String({ examples: ['active'] }),
  created_at: wire.Timestamp(),
  deleted_at: timeOrNull('When it was deleted'),
});
const FoundUser = wire.Named('FoundUser', {
  id: Type.Integer({ description: 'User' }),
  email: Type.String(),
  client_ids: Type.Array(Type.Integer(), {
    description: 'Accounts in which the user is a member, of those that you manage',
  }),
});
const FormerResource = wire.Named('FormerResource', {
  kind: wire.TextOrNull({ description: 'Its kind, as in the types of events' }),
  id: Type.String({ description: 'Its ID' }),
  name: wire.TextOrNull({ description: 'Name or address that it had' }),
  client_id: Type.Integer(),
  project_id: projectOrNull,
  region_id: regionOrNull,
  last_seen_at: wire.Timestamp('When the log last names it'),
  operation: Type.String({ description: 'What was asked for then', examples: ['deleteInstance'] }),
  task_id: wire.TextOrNull({ description: 'The task of that' }),
});
const AddressUse = wire.Named('AddressUse', {
  address: Type.String(),
  kind: wire.Choice(['floating_ip', 'port'], { description: 'What had it' }),
  id: Type.String({ description: 'Its ID' }),
  client_id: Type.Integer(),
  project_id: Type.Integer(),
  region_id: Type.Integer(),
  from: wire.Timestamp(),
  to: timeOrNull('Until when; null if it still has it'),
});
const FoundRequest = wire.Named('FoundRequest', {
  request_id: Type.String(),
  time: wire.Timestamp(),
  client_id: clientOrNull,
  user_id: wire.IntegerOrNull({ description: 'Who sent it' }),
  operation: Type.String(),
  outcome: wire.Choice(['accepted', 'refused', 'failed']),
  status: Type.Integer({ description: 'Status of the answer' }),
  task_id: wire.TextOrNull({ description: 'Task that was started' }),
});

export const SearchResults = wire.Named('SearchResults', {
  resources: Type.Array(ManagedResource, { description: 'What there is, 20 of each kind at most' }),
  former: Type.Array(FormerResource, {
    description: 'What is gone or never came to be: as the log of requests has it',
  }),
  tasks: Type.Array(ManagedTask),
  customers: Type.Array(Customer),
  users: Type.Array(FoundUser, { description: 'For administrators' }),
  addresses: Type.Array(AddressUse, { description: 'Who had that public address, and when: the last first' }),
  requests: Type.Array(FoundRequest, {
    description: 'For administrators of the account, and the platform administrator',
  }),
  complete: Type.Boolean({ description: 'Whether everything that matches is here; else ask for more of the name' }),
});
export type SearchResults = Static<typeof SearchResults>;
