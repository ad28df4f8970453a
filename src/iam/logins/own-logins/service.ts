import type { ExpressionBuilder } from 'kysely';
import type { Static } from 'typebox';
import { Type } from 'typebox';
import { pageWithCount } from '../../../db/page.ts';
import type { Tables } from '../../../db/tables.ts';
import { NotFoundError } from '../../../lib/errors.ts';
import { presentedPage } from '../../../lib/page.ts';
import { isoMicros } from '../../../lib/time.ts';
import * as wire from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import type { Principal } from '../../../requests/principal.ts';
import { endLogins } from '../in-transaction.ts';

export const OwnLogin = wire.Named('OwnLogin', {
  id: wire.IntegerId('Login ID'),
  client_id: Type.Integer({ description: 'The account that it works in', examples: [1] }),
  user_id: Type.Integer({ description: 'The user that it acts for', examples: [1] }),
  made_by: Type.Integer({
    description: 'The user who made it: another one acts in the name of `user_id`',
    examples: [1],
  }),
  token_id: wire.IntegerOrNull({ ...wire.NULL_AS_ABSENT, description: 'The API token that it was made with, if any' }),
  created_at: wire.Timestamp('When it was made'),
  expires_at: wire.Timestamp('When it ends unless it is refreshed'),
  current: Type.Boolean({ description: 'Whether this request was made with it' }),
});
type OwnLogin = Static<typeof OwnLogin>;
export const OwnLoginList = wire.listOf(OwnLogin, 'OwnLoginList');
export const OwnLoginParams = Type.Object({ login_id: wire.IntegerId('Login ID') });

/**
 * The logins that the caller may see and end. Only a user who gave the password, or a code instead of it, has all of their own, also those in the
 * name of others. An API token has those that were made with it, and a login from such a token itself.
 */
const within =
  ({ inPerson, userId, tokenId, loginId }: Principal) =>
  (login: ExpressionBuilder<Tables, 'login_sessions'>) => {
    if (inPerson) return login.or([login('user_id', '=', userId), login('maker_id', '=', userId)]);
    return tokenId === undefined ? login('id', '=', loginId ?? 0) : login('token_id', '=', tokenId);
  };

export async function listOwnLogins(
  on: Platform,
  principal: Principal,
  { limit = 100, offset = 0 }: wire.PageQuery,
): Promise<{ count: number; results: OwnLogin[] }> {
  const logins = on.database.sql
    .selectFrom('login_sessions')
    .select(['id', 'client_id', 'user_id', 'maker_id', 'token_id', 'created_at', 'expires_at'])
    .where(within(principal))
    .where('expires_at', '>', on.clock.now())
    .orderBy('id', 'desc');
  const page = await pageWithCount(logins, { limit, offset });
  return presentedPage(page, ({ maker_id, created_at, expires_at, ...row }) => ({
    ...row,
    made_by: maker_id,
    created_at: isoMicros(created_at),
    expires_at: isoMicros(expires_at),
    current: row.id === principal.loginId,
  }));
}

/** Ends one login, or all of them. @throws NotFoundError */
export async function endOwnLogins(on: Platform, principal: Principal, id?: number): Promise<void> {
  const ended = await on.database.accept(async (tx) => {
    const rows = await tx.sql
      .selectFrom('login_sessions')
      .select('id')
      .where(within(principal))
      .$if(id !== undefined, (login) => login.where('id', '=', id ?? 0))
      .execute();
    if (id !== undefined && rows.length === 0) throw new NotFoundError('Login', id);
    return endLogins(tx, { ids: rows.map((row) => row.id) });
  });
  on.authenticator.forget(ended);
}
