import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import { passwordCommand, senderOf } from '../logins/passwords/service.ts';
import { acceptInvitation, inviteUser, renewInvitation } from './invitations.ts';
import { Accepted, AcceptInvitation, Invited, InviteUser, OfUser, Renewed } from './schema.ts';

const tags = ['Users'];

export function invitationRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags });

  api.post('/iam/clients/invite_user', 'inviteUser', 'Invite somebody to an account', {
    access: 'administer',
    secretAnswer: true,
    description:
      "For the account's administrators and its reseller. The invited person gets a token by mail. If Tradewind sends no mail, give the token in the answer to that person and to nobody else. The answer is the same whether they already have a login here or not. An account can have at most 100 open invitations, and create at most 200 a day.",
    body: InviteUser,
    answer: Invited,
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
    body: OfUser,
    answer: Renewed,
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
    body: AcceptInvitation,
    answer: Accepted,
    handler: (request) => acceptInvitation(on, request.body, senderOf(request)),
  });
}
