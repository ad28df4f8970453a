import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { PageQuery } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import * as own from './service.ts';

const BASE = '/tradewind/v1/logins';

export function ownLoginRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Logins'], access: 'read', params: own.OwnLoginParams });

  api.get(BASE, 'listOwnLogins', "List the caller's logins", {
    description:
      'The newest first: those of the user, and those that the user made in the name of others. An API token sees those that were made with it.',
    query: PageQuery,
    answer: own.OwnLoginList,
    handler: ({ principal, query }) => own.listOwnLogins(on, principal, query),
  });

  api.delete(BASE, 'endOwnLogins', "End the caller's logins", {
    description: 'Logs out everywhere, also here. API tokens keep working.',
    handler: ({ principal }) => own.endOwnLogins(on, principal),
  });

  api.delete(`${BASE}/:login_id`, 'endOwnLogin', "End one of the caller's logins", {
    description: 'The next request with one of its tokens is refused with 401.',
    handler: ({ principal, params }) => own.endOwnLogins(on, principal, params.login_id),
  });
}
