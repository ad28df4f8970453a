import type { Api } from '../../http/server.ts';
import { passwordCommand, senderOf } from '../logins/passwords/service.ts';
import type { Invitations } from './invitations.ts';
import { Accepted, AcceptInvitation, Invited, InviteUser, OfUser, Renewed } from './schema.ts';

const tags = ['Users'];

export function invitationRoutes(app: Api, { invitations }: { invitations: Invitations }): void {
  app.post('/iam/clients/invite_user', {
    config: { access: 'administer', secretAnswer: true },
    schema: {
      operationId: 'inviteUser',
      summary: 'Invite somebody into an account',
      description:
        "For the account's administrators and its reseller. Tradewind sends no mail: hand the token of the answer over to whoever is meant, and to nobody else. The answer is the same whether they log in here already or not. An account has at most 100 invitations without an answer, and makes at most 200 a day.",
      tags,
      body: InviteUser,
      response: { 200: Invited },
    },
    handler: async ({ principal, body }) => ({
      status: 'sent' as const,
      ...(await invitations.invite(principal, body)),
    }),
  });

  app.post('/iam/auth/renew_invitation', {
    config: { access: 'administer', secretAnswer: true },
    schema: {
      operationId: 'renewInvitation',
      summary: 'Make new tokens for invitations',
      description:
        "Of that address, in the caller's account or those of the reseller's clients; the tokens so far stop working. A user who joined already is 400. For one who has no password the log has the command that sets one.",
      tags,
      body: OfUser,
      response: { 200: Renewed },
    },
    handler: async ({ principal, body, log }) => {
      const renewal = await invitations.renew(principal, body.email);
      if (renewal.needsPassword) {
        log.warn(`A user has no password; this sets one: ${passwordCommand(body.email)}`);
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
        'For whoever is invited, with the token that was handed over. Whoever logs in with the invited address already gives their password, which must be one that they chose themselves; anybody else chooses one, and can log in with it from then on.',
      body: AcceptInvitation,
      response: { 200: Accepted },
    },
    handler: (request) => invitations.accept(request.body, senderOf(request)),
  });
}
