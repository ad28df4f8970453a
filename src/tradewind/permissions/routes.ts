import { Type } from 'typebox';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { Named, Query } from '../../lib/wire.ts';

const Permissions = Named('Permissions', {
  refused: Type.Array(
    Type.Object({
      operation: Type.String({ description: 'Its name in this document', examples: ['createVolume'] }),
      reason: Type.String({
        description: 'What a call of it would be told',
        examples: ['This operation needs the token of an administrator or engineer of the account'],
      }),
    }),
    { description: 'Operations that would answer 403, or 404 for a project that the caller may not see' },
  ),
});

const PermissionQuery = Query({
  project_id: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Judges operations in this project', examples: [1] }),
  ),
});

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
      handler: ({ principal, query }) => ({ refused: app.refusalsOf(principal, query.project_id) }),
    },
  );
}
