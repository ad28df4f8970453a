import { pathGuard } from '../../http/admission.ts';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { versionedUser } from '../../lib/versioned.ts';
import { ClientParams, UserParams } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import { User, UserOnly } from '../accounts/schema.ts';
import { passwordCommand, senderOf } from '../logins/passwords/service.ts';
import { acceptInvitation, inviteUser, renewInvitation } from './invitations.ts';
import { changeRoleOfMember, removeMember, requireMemberAccount, roleOfMember } from './members.ts';
import * as schema from './schema.ts';
import * as users from './service.ts';

const tags = ['Users'];

export function userRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, params: UserParams });

  api.get('/iam/users', 'listUsers', "List the users of the caller's account", {
    description: 'In the order in which they were created.',
    query: schema.UserListQuery,
    answer: schema.UserPage,
    handler: ({ principal, query }) => users.listUsers(on, principal, query),
  });

  api.post('/iam/users', 'createUser', 'Create a user with an account', {
    access: 'resell',
    description:
      "The account is a client of the caller's reseller, with a default project and the user as its administrator. The user can log in at once.",
    body: schema.CreateUser,
    status: 201,
    answer: User,
    handler: async ({ principal, body }) => await users.createUser(on, principal, body),
  });

  api.get('/iam/users/:userId', 'getUser', 'Get a user', {
    versioned: versionedUser('userId'),
    answer: UserOnly,
    handler: ({ principal, params }) => users.getUser(on, principal, params.userId),
  });

  api.patch('/iam/users/:userId', 'updateUser', 'Change a user', {
    access: 'read',
    description:
      'Users can change themselves. Administrators can change users who belong only to their account, and resellers those who belong only to their clients; other users they can only block in their own account.',
    body: schema.UpdateUser,
    answer: User,
    handler: async ({ principal, params, body, log }) => {
      const { user, moved } = await users.updateUser(on, principal, params.userId, body);
      if (moved) log.warn({ userId: user.id }, addressLine(moved));
      return user;
    },
  });

  api.put('/iam/users/:userId/email', 'changeEmail', "Change the caller's own address", {
    access: 'read',
    description:
      'Users log in with this address, so changing it takes their password. The log has both addresses. Refused with 429 after 20 requests in 15 minutes for addresses that other users have.',
    body: schema.ChangeEmail,
    answer: schema.ChangedEmail,
    handler: async (request) => {
      const { principal, params, body, log } = request;
      const moved = await users.changeEmailOfUser(on, principal, params.userId, body, senderOf(request));
      log.warn({ userId: params.userId }, addressLine(moved));
      return { new_email: moved.to };
    },
  });

  api.delete('/iam/users/:userId', 'deleteUser', 'Delete a user', {
    access: 'resell',
    description:
      "Removes the user from the one account of the caller's clients that they belong to, and deletes a user who then belongs to no other. Refused with 403 for a user of several such accounts or with working API tokens, and with 409 for the last administrator of an account.",
    answer: schema.Done,
    handler: async ({ principal, params }) => {
      await users.deleteUser(on, principal, params.userId);
      return {};
    },
  });
}

/** Returns the log line about a user who changed their login address. */
function addressLine({ from, to }: users.Moved): string {
  return `A user changed their address from ${from} to ${to}`;
}

export function invitationRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags });

  api.post('/iam/clients/invite_user', 'inviteUser', 'Invite somebody to an account', {
    access: 'administer',
    secretAnswer: true,
    description:
      "For the account's administrators and its reseller. The invited person gets a token by mail. If Tradewind sends no mail, give the token in the answer to that person and to nobody else. The answer is the same whether they already have a login here or not. An account can have at most 100 open invitations, and create at most 200 a day.",
    body: schema.InviteUser,
    answer: schema.Invited,
    handler: async ({ principal, body }) => ({
      status: 'sent' as const,
      ...(await inviteUser(on, principal, body)),
    }),
  });

  api.post('/iam/auth/renew_invitation', 'renewInvitation', 'Create new tokens for invitations', {
    access: 'administer',
    secretAnswer: true,
    description:
      "For the invitations of that address, in the caller's account or those of the reseller's clients; their earlier tokens stop working. A user who has already joined is refused with 400. If the user has no password, the log has the command that sets one.",
    body: schema.OfUser,
    answer: schema.Renewed,
    handler: async ({ principal, body, log }) => {
      const renewal = await renewInvitation(on, principal, body.email);
      if (renewal.needsPassword) {
        log.warn(`A user has no password; set one with: ${passwordCommand(body.email)}`);
      }
      return { status: 'sent' as const, invitations: renewal.invitations };
    },
  });

  api.post('/iam/auth/accept_invitation', 'acceptInvitation', 'Join an account', {
    access: 'public',
    description:
      'For the invited person, with the token that they were given. Somebody who already logs in with the invited address gives their password, which they must have chosen themselves; anybody else chooses a password and can log in with it from then on.',
    body: schema.AcceptInvitation,
    answer: schema.Accepted,
    handler: (request) => acceptInvitation(on, request.body, senderOf(request)),
  });
}

/** The name of an operation is not a user id, whatever the method. */
const ONE = '/iam/clients/:clientId/client-users/:userId(^(?!create$).*$)';

export function memberRoutes(app: Api, on: Platform): void {
  const onRequest = pathGuard(on, 'clientId', requireMemberAccount);

  const api = operations(app, { tags, params: schema.ClientUserParams, onRequest });

  api.post('/iam/clients/:clientId/client-users/create', 'createClientUser', 'Create a user of an account', {
    access: 'resell',
    description:
      "The user can log in at once with the password in the request, but has to choose another one before joining somebody else's account. An address that somebody already logs in with is refused with 400: invite that user instead.",
    params: ClientParams,
    body: schema.CreateClientUser,
    answer: schema.CreatedClientUser,
    handler: async ({ principal, params, body }) => {
      const { id, name } = await users.createUserIn(on, principal, params.clientId, body);
      const role = { id, name };
      return { name: body.name ?? null, username: body.username, user_role: { ...role, user_role: role } };
    },
  });

  api.get(ONE, 'getClientUser', 'Get the role of a user in an account', {
    answer: schema.ClientUser,
    handler: async ({ principal, params }) => {
      const { id, name } = await roleOfMember(on, principal, params.clientId, params.userId);
      return { user_role: { id, name } };
    },
  });

  api.put(ONE, 'updateClientUser', 'Change the role of a user in an account', {
    access: 'administer',
    description:
      'Takes effect on logins and API tokens at once; without a role nothing changes. The last administrator of an account cannot lose that role (409).',
    body: schema.UpdateClientUser,
    handler: ({ principal, params, body }) =>
      changeRoleOfMember(on, principal, params.clientId, params.userId, body.user_role),
  });

  api.delete(ONE, 'removeClientUser', 'Remove a user from an account', {
    access: 'read',
    description:
      "For the account's administrators and its reseller; users may also leave on their own, with their own login. Also takes back an invitation. A user who belongs to no other account is deleted. Refused with 403 for a user with working API tokens, and with 409 for the last administrator.",
    answer: schema.Done,
    handler: async ({ principal, params }) => {
      await removeMember(on, principal, params.clientId, params.userId);
      return {};
    },
  });
}
