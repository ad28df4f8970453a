import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import * as schema from './schema.ts';
import { search } from './search.ts';
import * as lookup from './service.ts';

const WHOSE =
  'The platform administrator sees all accounts, an administrator of a reseller those of the reseller, everybody else what they see in their own account.';

export function lookupRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Lookup'] });

  api.get('/tradewind/v1/tasks', 'listManagedTasks', 'List tasks across accounts', {
    description: `With what each waits for. ${WHOSE}`,
    query: schema.ManagedTaskQuery,
    answer: schema.ManagedTasks,
    handler: ({ principal, query }) => lookup.listTasks(on, principal, query),
  });

  api.get('/tradewind/v1/resources', 'listManagedResources', 'List resources of all kinds across accounts', {
    description: `Everything that is in a project and has an ID, and the projects themselves. ${WHOSE}`,
    query: schema.ManagedResourceQuery,
    answer: schema.ManagedResources,
    handler: ({ principal, query }) => lookup.listResources(on, principal, query),
  });

  api.get('/tradewind/v1/search', 'search', 'Search by ID, address, name or e-mail', {
    description: `Looks a text up in everything: resources that are there and that were, tasks, accounts, users, addresses, requests. At most 20 of each kind. ${WHOSE}`,
    query: schema.SearchQuery,
    answer: schema.SearchResults,
    handler: ({ principal, query }) => search(on, principal, query.q),
  });
}
