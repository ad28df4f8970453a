import { v7 } from 'uuid';
import { type Transaction, violates } from '../../../db/database.ts';
import * as errors from '../../../lib/errors.ts';
import { isoMicros } from '../../../lib/time.ts';
import type { Platform } from '../../../platform.ts';
import type { Principal } from '../../../requests/principal.ts';
import { freshOrigin, openLogin, pairOf } from '../pairs.ts';
import { type AuthType, attemptOf, checkPasswordAgain, recordAttempt, type Sender } from '../passwords/service.ts';
import { findUserById, membershipsOf, type UserToLogIn } from '../store.ts';
import { mailChange } from './in-transaction.ts';
import * as proofs from './proofs.ts';
import type * as schema from './schema.ts';
import * as store from './store.ts';

const MOST_FACTORS = 20;

/* Logging in: after the password, a challenge is to be answered with a second factor. */

/** @throws SecondFactorNeededError always, with a challenge */
export async function challengeUser(on: Platform, user: UserToLogIn): Promise<never> {
  const made = await newChallenge(on, user);
  throw new errors.SecondFactorNeededError(made);
}

async function newChallenge(on: Platform, user: UserToLogIn) {
  return on.database.transaction(async (tx) => {
    const factors = await store.factorsOf(tx.sql, user.id);
    const enrol = factors.length === 0;
    const { text, expiresAt } = await store.insertLoginChallenge(tx, user, enrol ? 'enrol' : 'log_in');
    const kinds: string[] = [...new Set(factors.map(({ kind }) => kind))].sort();
    if ((await store.countCodes(tx.sql, user.id)) > 0) kinds.push('recovery_code');
    return { challenge: text, expires_at: isoMicros(expiresAt), factors: kinds, enrol };
  });
}

/** Logs in with the code that came with the password. @throws SecondFactorNeededError if the user has to add a factor first */
export async function logInWithCode(on: Platform, user: UserToLogIn, code: string, from: Sender) {
  const made = await newChallenge(on, user);
  if (made.enrol) throw new errors.SecondFactorNeededError(made);
  const answer = /^\d{6}$/.test(code) ? { code } : { recovery_code: code };
  return completeLogin(on, { challenge: made.challenge, ...answer }, from);
}

const notValid = () =>
  new errors.UnauthenticatedError(
    'The challenge is not valid: it was used, is older than five minutes, or the password has changed',
    true,
    'Log in again with POST /iam/auth/jwt/login.',
  );

/** What a request shows, and how it is checked. @throws InvalidError unless it is exactly one thing */
function shown(request: schema.SecondFactorLogin): AuthType {
  const { code, recovery_code, passkey } = request;
  const kinds: AuthType[] = [];
  if (code !== undefined) kinds.push('totp');
  if (recovery_code !== undefined) kinds.push('recovery_code');
  if (passkey !== undefined) kinds.push('passkey');
  const [kind] = kinds;
  if (kind && kinds.length === 1) return kind;
  throw new errors.InvalidError({ code: ['Send one of code, recovery_code and passkey.'] });
}

const FIELDS = {
  totp: 'code',
  recovery_code: 'recovery_code',
  passkey: 'passkey',
  password: 'password',
  sso: 'sso',
} as const;
const WRONG = {
  totp: 'Wrong code, or one that was used already.',
  recovery_code: 'Wrong code, or one that was used already.',
  sso: 'Not valid.',
  passkey: 'It is no passkey of this user, or does not answer the last options.',
  password: 'Wrong password.',
} as const;

class WrongFactorError extends errors.InvalidError {
  constructor(kind: AuthType) {
    super({ [FIELDS[kind]]: [WRONG[kind]] });
  }
  override get name(): string {
    return 'InvalidError';
  }
}

/**
 * Does what needs a second factor; wrong ones count as wrong passwords do. `work` throws a WrongFactorError, which undoes all of
 * it but the record of the attempt. @throws TooManyRequestsError
 */
async function guessed<T>(
  on: Platform,
  user: Pick<UserToLogIn, 'id' | 'client_id' | 'email'>,
  kind: AuthType,
  from: Sender,
  {
    work,
    failed = async () => {},
  }: { work: (tx: Transaction) => Promise<T>; failed?: (tx: Transaction) => Promise<void> },
): Promise<T> {
  const giveBack = await on.guesses.take(user.email, from.address);
  const attempted = (tx: Transaction, successful: boolean) =>
    recordAttempt(on, tx, user, attemptOf(user, user.email, from, successful, tx.now, kind));
  try {
    const result = await on.database.transaction(async (tx) => {
      const made = await work(tx);
      await attempted(tx, true);
      return made;
    });
    await giveBack();
    return result;
  } catch (error) {
    if (!(error instanceof WrongFactorError)) {
      // Nothing was checked.
      await giveBack('half');
      throw error;
    }
    await on.database.transaction(async (tx) => {
      await failed(tx);
      await attempted(tx, false);
    });
    throw error;
  }
}

/**
 * Answers the pair for a challenge and what the user shows. With an app that was just set up for it, also recovery codes.
 * @throws UnauthenticatedError for a challenge that isn't valid, InvalidError for a wrong factor, TooManyRequestsError
 */
export async function completeLogin(
  on: Platform,
  request: schema.SecondFactorLogin,
  from: Sender,
): Promise<schema.SecondFactorPair> {
  const kind = shown(request);
  const found = await store.findLoginChallenge(on.database.sql, request.challenge, on.clock.now());
  if (!found) throw notValid();
  const enrol = found.purpose === 'enrol';

  const work = async (tx: Transaction) => {
    // The user is locked first. A change of the password or the factors waits for this one, or is over.
    await store.lockUser(tx, found.id);
    const still = await store.findLoginChallenge(tx.sql, request.challenge, on.clock.now());
    // Only a user without a factor enrols. If one was added meanwhile, the password alone is not enough.
    if (enrol && (await store.factorsOf(tx.sql, found.id)).length > 0) throw notValid();
    if (enrol) await requireNoProvider(tx, found.id);
    const taken =
      still &&
      (await store.takeChallenge(tx, found.hash, { userId: found.id, purpose: found.purpose }, on.clock.now()));
    if (!taken) throw notValid();
    const right = await isRight(tx, taken.passkey_challenge);
    if (!right) throw new WrongFactorError(kind);
    const membership = (await membershipsOf(tx.sql, found.id)).find((one) => !one.needs_provider);
    if (!membership) throw notValid();
    const codes = enrol ? await store.renewCodes(tx, found.id) : undefined;
    if (enrol) await mailChange(on, tx, found.id, { event: 'added', factor: 'App' });
    return { login: await openLogin(tx, membership, freshOrigin(found.id)), codes };
  };
  async function isRight(tx: Transaction, passkeyChallenge: string | null): Promise<boolean> {
    const { code, recovery_code, passkey } = request;
    if (code !== undefined) return proofs.isRightCode(on, tx, found?.id ?? 0, code, { confirmed: !enrol });
    if (enrol) return false;
    if (passkey) return proofs.isRightPasskey(on, tx, found?.id ?? 0, passkey, passkeyChallenge);
    return store.useRecoveryCode(tx, found?.id ?? 0, recovery_code ?? '');
  }
  const failed = (tx: Transaction) => store.setPasskeyChallenge(tx.sql, found.hash, null);
  const { login, codes } = await guessed(on, found, kind, from, { work, failed });
  on.authenticator.forget(login.ended);
  return { ...(await pairOf(on, login)), ...(codes && { recovery_codes: codes }) };
}

/** @throws UnauthenticatedError, ConflictError if there are no passkeys */
export async function passkeyOptionsOfLogin(on: Platform, text: string): Promise<Record<string, unknown>> {
  const found = await store.findLoginChallenge(on.database.sql, text, on.clock.now());
  if (!found) throw notValid();
  const factors = await store.factorsOf(on.database.sql, found.id);
  const passkeys = factors.filter(({ kind }) => kind === 'passkey');
  if (passkeys.length === 0) throw new errors.ConflictError('This user has no passkey');
  const options = await proofs.optionsToLogIn(on, passkeys);
  await on.database.transaction((tx) => store.setPasskeyChallenge(tx.sql, found.hash, options.challenge));
  return { ...options };
}

/** For a user whose account requires a second factor, and who has none. @throws UnauthenticatedError */
export async function enrolForLogin(on: Platform, text: string): Promise<schema.Totp> {
  return on.database.transaction(async (tx) => {
    const found = await store.findLoginChallenge(tx.sql, text, on.clock.now());
    if (found?.purpose !== 'enrol') throw notValid();
    await store.lockUser(tx, found.id);
    // The user may have added one meanwhile, which a password alone must not replace.
    if ((await store.factorsOf(tx.sql, found.id)).length > 0) throw notValid();
    await requireNoProvider(tx, found.id);
    return proofs.beginTotp(on, tx, found, { id: v7(), name: 'App' });
  });
}

/**
 * An account may let in administrators only by their company or with a second factor. The password alone must not be enough to
 * add the first factor there. @throws ForbiddenError
 */
async function requireNoProvider(tx: Transaction, userId: number): Promise<void> {
  if (!(await membershipsOf(tx.sql, userId)).some((one) => one.needs_provider)) return;
  throw new errors.ForbiddenError('One of your accounts takes no passwords: sign in with your company first');
}

/** @throws ForbiddenError */
async function requireFirst(tx: Transaction, { userId, loginId }: Principal): Promise<void> {
  if ((await store.factorsOf(tx.sql, userId)).length > 0) return;
  const login = await tx.sql
    .selectFrom('login_sessions')
    .select('provider_id')
    .where('id', '=', loginId ?? 0)
    .executeTakeFirst();
  if (!login?.provider_id) await requireNoProvider(tx, userId);
}

/* A user's own second factors. */

/** @throws ForbiddenError for API tokens, and for an administrator who acts in the user's name */
function requireInPerson({ inPerson }: Principal): void {
  if (inPerson) return;
  throw new errors.ForbiddenError('Only the user can do this, logged in with their own password');
}

/** The password once more, or a new code. @throws InvalidError, ForbiddenError, TooManyRequestsError */
async function requireProof(on: Platform, principal: Principal, proof: schema.OwnProof, from: Sender) {
  requireInPerson(principal);
  const { userId } = principal;
  const { password, code } = proof;
  if ((password === undefined) === (code === undefined)) {
    throw new errors.InvalidError({ password: ['Send the password or a code of the app.'] });
  }
  if (password !== undefined) return checkPasswordAgain(on, userId, password, 'password', from);
  const user = await findUserById(on.database.sql, userId);
  if (!user) throw new errors.NotFoundError('User', userId);
  const work = async (tx: Transaction) => {
    await store.lockUser(tx, userId);
    if (!(await proofs.isRightCode(on, tx, userId, code ?? ''))) throw new WrongFactorError('totp');
  };
  await guessed(on, user, 'totp', from, { work });
  return user;
}

export async function listSecondFactors(on: Platform, principal: Principal): Promise<schema.SecondFactorList> {
  requireInPerson(principal);
  const factors = await store.factorsOf(on.database.sql, principal.userId);
  return {
    count: factors.length,
    results: factors.map(presented),
    recovery_codes: await store.countCodes(on.database.sql, principal.userId),
    passkeys: proofs.hasPasskeys(on),
  };
}

/** @throws ForbiddenError, InvalidError, ConflictError if the user has an app, TooManyRequestsError */
export async function setUpTotp(
  on: Platform,
  principal: Principal,
  { name = 'App', ...proof }: schema.OwnProof & { name?: string },
  from: Sender,
): Promise<schema.Totp> {
  const user = await requireProof(on, principal, proof, from);
  return on.database.accept(async (tx) => {
    await store.lockUser(tx, user.id);
    await requireFirst(tx, principal);
    const id = v7();
    tx.made(id);
    return proofs.beginTotp(on, tx, user, { id, name });
  });
}

/** With the first factor come recovery codes. @throws ForbiddenError, InvalidError for a wrong code */
export async function confirmTotp(on: Platform, principal: Principal, code: string): Promise<schema.AddedFactor> {
  requireInPerson(principal);
  return on.database.accept(async (tx) => {
    await store.lockUser(tx, principal.userId);
    await requireFirst(tx, principal);
    const app = await store.lockTotp(tx, principal.userId, false);
    const right = app && (await proofs.isRightCode(on, tx, principal.userId, code, { confirmed: false }));
    if (!right) throw new errors.InvalidError({ code: ['Wrong code. Is the clock of the phone right?'] });
    tx.made(app.id);
    return added(on, tx, principal.userId, app.id);
  });
}

/** @throws ForbiddenError, InvalidError, ConflictError, TooManyRequestsError */
export async function passkeyOptions(
  on: Platform,
  principal: Principal,
  proof: schema.OwnProof,
  from: Sender,
): Promise<Record<string, unknown>> {
  const user = await requireProof(on, principal, proof, from);
  const factors = await store.factorsOf(on.database.sql, user.id);
  if (factors.length >= MOST_FACTORS) {
    throw new errors.ConflictError(`You have ${MOST_FACTORS} second factors already; remove one first`);
  }
  const options = await proofs.optionsToAdd(on, user, factors);
  const hash = store.hashOfPasskeyChallenge(options.challenge);
  await on.database.accept((tx) => store.insertChallenge(tx, { hash, userId: user.id, purpose: 'add_passkey' }));
  return { ...options };
}

/** @throws ForbiddenError, InvalidError, ConflictError if it is somebody's already */
export async function addPasskey(
  on: Platform,
  principal: Principal,
  request: schema.AddPasskey,
): Promise<schema.AddedFactor> {
  requireInPerson(principal);
  const { userId } = principal;
  return on.database.accept(async (tx) => {
    await store.lockUser(tx, userId);
    await requireFirst(tx, principal);
    const of = { userId, purpose: 'add_passkey' } as const;
    const passkey = await proofs.readNewPasskey(on, request, async (challenge) => {
      const hash = store.hashOfPasskeyChallenge(challenge);
      return (await store.takeChallenge(tx, hash, of, on.clock.now())) !== undefined;
    });
    const id = v7();
    tx.made(id);
    const values = { id, user_id: userId, kind: 'passkey', name: request.name, ...passkey } as const;
    try {
      await tx.sql
        .insertInto('second_factors')
        .values({ ...values, created_at: tx.now, confirmed_at: tx.now })
        .execute();
    } catch (error) {
      if (!violates(error, 'second_factors_credential')) throw error;
      throw new errors.ConflictError('This passkey is in use already');
    }
    return added(on, tx, userId, id);
  });
}

/** @throws ForbiddenError, InvalidError, NotFoundError, ConflictError if an account requires one, TooManyRequestsError */
export async function removeSecondFactor(
  on: Platform,
  principal: Principal,
  id: string,
  proof: schema.OwnProof,
  from: Sender,
): Promise<void> {
  await requireProof(on, principal, proof, from);
  const { userId } = principal;
  await on.database.accept(async (tx) => {
    await store.lockUser(tx, userId);
    const removed = await store.removeFactor(tx, userId, id);
    if (!removed) throw new errors.NotFoundError('Second factor', id);
    if ((await store.factorsOf(tx.sql, userId)).length === 0) {
      if (await store.isRequired(tx.sql, userId)) {
        throw new errors.ConflictError('Your account requires a second factor; add another one first');
      }
      await store.removeAll(tx, userId);
    }
    await mailChange(on, tx, userId, { event: 'removed', factor: removed.name });
  });
}

/** The former recovery codes are worthless. @throws ForbiddenError, InvalidError, ConflictError, TooManyRequestsError */
export async function makeRecoveryCodes(on: Platform, principal: Principal, proof: schema.OwnProof, from: Sender) {
  const { id } = await requireProof(on, principal, proof, from);
  return on.database.accept(async (tx) => {
    await store.lockUser(tx, id);
    if ((await store.factorsOf(tx.sql, id)).length === 0) {
      throw new errors.ConflictError('You have no second factor that recovery codes could stand in for');
    }
    await mailChange(on, tx, id, { event: 'new_codes' });
    return { recovery_codes: await store.renewCodes(tx, id) };
  });
}

async function added(on: Platform, tx: Transaction, userId: number, id: string): Promise<schema.AddedFactor> {
  const factors = await store.factorsOf(tx.sql, userId);
  const factor = factors.find((one) => one.id === id);
  if (!factor) throw new errors.NotFoundError('Second factor', id);
  await mailChange(on, tx, userId, { event: 'added', factor: factor.name });
  const first = factors.length === 1;
  return { ...presented(factor), ...(first && { recovery_codes: await store.renewCodes(tx, userId) }) };
}

const presented = (factor: Awaited<ReturnType<typeof store.factorsOf>>[number]): schema.SecondFactor => ({
  id: factor.id,
  kind: factor.kind,
  name: factor.name,
  created_at: isoMicros(factor.created_at),
  last_used_at: factor.last_used_at && isoMicros(factor.last_used_at),
});

export const forgetOldFactors = store.deleteOld;
