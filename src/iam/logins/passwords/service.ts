import { randomBytes } from 'node:crypto';
import argon2 from 'argon2';
import { type Insertable, sql } from 'kysely';
import pLimit from 'p-limit';
import type { Transaction } from '../../../db/database.ts';
import type { Tables } from '../../../db/tables.ts';
import { InvalidError, TooManyRequestsError, UnavailableError } from '../../../lib/errors.ts';
import { senderNetwork } from '../../../lib/ip-addresses.ts';
import { forPeople } from '../../../lib/time.ts';
import type { Mailer, NewMail } from '../../../mail/mailer.ts';
import { subscribersOf } from '../../../mail/receivers.ts';
import type { Platform } from '../../../platform.ts';
import * as store from '../store.ts';

const KNOWN_MS = 90 * 24 * 3_600_000;
/** More addresses than that are not compared: nobody with so many would miss the mail. */
const MOST_ADDRESSES = 1_000;

type Attempt = Insertable<Tables['login_attempts']>;

type Named = Pick<store.UserToLogIn, 'id' | 'client_id' | 'email'>;

/**
 * Records an attempt to log in, and mails of it: to the user, if it came from a new address, or to their resellers who want to
 * know of failures.
 */
export async function recordAttempt(
  { mailer }: { mailer: Mailer },
  tx: Transaction,
  user: Named | undefined,
  attempt: Attempt,
): Promise<void> {
  // First the mails, which compare it with former attempts.
  if (user) {
    await mailer.queue(tx, await (attempt.successful ? ofNewAddress(tx, user, attempt) : ofFailure(tx, user, attempt)));
  }
  await store.insertAttempt(tx.sql, attempt, MOST_ATTEMPTS);
}

/** The first login has nothing to be compared with. */
async function ofNewAddress(tx: Transaction, user: Named, attempt: Attempt): Promise<NewMail[]> {
  const since = new Date(attempt.created_at.getTime() - KNOWN_MS);
  const { rows } = await sql<{ address: string; known: boolean }>`
    select distinct address, address = ${attempt.address} as known from login_attempts
    where user_id = ${user.id} and successful and created_at > ${since}
    order by known desc limit ${MOST_ADDRESSES}`.execute(tx.sql);
  const network = senderNetwork(attempt.address);
  if (rows.length === 0 || rows.some(({ address }) => senderNetwork(address) === network)) return [];
  const { address, user_agent, created_at } = attempt;
  const data = { address, program: user_agent ?? 'unknown', time: forPeople(created_at) };
  return [{ kind: 'new_login', to: user.email, clientId: user.client_id, data }];
}

/** Once an hour for each user, however much somebody tries. */
async function ofFailure(tx: Transaction, user: Named, attempt: Attempt): Promise<NewMail[]> {
  const places = tx.sql.selectFrom('client_users').select('client_id').where('user_id', '=', user.id);
  const clientIds = (await places.execute()).map(({ client_id }) => client_id);
  if (clientIds.length === 0) return [];
  const { address, created_at } = attempt;
  const time = forPeople(created_at);
  const hour = created_at.toISOString().slice(0, 13);
  return (await subscribersOf(tx, clientIds, 'failed_login')).map(({ email, id, key, client_id: clientId }) => ({
    kind: 'failed_login',
    to: email,
    clientId,
    data: { user: user.email, address, time, setting: String(id), key },
    once: `${user.id} ${hour}`,
  }));
}

/* The only place where typed passwords are compared with stored ones. */

/** Anybody may send any text as a user agent. */
const MOST_OF_AGENT = 500;
/** Attempts that are kept of each user, and of unknown names together. */
export const MOST_ATTEMPTS = 10_000;

/** Where a request comes from. */
export interface Sender {
  address: string;
  userAgent: string | undefined;
}

export function senderOf({ ip, headers }: { ip: string; headers: { 'user-agent'?: string | undefined } }): Sender {
  return { address: ip, userAgent: headers['user-agent'] };
}

/** What somebody gave to log in, or for the console's code what they could have given. */
export type AuthType = 'password' | 'totp' | 'recovery_code' | 'passkey' | 'sso';

/** What is kept of an attempt to log in. */
export const attemptOf = (
  user: { id: number } | undefined,
  username: string,
  { address, userAgent }: Sender,
  successful: boolean,
  created_at: Date,
  auth_type: AuthType = 'password',
): Attempt => ({
  user_id: user?.id ?? null,
  username,
  address,
  user_agent: userAgent?.slice(0, MOST_OF_AGENT) ?? null,
  successful,
  created_at,
  auth_type,
});

/** Records it if it was wrong. What a right one is good for, the caller knows. */
async function compared(
  on: Platform,
  user: store.UserToLogIn | undefined,
  username: string,
  password: string,
  from: Sender,
): Promise<boolean> {
  // Admitted before it takes a guess: a password that nobody checked must cost none.
  const successful = await admitted(async () => {
    const giveBack = await on.guesses.take(username, from.address);
    const right = await isPasswordOf(user?.password_hash, password);
    if (right) await giveBack(user?.has_second_factor ? 'half' : undefined);
    return right;
  }).catch((error: unknown) => {
    if (error instanceof TooManyRequestsError) on.requestMeasures?.passwordGiven('limited');
    throw error;
  });
  on.requestMeasures?.passwordGiven(successful ? 'right' : 'wrong');
  if (!successful) await recorded(on, user, attemptOf(user, username, from, false, on.clock.now()));
  return successful;
}

/** The record of a failure must survive the refusal, so it is not part of the request's transaction. */
const recorded = (on: Platform, user: Named | undefined, attempt: Attempt) =>
  on.database.transaction((tx) => recordAttempt(on, tx, user, attempt));

/**
 * Returns undefined if nobody has that name and password. Records the attempt, unless the user needs a second factor as well:
 * then the password alone is no success. @throws TooManyRequestsError
 */
export async function checkPasswordByName(on: Platform, username: string, password: string, from: Sender) {
  const user = await store.findUserByEmail(on.database.sql, username);
  if (!(await compared(on, user, username, password, from)) || !user) return undefined;
  const memberships = await store.membershipsOf(on.database.sql, user.id);
  const membership = memberships.find((one) => !one.needs_provider);
  const needsFactor = membership !== undefined && (user.has_second_factor || membership.lacks_factor);
  const needsProvider = memberships.length > 0 && !membership;
  if (!needsFactor) await recorded(on, user, attemptOf(user, username, from, !needsProvider, on.clock.now()));
  return { user, membership, needsFactor, needsProvider };
}

/**
 * Checks the user's own password, typed again before an important change.
 * @throws InvalidError naming `field`, TooManyRequestsError
 */
export async function checkPasswordAgain(
  on: Platform,
  userId: number,
  password: string,
  field: string,
  from: Sender,
): Promise<store.UserToLogIn & { password_hash: string }> {
  const user = await store.findUserById(on.database.sql, userId);
  const right = user !== undefined && (await compared(on, user, user.email, password, from));
  if (right && user.password_hash !== null) {
    await recorded(on, user, attemptOf(user, user.email, from, true, on.clock.now()));
    return { ...user, password_hash: user.password_hash };
  }
  throw new InvalidError({ [field]: ['Wrong password.'] });
}

/** argon2id with the figures of OWASP's Password Storage Cheat Sheet; memory in KiB. */
const COST = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Each hash takes 19 MiB and a thread for about 30 ms. More at a time would take the threads that the rest of the process needs. */
const inTurn = pLimit(2);
const MOST_ADMITTED = 100;
let inside = 0;

/** Runs work that takes a turn. @throws UnavailableError if too much of it is waiting already */
async function admitted<T>(work: () => Promise<T>): Promise<T> {
  if (inside >= MOST_ADMITTED) {
    throw new UnavailableError('Too many passwords are being checked at the moment; try again');
  }
  inside++;
  try {
    return await work();
  } finally {
    inside--;
  }
}

export function hashPassword(password: string): Promise<string> {
  return admitted(() => inTurn(() => argon2.hash(password, COST)));
}

let decoy: Promise<string> | undefined;

/** Takes equally long for users without a password and for unknown users, so that nobody learns which users exist. */
async function isPasswordOf(known: string | null | undefined, password: string): Promise<boolean> {
  decoy ??= argon2.hash(randomBytes(32).toString('hex'), COST);
  const kept = known ?? (await decoy);
  const matches = await inTurn(() => argon2.verify(kept, password));
  return matches && typeof known === 'string';
}

/**
 * Returns the command with which an operator sets a user's password. The address is a stranger's text, so it
 * is quoted for the shell.
 */
export function passwordCommand(email: string): string {
  const plain = /^[\w.@+][\w.@+-]*$/.test(email);
  return `tradewind user password --email ${plain ? email : `'${email.replaceAll("'", "'\\''")}'`}`;
}

/** Returns a warning for the person who gives a user a new password: a recently changed address may be a stranger's. */
export function formerAddress(user: { former_email: string | null; email_changed_at: Date | null }) {
  if (user.former_email === null || user.email_changed_at === null) return undefined;
  const day = user.email_changed_at.toISOString().slice(0, 10);
  return `Until ${day} the address of this user was ${user.former_email}: verify who is asking`;
}
