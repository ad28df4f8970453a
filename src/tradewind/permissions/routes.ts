import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { PermissionQuery, Permissions } from './schema.ts';

/** Tells clients what they need not offer to whoever is signed in. */
export function permissionRoutes(app: Api): void {
  operations(app, { tags: ['Users'], access: 'read' }).get(
    '/tradewind/v1/permissions',
    'getPermissions',
    "See what the caller's role does not allow",
    {
      description:
        'All other operations are open to the caller, as far as the role decides: some are refused for other reasons, such as a quota.',
      query: PermissionQuery,
      answer: Permissions,
      handler: ({ principal, query }) => ({
        in_person: principal.inPerson === true,
        refused: app.refusalsOf(principal, query.project_id),
      }),
    },
  );
}
