import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { versionedUser } from '../../lib/versioned.ts';
import { UserParams } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import { User, UserOnly } from '../accounts/schema.ts';
import { senderOf } from '../logins/passwords/service.ts';
import {
  ChangedEmail,
  ChangeEmail,
  CreateUser,
  Done,
  UpdateUser,
  UserListQuery,
  UserPage,
} from './schema.ts';
import {
  changeEmailOfUser,
  createUser,
  deleteUser,
  getUser,
  listUsers,
  type Moved,
  updateUser,
} from './service.ts';

const tags = ['Users'];

export function userRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, params: UserParams });

  api.get('/iam/users', 'listUsers', "List the users of the caller's account", {
    description: 'In the order in which they were created.',
    query: UserListQuery,
    answer: UserPage,
    handler: ({ principal, query }) => listUsers(on, principal, query),
  });

  api.post('/iam/users', 'createUser', 'Create a user with an account', {
    access: 'resell',
    description:
      "The account is a client of the caller's reseller, with a default project and the user as its administrator. The user can log in at once.",
    body: CreateUser,
    status: 201,
    answer: User,
    handler: async ({ principal, body }) => await createUser(on, principal, body),
  });

  api.get('/iam/users/:userId', 'getUser', 'Get a user', {
    versioned: versionedUser('userId'),
    answer: UserOnly,
    handler: ({ principal, params }) => getUser(on, principal, params.userId),
  });

  api.patch('/iam/users/:userId', 'updateUser', 'Change a user', {
    access: 'read',
    description:
      'Users can change themselves. Administrators can change users who belong only to their account, and resellers those who belong only to their clients; other users they can only block in their own account.',
    body: UpdateUser,
    answer: User,
    handler: async ({ principal, params, body, log }) => {
      const { user, moved } = await updateUser(on, principal, params.userId, body);
      if (moved) log.warn({ userId: user.id }, addressLine(moved));
      return user;
    },
  });

  api.put('/iam/users/:userId/email', 'changeEmail', "Change the caller's own address", {
    access: 'read',
    description:
      'Users log in with this address, so changing it takes their password. The log has both addresses. Refused with 429 after 20 requests in 15 minutes for addresses that other users have.',
    body: ChangeEmail,
    answer: ChangedEmail,
    handler: async (request) => {
      const { principal, params, body, log } = request;
      const moved = await changeEmailOfUser(on, principal, params.userId, body, senderOf(request));
      log.warn({ userId: params.userId }, addressLine(moved));
      return { new_email: moved.to };
    },
  });

  api.delete('/iam/users/:userId', 'deleteUser', 'Delete a user', {
    access: 'resell',
    description:
      "Removes the user from the one account of the caller's clients that they belong to, and deletes a user who then belongs to no other. Refused with 403 for a user of several such accounts or with working API tokens, and with 409 for the last administrator of an account.",
    answer: Done,
    handler: async ({ principal, params }) => {
      await deleteUser(on, principal, params.userId);
      return {};
    },
  });
}

/** Returns the log line about a user who changed their login address. */
function addressLine({ from, to }: Moved): string {
  return `A user changed their address from ${from} to ${to}`;
}
