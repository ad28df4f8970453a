import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import type { Sql } from '../../db/database.ts';
import { operations } from '../../http/operations.ts';
import type { Api } from '../../http/server.ts';
import { InvalidError } from '../../lib/errors.ts';
import { isToken, type PersonalToken, readPersonalToken } from '../../lib/personal-token.ts';
import { isoMicros } from '../../lib/time.ts';
import { Choice, Input, Named, nullable, TextOrNull, Timestamp } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import { findReset } from '../logins/password-resets/service.ts';

const KINDS = ['invitation', 'reset', 'deletion', 'subscription'] as const;
type LinkKind = (typeof KINDS)[number];

const example = `invitation_2_${'0f'.repeat(32)}`;
const ReadLink = Input(
  'ReadMailedLink',
  {
    token: Type.String({
      maxLength: 100,
      pattern: `^(${KINDS.join('|')})_[0-9]{1,15}_[0-9a-f]{64}$`,
      rule: 'Must be the token of a mail, with what it is for before it.',
      description: 'The token of a mailed link',
      examples: [example],
    }),
  },
  { token: example },
);

const MailedLink = Named('MailedLink', {
  kind: Choice(KINDS, {
    description:
      '`invitation`: joins an account. `reset`: sets a password. `deletion`: confirms that an account is to be deleted. `subscription`: ends mails of a kind, or lets them come again.',
    examples: ['invitation'],
  }),
  reseller: Type.String({ description: 'In whose name the mail was sent', examples: ['Northwind Hosting'] }),
  company: TextOrNull({ description: 'The account that it is about; null for a reset or a subscription' }),
  email: Type.String({ description: 'To whom it was sent', examples: ['jo@example.com'] }),
  expires_at: nullable(Timestamp('When it ends to work; null for never')),
  has_login: nullable(
    Type.Boolean({ description: 'Whether the invited address logs in already; null if it is no invitation' }),
  ),
  notification_type: TextOrNull({ description: 'What the mails of a subscription are about' }),
  done: Type.Boolean({
    description: 'Whether the deletion is confirmed, or the mails of the subscription have ended',
    examples: [false],
  }),
});
type MailedLink = Static<typeof MailedLink>;

interface Found extends Omit<MailedLink, 'kind' | 'expires_at'> {
  secret_hash: Buffer;
  expires_at: Date | null;
}

/** Shows only what the receiver of the mail knows already. Nobody else learns that there is such a user, account or setting. */
const FIND: Record<LinkKind, (db: Sql, id: number, now: Date) => Promise<{ rows: Found[] }>> = {
  invitation: (db, id, now) =>
    sql<Found>`
      select secret_hash, resellers.name as reseller, clients.company, users.email, expires_at,
        exists (
          select from users as other
          where lower(other.email) = lower(users.email) and other.deleted_at is null and not other.pending
        ) as has_login, null as notification_type, false as done
      from invitations
      join users on users.id = invitations.user_id
      join clients on clients.id = invitations.client_id
      join resellers on resellers.id = clients.reseller_id
      where invitations.user_id = ${id} and ended_at is null and expires_at > ${now}`.execute(db),
  reset: async (db, id, now) => {
    const reset = await findReset(db, id, now);
    if (!reset) return { rows: [] };
    return sql<Found>`
      select ${reset.secret_hash}::bytea as secret_hash, resellers.name as reseller, null as company, users.email,
        expires_at, null as has_login, null as notification_type, false as done
      from password_resets
      join users on users.id = password_resets.user_id
      join clients on clients.id = users.client_id
      join resellers on resellers.id = clients.reseller_id
      where password_resets.user_id = ${id}`.execute(db);
  },
  deletion: (db, id, now) =>
    sql<Found>`
      select secret_hash, resellers.name as reseller, clients.company, users.email, confirm_until as expires_at,
        null as has_login, null as notification_type, confirmed_at is not null as done
      from deletion_requests as request
      join users on users.id = request.user_id
      join clients on clients.id = request.client_id
      join resellers on resellers.id = clients.reseller_id
      where request.client_id = ${id} and confirm_until > ${now} and clients.deleted_at is null`.execute(db),
  subscription: (db, id) =>
    sql<Found>`
      select sha256(key::bytea) as secret_hash, resellers.name as reseller, null as company, email, null as expires_at,
        null as has_login, notification_type, not enabled as done
      from notification_settings as setting
      join resellers on resellers.id = setting.reseller_id
      where setting.id = ${id} and key is not null`.execute(db),
};

/** Says what a mailed token is for, so that a page can say so before anything is done. @throws InvalidError */
async function readMailedLink(on: Platform, text: string): Promise<MailedLink> {
  for (const kind of KINDS) {
    const token = readPersonalToken(kind, text);
    const found = token && (await validOf(on, kind, token));
    if (!found) continue;
    const { secret_hash: _, expires_at, ...link } = found;
    return { kind, ...link, expires_at: expires_at && isoMicros(expires_at) };
  }
  throw new InvalidError({ token: ['Not valid: it was used, taken back, replaced by a later one or has expired.'] });
}

async function validOf(on: Platform, kind: LinkKind, token: PersonalToken): Promise<Found | undefined> {
  const { rows } = await FIND[kind](on.database.sql, token.id, on.clock.now());
  return rows.find(({ secret_hash }) => isToken(token, secret_hash));
}

export function mailedLinkRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Logins'], access: 'public' });

  api.post('/tradewind/v1/mailed_links', 'readMailedLink', 'See what a mailed link is for', {
    description:
      'For the page that the link leads to. Changes nothing. A token that is no longer good is refused with 400.',
    body: ReadLink,
    answer: MailedLink,
    handler: ({ body }) => readMailedLink(on, body.token),
  });
}
