import { type Static, Type } from 'typebox';
import { Input, IntegerId, Named, nullable, Query, Timestamp } from '../../lib/wire.ts';

export const DeletedClientParams = Type.Object({ client_id: IntegerId('Account') });
export const DeletedProjectParams = Type.Object({ project_id: IntegerId('Project') });
export const DeletedResellerParams = Type.Object({ reseller_id: IntegerId('Reseller') });

export const ClientDeletionRequest = Input(
  'ClientDeletionRequest',
  {
    confirmation: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: '`confirmation` of an answer to the same user in the last ten minutes',
      }),
    ),
  },
  {},
);
export type ClientDeletionRequest = Static<typeof ClientDeletionRequest>;

const DeletedContents = Named('DeletedContents', {
  kind: Type.String({ examples: ['instances'] }),
  count: Type.Integer(),
});
export type DeletedContents = Static<typeof DeletedContents>;

export const ClientDeletion = Named('ClientDeletion', {
  client_id: Type.Integer(),
  contents: Type.Array(DeletedContents, { description: 'What is deleted with the account, if there is any' }),
  confirmation: nullable(
    Type.String({ description: 'Send this to have all of it deleted; null once that has begun' }),
  ),
  confirm_until: nullable(Timestamp('Until when the confirmation is accepted')),
  task_id: nullable(Type.String({ format: 'uuid', description: 'The task that deletes all of it' })),
});
export type ClientDeletion = Static<typeof ClientDeletion>;

export const ProjectDeletionQuery = Query({
  contents: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Delete everything in the project too. Without it, the project has to be empty',
    }),
  ),
});
export type ProjectDeletionQuery = Static<typeof ProjectDeletionQuery>;

export const Deletion = Named('Deletion', {
  task_id: Type.String({ format: 'uuid', description: 'The task that deletes it' }),
});
