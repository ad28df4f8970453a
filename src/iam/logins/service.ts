import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database, Transaction } from '../../db/database.ts';
import * as errors from '../../lib/errors.ts';
import { pagesAround } from '../../lib/page.ts';
import { noteAccount } from '../../lib/request-context.ts';
import { type Clock, forPeople, isoMicros } from '../../lib/time.ts';
import type { PageQuery } from '../../lib/wire.ts';
import type { Platform } from '../../platform.ts';
import { allows, type Principal, reachOf, requireUnbounded } from '../../requests/principal.ts';
import { lockClients, requireManaged } from '../accounts/service.ts';
import { type Addressed, notePasswordRequest, replacePassword } from '../accounts/users/in-transaction.ts';
import * as identity from '../identity/service.ts';
import { endLogins } from './in-transaction.ts';
import { freshOrigin, type OpenLogin, type Origin, openLogin, pairOf, refreshExpiry } from './pairs.ts';
import { beginReset } from './password-resets/service.ts';
import { checkPasswordAgain, checkPasswordByName, hashPassword, type Sender } from './passwords/service.ts';
import type { ChangePassword, LoginAttemptPage, LoginRequest, TokenPair } from './schema.ts';
import { challengeUser, forgetOldFactors, logInWithCode } from './second-factors/service.ts';
import * as store from './store.ts';

const LOG_IN_AGAIN =
  'This login has ended, which also happens when a refresh token is used twice; log in again with POST /iam/auth/jwt/login.';

/** A refresh token was used twice: two clients have it, and one of them may be a thief (RFC 9700, 4.14.2). */
class UsedTwiceError extends errors.UnauthenticatedError {
  readonly family: string;

  constructor(family: string) {
    super('Token is invalid or expired', true, LOG_IN_AGAIN);
    this.family = family;
  }
}

/** Returns the next pair for a refresh token, which becomes invalid unless it is `kept`. @throws UnauthenticatedError */
export async function refreshPair(
  deps: {
    database: Database;
    clock: Clock;
    signedTokens: identity.SignedTokens;
    authenticator: identity.Authenticator;
  },
  token: string,
  { kept = false } = {},
): Promise<TokenPair> {
  const { database, clock, signedTokens, authenticator } = deps;
  const given = await signedTokens.read('refresh', token);
  const refreshId = kept ? given.id : randomUUID();
  try {
    const login = await database.transaction((tx) => renewed(tx, given, refreshId, clock.now()));
    authenticator.forget({ tokens: [], logins: [login.id] });
    return await pairOf(deps, login);
  } catch (error) {
    if (error instanceof UsedTwiceError) {
      // In a transaction of its own, since the refusal rolled the other one back.
      authenticator.forget(await database.transaction((tx) => endLogins(tx, { family: error.family })));
    }
    throw error;
  }
}

async function renewed(
  tx: Transaction,
  given: identity.SignedTokenClaims,
  refreshId: string,
  now: Date,
): Promise<Omit<OpenLogin, 'ended'>> {
  const login = await store.lockLogin(tx.sql, given.loginId);
  if (!login || login.expires_at <= now) throw ended();
  // Somebody else's, who has the number since a reset: it must not end for that.
  if (given.loginKey !== undefined && given.loginKey !== login.key) throw ended();
  if (login.refresh_id !== given.id) throw new UsedTwiceError(login.family);
  const of = (await store.membershipsOf(tx.sql, login.user_id)).find(({ client_id }) => client_id === login.client_id);
  // The account may require a second factor since, or an identity provider.
  if (!of || ((of.lacks_factor || of.needs_provider) && isByPassword(login))) throw ended();
  if (login.provider_id !== null && !(await store.hasSay(tx.sql, login.provider_id, login.client_id))) throw ended();
  const expiresAt = refreshExpiry(now, login.ends_at);
  const renewal = await store.renewLogin(tx.sql, login.id, { refresh_id: refreshId, expires_at: expiresAt });
  // Every process that remembers the login remembers its former expiry.
  await identity.announce(tx, { tokens: [], logins: [login.id] });
  return { ...renewal, refreshId, expiresAt, roleId: login.role_id, of };
}

function ended(): errors.UnauthenticatedError {
  return new errors.UnauthenticatedError('Token is invalid or expired', true, LOG_IN_AGAIN);
}

export type { Addressed } from '../accounts/users/in-transaction.ts';

/*
 * Logins: pairs of an access token, which authenticates, and a refresh token, which gives the next pair once. A login may do
 * what the user's role in the account currently allows, and never more than the credential that made it.
 */

const SHUT =
  'The password is correct, but the user cannot use any account: it is paused, or its administrators have blocked the user.';

/** Repeated requests of one user are noted only once in this time. */
const REQUEST_NOTED_MS = 3_600_000;
const ATTEMPTS_KEPT_MS = 90 * 24 * 3_600_000;

/** What becomes of a report that a password is forgotten. */
export interface Reported {
  /** It was mailed to the user. */
  noted(user: Addressed): void;
  failed(error: unknown): void;
}

/**
 * Returns the origin of a login that the caller makes, with at most the caller's own rights. It stays
 * locked, so that ending it ends the new login as well.
 */
async function originOf(tx: Transaction, principal: Principal): Promise<Origin> {
  requireUnbounded(principal);
  const { tokenId, loginId, userId, roleId } = principal;
  if (tokenId !== undefined) {
    const token = await store.keepToken(tx.sql, tokenId);
    if (token) return { ...freshOrigin(userId), role_id: roleId, token_id: tokenId, ends_at: token.expires_at };
  }
  const login = loginId === undefined ? undefined : await store.keepLogin(tx.sql, loginId);
  if (!login) throw new errors.UnauthenticatedError('Token is invalid or expired', true);
  // The caller's role in another account may differ; only the maximum of this login counts.
  const { family, maker_id, token_id, role_id, ends_at, provider_id } = login;
  return { family, maker_id, token_id, role_id, ends_at, provider_id };
}

/**
 * What an account requires of passwords concerns neither API tokens nor resellers who act for users, nor whom an identity provider
 * vouches for: that asks for a second factor itself.
 */
const isByPassword = (login: Pick<store.LoginRow, 'user_id' | 'maker_id' | 'token_id' | 'provider_id'>): boolean =>
  login.maker_id === login.user_id && login.token_id === null && login.provider_id === null;

/** @throws ForbiddenError if the account takes no such logins */
function requireWays(
  { needs_provider, lacks_factor }: store.MembershipRow,
  login: Parameters<typeof isByPassword>[0],
): void {
  if (!isByPassword(login)) return;
  if (needs_provider) throw providerNeeded();
  if (lacks_factor) {
    throw new errors.ForbiddenError('This account requires a second factor; add one to your login first');
  }
}

async function noteRequest(on: Platform, tx: Transaction, email: string): Promise<Addressed | undefined> {
  const now = tx.now;
  const since = new Date(now.getTime() - REQUEST_NOTED_MS);
  const user = await notePasswordRequest(tx.sql, email, { now, since });
  if (!user) return undefined;
  const { token, expiresAt } = await beginReset(tx, user.id, now);
  await on.mailer.queue(tx, [
    {
      kind: 'password_reset',
      to: user.email,
      clientId: user.client_id,
      data: { token, expires: forPeople(expiresAt) },
      until: expiresAt,
    },
  ]);
  return user;
}

async function opened(
  on: Platform,
  principal: Principal,
  { user_id: userId, client_id: clientId }: store.MembershipRow,
  /** Judges the membership as it is once its account is locked. */
  refuse: (of: store.MembershipRow, origin: Origin) => void,
): Promise<TokenPair> {
  const login = await on.database.accept(async (tx) => {
    await lockClients(tx, [clientId]);
    const of = (await store.membershipsOf(tx.sql, userId)).find((one) => one.client_id === clientId);
    if (!of) throw new errors.NotFoundError('Client', clientId);
    const origin = await originOf(tx, principal);
    refuse(of, origin);
    requireWays(of, { ...origin, user_id: userId });
    // What one account's provider says of a user must not let it into the user's other accounts.
    if (origin.provider_id !== null && !(await store.hasSay(tx.sql, origin.provider_id, clientId))) {
      throw new errors.ForbiddenError('You signed in with a company that has no say in this account; log in there');
    }
    noteAccount(clientId);
    return openLogin(tx, of, origin);
  });
  on.authenticator.forget(login.ended);
  return pairOf(on, login);
}

/** @throws InvalidError for a wrong name or password, SecondFactorNeededError, TooManyRequestsError */
export async function logIn(on: Platform, request: LoginRequest, from: Sender): Promise<TokenPair> {
  const found = await checkPasswordByName(on, request.username, request.password, from);
  if (!found) throw noneFound();
  const { user, membership, needsFactor, needsProvider } = found;
  if (needsProvider) throw providerNeeded();
  if (!membership) throw noneFound(SHUT);
  if (needsFactor) {
    const code = request.one_time_password;
    return code ? logInWithCode(on, user, code, from) : challengeUser(on, user);
  }
  const login = await on.database.transaction(async (tx) => {
    if (!(await store.keepPassword(tx.sql, user))) throw noneFound();
    return openLogin(tx, membership, freshOrigin(user.id));
  });
  on.authenticator.forget(login.ended);
  return pairOf(on, login);
}

/** Ends the login of a refresh token, and those that came from it. One that has ended already stays so. */
export async function logOut(on: Platform, token: string): Promise<void> {
  const given = await on.signedTokens.read('refresh', token).catch(() => undefined);
  if (!given) return;
  const ended = await on.database.transaction(async (tx) => {
    const login = await store.lockLogin(tx.sql, given.loginId);
    const isSame = login && (given.loginKey === undefined || given.loginKey === login.key);
    return isSame ? endLogins(tx, { family: login.family }) : { tokens: [], logins: [] };
  });
  on.authenticator.forget(ended);
}

/** @throws UnauthenticatedError for an invalid token; a token that was used before ends its whole family */
export const refreshLogin = (on: Platform, token: string): Promise<TokenPair> => refreshPair(on, token);

/**
 * Logs the caller into another of their accounts.
 * @throws ForbiddenError if the account isn't theirs, or not reachable with this login
 */
export async function enterAccount(on: Platform, principal: Principal, clientId: number): Promise<TokenPair> {
  const memberships = await store.membershipsOf(on.database.sql, principal.userId);
  const membership = memberships.find(({ client_id }) => client_id === clientId);
  if (!membership) throw new errors.ForbiddenError(`You are not a user of client ${clientId}`);
  return opened(on, principal, membership, (_, { token_id, maker_id }) => {
    if (clientId === principal.clientId || (token_id === null && maker_id === principal.userId)) return;
    throw new errors.ForbiddenError(
      `Only a login with the user's own password can switch to another account; this one is for client ${principal.clientId} only`,
    );
  });
}

/** Logs in as the administrator of a reseller's client. @throws NotFoundError */
export async function logInAsAdministrator(on: Platform, principal: Principal, clientId: number): Promise<TokenPair> {
  await requireManaged(on.database.sql, principal, clientId);
  const administrators = (await store.administratorsOf(on.database.sql, clientId)).filter((one) =>
    mayBecome(principal, one),
  );
  const plain = administrators.find((one) => one.reseller_id === null && !one.platform_administrator);
  const administrator = plain ?? administrators[0];
  if (!administrator) {
    throw new errors.ForbiddenError(`Client ${clientId} has no active administrator that you could act as`);
  }
  return opened(on, principal, administrator, (of) => {
    if (!mayBecome(principal, of)) throw new errors.NotFoundError('Client', clientId);
  });
}

/** Logs in as a user of a reseller's client. @throws NotFoundError */
export async function logInAsUser(on: Platform, principal: Principal, userId: number): Promise<TokenPair> {
  const memberships = await store.membershipsOf(on.database.sql, userId);
  const [membership] = memberships.filter((one) => mayBecome(principal, one));
  if (!membership) throw new errors.NotFoundError('User', userId);
  return opened(on, principal, membership, (of) => {
    if (!mayBecome(principal, of)) throw new errors.NotFoundError('User', userId);
  });
}

/** Ends all other logins of the user. @throws ForbiddenError for another user, InvalidError, TooManyRequestsError */
export async function changePassword(
  on: Platform,
  principal: Principal,
  userId: number,
  request: ChangePassword,
  from: Sender,
): Promise<TokenPair> {
  if (principal.userId !== userId) throw new errors.ForbiddenError('Only the user can change this password');
  const user = await checkPasswordAgain(on, userId, request.old, 'old', from);
  requireNewPassword(request);
  const to = await hashPassword(request.new);
  const [membership] = (await store.membershipsOf(on.database.sql, userId)).filter(
    ({ client_id }) => client_id === principal.clientId,
  );
  if (!membership) throw new errors.UnauthenticatedError('Token is invalid or expired', true);
  const done = await on.database.accept(async (tx) => {
    if (!(await replacePassword(tx.sql, userId, { from: user.password_hash, to }))) {
      throw new errors.ConflictError('Another request has just changed this password');
    }
    const origin = await originOf(tx, principal);
    requireWays(membership, { ...origin, user_id: userId });
    const ended = await endLogins(tx, { userId });
    return { ended, login: await openLogin(tx, membership, origin) };
  });
  on.authenticator.forget(done.ended);
  return pairOf(on, done.login);
}

/**
 * Begins to mail the user how to set another password, unless that was done recently. Doesn't wait for it, since the time
 * that it takes would tell whether anybody has the address. @throws UnavailableError if too many are being mailed
 */
export async function reportForgottenPassword(on: Platform, email: string, { noted, failed }: Reported): Promise<void> {
  on.passwordReports.requireRoom();
  // Fail now if the database can't be reached: after the answer, nobody would hear of it.
  await sql`select 1`.execute(on.database.sql);
  on.passwordReports.begin(async () => {
    try {
      const user = await on.database.transaction((tx) => noteRequest(on, tx, email));
      if (user) noted(user);
    } catch (error) {
      failed(error);
    }
  });
}

/** Does it for a user of the caller's account, or of the reseller's clients. @throws NotFoundError */
export async function mailPasswordReset(on: Platform, principal: Principal, email: string) {
  return on.database.accept(async (tx) => {
    if (!(await store.belongsTo(tx.sql, email, reachOf(principal)))) {
      throw new errors.NotFoundError('User with the address', email);
    }
    return noteRequest(on, tx, email);
  });
}

export async function listLoginAttempts(
  on: Platform,
  principal: Principal,
  { limit = 100, offset = 0 }: PageQuery,
): Promise<LoginAttemptPage> {
  const of = {
    clientId: principal.clientId,
    userId: principal.inPerson ? principal.userId : undefined,
    strangers: principal.platformAdministrator,
  };
  const { count, rows } = await store.listAttempts(on.database.sql, of, { limit, offset });
  return {
    count,
    ...pagesAround('/iam/activity_log/logins', { limit, offset }, count),
    result: rows.map((row) => ({
      ...row,
      ip_address: row.address,
      created_at: isoMicros(row.created_at),
      login_at: isoMicros(row.created_at),
      is_successful: row.successful,
      user: row.user_id ?? 0,
    })),
  };
}

/** Deletes what is no longer needed; to be called periodically. */
export async function forgetOldLogins(on: Platform, now: Date): Promise<void> {
  const attemptsBefore = new Date(now.getTime() - ATTEMPTS_KEPT_MS);
  await on.database.transaction(async (tx) => {
    await store.deleteOldLogins(tx.sql, { now, attemptsBefore });
    await forgetOldFactors(tx, now);
  });
  await on.guesses.clean(now);
}

/** Whether a reseller may act as that user: the user must come from one of its clients and have no more rights. */
function mayBecome(principal: Principal, user: store.MembershipRow): boolean {
  if (principal.platformAdministrator) return true;
  return (
    allows(principal, 'resell') &&
    principal.resellerId === user.home_reseller_id &&
    user.client_id === user.home_id &&
    !user.platform_administrator &&
    (user.reseller_id === null || user.reseller_id === principal.resellerId)
  );
}

const providerNeeded = () => new errors.ForbiddenError('This account takes no passwords; sign in with your company');

function noneFound(hint?: string): errors.InvalidError {
  return new errors.InvalidError({ errors: ['No active account found with the given credentials.'] }, undefined, hint);
}

function requireNewPassword({ old, new: wanted, double }: ChangePassword): void {
  if (wanted !== double) throw new errors.InvalidError({ double: ['The two new passwords differ.'] });
  if (wanted === old) throw new errors.InvalidError({ new: ['Must differ from the current password.'] });
}
