import { type Transaction, violates } from '../../db/database.ts';
import { requireEmail } from '../../lib/email.ts';
import { ConflictError, InvalidError, NotFoundError } from '../../lib/errors.ts';
import * as personalToken from '../../lib/personal-token.ts';
import { noteAccount } from '../../lib/request-context.ts';
import type { Platform } from '../../platform.ts';
import { type Principal, reachOf } from '../../requests/principal.ts';
import { lockClients, lockToAdd } from '../accounts/service.ts';
import { checkPasswordByName, hashPassword, type Sender } from '../logins/passwords/service.ts';
import { PASSWORD_LENGTH } from '../logins/schema.ts';
import * as store from './invitation-store.ts';
import { DAY_MS, insertInvited, invitationMail, presentedInvitation, VALID_MS } from './invited.ts';
import { givenRole, requireStaffing } from './members.ts';
import { mayActFor } from './rights.ts';
import type { AcceptInvitation, InviteUser, RenewedInvitation } from './schema.ts';
import { lockUser } from './store.ts';

/*
 * Invitations. An address proves nothing, as mails may go nowhere: the mail or the inviting user hands the token to the
 * person that they mean, who returns it with a password of their own. Inviting doesn't look at other accounts, so it reveals
 * nothing about existing users.
 */

/** How long after its expiry an invitation that nobody renews is withdrawn. */
const KEPT_MS = 30 * DAY_MS;
const MOST_RENEWED = 100;

/** `needsPassword`: the user belongs to an account already but has no password, which only an operator can set. */
export interface Renewal {
  invitations: RenewedInvitation[];
  needsPassword: boolean;
}

/** @throws InvalidError, ForbiddenError */
export async function inviteUser(on: Platform, principal: Principal, request: InviteUser): Promise<RenewedInvitation> {
  const { email, client_id: clientId, name = null, lang } = request;
  await requireStaffing(on, principal, clientId);
  requireEmail(email);
  const role = givenRole(principal, request.user_role);
  return on.database.accept(async (tx) => {
    await lockToAdd(tx, clientId);
    await requireStaffing(on, principal, clientId, tx.sql);
    const now = tx.now;
    const user = { client_id: clientId, email, name, lang, created_at: now };
    return insertInvited(tx, principal, user, { roleId: role.id, validMs: VALID_MS.user, now, mailer: on.mailer });
  });
}

/**
 * Makes new tokens for open invitations of that address in the caller's accounts.
 * @throws InvalidError, NotFoundError
 */
export async function renewInvitation(on: Platform, principal: Principal, email: string): Promise<Renewal> {
  return on.database.accept(async (tx) => {
    const find = () => store.findByAddress(tx.sql, email, reachOf(principal), MOST_RENEWED);
    const before = await find();
    await lockClients(
      tx,
      before.map(({ client_id }) => client_id),
    );
    const known = await find();
    // The token would give an administrator of the account what only the reseller's have.
    const found = known.filter(({ reseller_id: id }) => id === null || mayActFor(principal, id));
    const invited = found.filter(({ pending }) => pending);
    if (invited.length === 0) {
      if (found.length === 0) throw new NotFoundError('User with the address', email);
      if (found.some((one) => one.has_password)) {
        throw new InvalidError({ email: ['This user already activated.'] });
      }
      return { invitations: [], needsPassword: true };
    }
    const isSellers = invited.some(({ reseller_id: id }) => id !== null);
    const validMs = isSellers ? VALID_MS.seller : VALID_MS.user;
    const expiresAt = new Date(tx.now.getTime() + validMs);
    const renewed = invited.map((one) => ({
      ...one,
      token: personalToken.newPersonalToken('invitation', one.id),
    }));
    await store.renewInvitations(
      tx.sql,
      renewed.map(({ token }) => token),
      { invitedBy: principal.userId, expiresAt },
    );
    const [only] = renewed;
    if (only && renewed.length === 1) noteAccount(only.client_id);
    const mails = renewed.map(({ token, client_id }) => invitationMail(email, client_id, token, expiresAt));
    await on.mailer.queue(tx, mails);
    const invitations = renewed.map(({ token, client_id }) => presentedInvitation(token, client_id, expiresAt));
    return { invitations, needsPassword: false };
  });
}

/** @throws InvalidError for a wrong token or password, TooManyRequestsError */
export async function acceptInvitation(
  on: Platform,
  { token: text, password }: AcceptInvitation,
  from: Sender,
): Promise<{ user_id: number; client_id: number }> {
  const token = personalToken.readPersonalToken('invitation', text);
  const invitation = token && (await valid(on.database.sql, token, on.clock.now()));
  if (!token || !invitation) throw notValid();
  const { user_id: invited, client_id: clientId, email } = invitation;
  const known = await store.findLogin(on.database.sql, email);
  if (known && invitation.reseller_id !== null) throw belongsToAnother();
  if (known) await requireOwnPassword(on, known, email, password, from);
  const hash = known ? undefined : await newPasswordHash(password);
  return on.database.transaction(async (tx) => {
    await lockClients(tx, [clientId]);
    await lockUser(tx, invited);
    if (!(await valid(tx.sql, token, on.clock.now()))) throw notValid();
    const userId = await (hash === undefined ? join(tx) : begin(tx, hash));
    await tx.sql.updateTable('invitations').set({ ended_at: tx.now }).where('user_id', '=', invited).execute();
    return { user_id: userId, client_id: clientId };
  });

  async function begin(tx: Transaction, passwordHash: string): Promise<number> {
    try {
      await store.begin(tx, invited, passwordHash);
    } catch (error) {
      throw violates(error, 'users_by_email') ? overtaken() : error;
    }
    return invited;
  }

  async function join(tx: Transaction): Promise<number> {
    if (known) await lockUser(tx, known.id);
    const still = await store.findLogin(tx.sql, email);
    if (!known || still?.id !== known.id) {
      throw overtaken();
    }
    await store.takePlace(tx, { of: invited, to: known.id, clientId });
    await store.removeInvited(tx, invited);
    return known.id;
  }
}

/** To be called periodically. */
export async function forgetOldInvitations(on: Platform, now: Date): Promise<void> {
  await on.database.transaction((tx) =>
    store.forgetInvitations(tx, {
      now,
      madeBefore: new Date(now.getTime() - DAY_MS),
      expired: new Date(now.getTime() - KEPT_MS),
    }),
  );
}

/** For existing users: nobody else may accept for them, or know their password. */
async function requireOwnPassword(
  on: Platform,
  known: { id: number; password_given: boolean },
  email: string,
  password: string,
  from: Sender,
): Promise<void> {
  const found = await checkPasswordByName(on, email, password, from);
  const refused = (message: string) => new InvalidError({ password: [message] });
  if (found?.user.id !== known.id) {
    throw refused(
      'This is not the password of the login with this address. If you forgot it, ask the operator of the platform.',
    );
  }
  if (known.password_given) {
    throw refused(
      `Somebody else chose this password and could use it to enter the account. Choose your own first: PUT /iam/users/${known.id}/password.`,
    );
  }
}

async function valid(sql: Transaction['sql'], token: personalToken.PersonalToken, now: Date) {
  const invitation = await store.findInvitation(sql, token.id);
  if (!invitation || invitation.expires_at <= now) return undefined;
  return personalToken.isToken(token, invitation.secret_hash) ? invitation : undefined;
}

function newPasswordHash(password: string): Promise<string> {
  if (password.length < PASSWORD_LENGTH.min) {
    throw new InvalidError({ password: [`Must have ${PASSWORD_LENGTH.min} characters or more.`] });
  }
  return hashPassword(password);
}

function overtaken(): ConflictError {
  return new ConflictError('Another request changed the login of this address at the same time; try again');
}

/** Rights beyond accounts only exist in a user's first account, so nobody takes them over. */
function belongsToAnother(): InvalidError {
  return new InvalidError({
    token: ['Somebody has begun to log in with this address. Ask for an invitation of another one.'],
  });
}

function notValid(): InvalidError {
  return new InvalidError({
    token: ['Not valid: it was used, taken back, renewed or has expired. Ask for a new one.'],
  });
}
