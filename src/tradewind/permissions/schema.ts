import { Type } from 'typebox';
import { Named, Query } from '../../lib/wire.ts';

export const Permissions = Named('Permissions', {
  in_person: Type.Boolean({
    description:
      "Whether the user logged in with a password or a code, and not by an API token or in somebody else's name",
  }),
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

export const PermissionQuery = Query({
  project_id: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Judges operations in this project', examples: [1] }),
  ),
});
