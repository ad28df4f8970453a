import type { Api } from '../../http/server.ts';
import type { Platform } from '../../platform.ts';
import { passwordCommand, senderOf } from '../logins/passwords/service.ts';
import { acceptInvitation, inviteUser, renewInvitation } from './invitations.ts';
import { Accepted, AcceptInvitation, Invited, InviteUser, OfUser, Renewed } from './schema.ts';

const tags = ['Users'];

export function invitationRoutes(app: Api, on: Platform): void {
  app.post('/iam/clients/invite_user', {
    config: { access: 'administer', secretAnswer: true },
    schema: {
      operationId: 'inviteUser',
      summary: 'Invite somebody to an account',
      description:
        "For the account's administrators and its reseller. The invited person gets a token by mail. If Tradewind sends no mail, give the token in the answer to that person and to nobody else. The answer is the same whether they already have a login here or not. An account can have at most 100 open invitations, and create at most 200 a day.",
      tags,
      body: InviteUser,
      response: { 200: Invited },
    },
    handler: async ({ principal, body }) => ({
      status: 'sent' as const,
      ...(await inviteUser(on, principal, body)),
    }),
  });

  app.post('/iam/auth/renew_invitation', {
    config: { access: 'administer', secretAnswer: true },
    schema: {
      operationId: 'renewInvitation',
      summary: 'Create new tokens for invitations',
      description:
        "For the invitations of that address, in the caller's account or those of the reseller's clients; their earlier tokens stop working. A user who has already joined is refused with 400. If the user has no password, the log has the command that sets one.",
      tags,
      body: OfUser,
      response: { 200: Renewed },
    },
    handler: async ({ principal, body, log }) => {
      const renewal = await renewInvitation(on, principal, body.email);
      if (renewal.needsPassword) {
        log.warn(`A user has no password; set one with: ${passwordCommand(body.email)}`);
      }
      return { status: 'sent' as const, invitations: renewal.invitations };
    },
  });

  app.post('/iam/auth/accept_invitation', {
    config: { access: 'public' },
    schema: {
      tags,
      security: [],
      operationId: 'acceptInvitation',
      summary: 'Join an account',
      description:
        'For the invited person, with the token that they were given. Somebody who already logs in with the invited address gives their password, which they must have chosen themselves; anybody else chooses a password and can log in with it from then on.',
      body: AcceptInvitation,
      response: { 200: Accepted },
    },
    handler: (request) => acceptInvitation(on, request.body, senderOf(request)),
  });
}
