import { randomUUID } from 'node:crypto';
import type { Transaction } from '../../db/database.ts';
import { ForbiddenError } from '../../lib/errors.ts';
import type { Clock } from '../../lib/time.ts';
import { ROLES } from '../../requests/principal.ts';
import { lesserRole, roleOf, userTypeOf } from '../identity/schema.ts';
import type { Credentials, SignedTokens } from '../identity/service.ts';
import { endLongestUnused } from './in-transaction.ts';
import type { TokenPair } from './schema.ts';
import * as store from './store.ts';

const ACCESS_MS = 3_600_000;
const REFRESH_MS = 24 * 3_600_000;
const VOUCHED_MS = 12 * 3_600_000;
/** Logins of one user by one person. Programs that log in anew for each call would fill the table otherwise. */
export const MOST_LOGINS = 100;

/** A login as it is after a commit: the source of its next pair of tokens. */
export interface OpenLogin {
  id: number;
  key: string | null;
  refreshId: string;
  expiresAt: Date;
  roleId: number;
  of: store.MembershipRow;
  /** Those that were unused for the longest time, if there were too many. */
  ended: Credentials;
}

/** Where a login comes from, and the most it may do. `ends_at` is the expiry of the API token that it comes from. */
export type Origin = Pick<store.LoginRow, 'family' | 'maker_id' | 'token_id' | 'role_id' | 'ends_at' | 'provider_id'>;

/** The origin of a login with the right password. */
export function freshOrigin(userId: number): Origin {
  return {
    family: randomUUID(),
    maker_id: userId,
    token_id: null,
    role_id: ROLES.administrators.id,
    ends_at: null,
    provider_id: null,
  };
}

/** The origin of a login that an identity provider vouches for. The login has an end, so that people who leave the company lose it. */
function vouchedOrigin(userId: number, providerId: string, now: Date): Origin {
  return { ...freshOrigin(userId), provider_id: providerId, ends_at: new Date(now.getTime() + VOUCHED_MS) };
}

/** For whom an identity provider has vouched, and where it lets them in. */
export interface Vouched {
  userId: number;
  clientId: number;
  providerId: string;
}

/** @throws ForbiddenError if that is no longer so */
export async function openVouched(tx: Transaction, { userId, clientId, providerId }: Vouched): Promise<OpenLogin> {
  const of = (await store.membershipsOf(tx.sql, userId)).find((one) => one.client_id === clientId);
  if (!of || !(await store.hasSay(tx.sql, providerId, clientId))) {
    throw new ForbiddenError('You may no longer sign in so; ask the administrator of your account');
  }
  return openLogin(tx, of, vouchedOrigin(userId, providerId, tx.now));
}

/** Pass `ended` to the authenticator's `forget` after the commit. */
export async function openLogin(tx: Transaction, of: store.MembershipRow, origin: Origin): Promise<OpenLogin> {
  const refreshId = randomUUID();
  const expiresAt = refreshExpiry(tx.now, origin.ends_at);
  const made = await store.insertLogin(tx.sql, {
    ...origin,
    user_id: of.user_id,
    client_id: of.client_id,
    refresh_id: refreshId,
    created_at: tx.now,
    expires_at: expiresAt,
  });
  const logins = { userId: of.user_id, makerId: origin.maker_id, made: made.id, most: MOST_LOGINS };
  const ended = await endLongestUnused(tx, logins);
  return { ...made, refreshId, expiresAt, roleId: origin.role_id, of, ended };
}

export function refreshExpiry(now: Date, endsAt: Date | null): Date {
  const usual = new Date(now.getTime() + REFRESH_MS);
  return endsAt !== null && endsAt < usual ? endsAt : usual;
}

/** Signs the tokens of a login. Call it after the commit. */
export async function pairOf(
  { clock, signedTokens }: { clock: Clock; signedTokens: SignedTokens },
  { id, key, refreshId, expiresAt, roleId, of }: Omit<OpenLogin, 'ended'>,
): Promise<TokenPair> {
  const role = roleOf(lesserRole(roleId, of.role_id));
  const claims = {
    user_id: of.user_id,
    user_type: userTypeOf(of, of.client_id),
    user_groups: [role.name],
    client_id: of.client_id,
    email: of.email,
    username: of.email,
    client_name: of.company,
    is_admin: role.id === ROLES.administrators.id,
    exchangeable: true,
  };
  const soon = new Date(clock.now().getTime() + ACCESS_MS);
  const login = { loginId: id, loginKey: key ?? undefined };
  const access = { ...login, id: randomUUID(), refreshId };
  const [accessText, refreshText] = await Promise.all([
    signedTokens.sign('access', access, claims, soon < expiresAt ? soon : expiresAt),
    signedTokens.sign('refresh', { ...login, id: refreshId }, claims, expiresAt),
  ]);
  return { access: accessText, refresh: refreshText };
}
