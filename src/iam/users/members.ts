import type { Sql, Transaction } from '../../db/database.ts';
import { requireEmail } from '../../lib/email.ts';
import { ConflictError, ForbiddenError, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { noteAccount } from '../../lib/request-context.ts';
import type { Platform } from '../../platform.ts';
import { allows, lacks, type Principal, ROLES } from '../../requests/principal.ts';
import type { User } from '../accounts/schema.ts';
import * as accounts from '../accounts/service.ts';
import { acceptedRole, namesNone, type Role, roleOf } from '../identity/schema.ts';
import { type Credentials, together } from '../identity/service.ts';
import { announceUser, endLogins } from '../logins/in-transaction.ts';
import { removeSecondFactors } from '../logins/second-factors/in-transaction.ts';
import { expireInvitations } from './invitation-store.ts';
import { isBeyond, looksAfter, mayStaff, placesInReach } from './rights.ts';
import type { UpdateUser, UserRole } from './schema.ts';
import * as store from './store.ts';

/** What a request changes of a user; unchanged fields are absent. */
export interface Changes {
  profile: Pick<UpdateUser, 'name' | 'phone' | 'lang' | 'auth_types'>;
  email: string | undefined;
  isActive: boolean | undefined;
}

/** @throws ForbiddenError, InvalidError for changes that the caller may not make */
export function acceptedChanges(
  principal: Principal,
  { row, memberships, user }: { row: store.UserRow; memberships: readonly store.Membership[]; user: User },
  request: UpdateUser,
): Changes {
  const self = principal.userId === row.id;
  const care = isThemselves(principal, row, memberships) || looksAfter(principal, row, memberships);
  const places = placesInReach(principal, row, memberships);
  const { name, phone, lang, auth_types } = request;
  const profile: Changes['profile'] = Object.fromEntries(
    Object.entries({ name, phone, lang, auth_types }).filter(
      ([field, value]) => value !== undefined && !same(value, row[field as keyof store.UserRow]),
    ),
  );
  if (!care && (places.length === 0 || Object.keys(profile).length > 0)) throw notYours(principal, row, places);
  const email = request.email === row.email ? undefined : request.email;
  if (email !== undefined) requireAddressChange(principal, row, email);
  const isActive = request.is_active === user.is_active ? undefined : request.is_active;
  if (isActive !== undefined) requireBlocking(self, places, row, principal);
  return { profile, email, isActive };
}

/**
 * Whether the caller is the user in person, or has any credential of a user who has no other account that it
 * could affect.
 */
function isThemselves(principal: Principal, user: store.UserRow, memberships: readonly store.Membership[]): boolean {
  if (principal.userId !== user.id) return false;
  return principal.inPerson === true || memberships.every(({ client_id: id }) => id === principal.clientId);
}

function notYours(principal: Principal, { id }: store.UserRow, places: readonly store.Membership[]): ForbiddenError {
  if (places.length > 0) {
    return new ForbiddenError(
      `User ${id} also belongs to other accounts, so only the user can change their name, telephone number and the like`,
    );
  }
  if (principal.userId === id) {
    return new ForbiddenError('You also belong to other accounts; log in with your password to change your own data');
  }
  return allows(principal, 'administer')
    ? new ForbiddenError(`User ${id} has more rights than you, so you cannot change them`)
    : lacks('administer');
}

/** A user who logs in with an address must know that it changes, and must be the one who wants it. */
function requireAddressChange(principal: Principal, user: store.UserRow, email: string): void {
  requireEmail(email);
  const refused = (message: string) => new InvalidError({ email: [message] });
  if (user.pending) throw refused('Take the invitation back and invite the other address.');
  if (principal.platformAdministrator) return;
  if (principal.userId === user.id) {
    throw refused(`Ask for it with the password: PUT /iam/users/${user.id}/email.`);
  }
  throw refused('Only the user can change it, with their password, or the administrator of the platform.');
}

function requireBlocking(
  self: boolean,
  places: readonly store.Membership[],
  user: store.UserRow,
  principal: Principal,
): void {
  const refused = (message: string) => new InvalidError({ is_active: [message] });
  if (self || places.length === 0) {
    throw refused('Users cannot block or unblock themselves.');
  }
  if (!user.is_active && !principal.platformAdministrator) {
    throw refused('The platform has blocked this user; only its administrator can unblock them.');
  }
}

function same(one: unknown, other: unknown): boolean {
  return Array.isArray(one) ? JSON.stringify(one) === JSON.stringify(other) : one === other;
}

/**
 * Removes a user from one account. A user without another account is deleted.
 * @throws ForbiddenError for a user with API tokens there, ConflictError for the last administrator,
 * NotFoundError for a user who has just been deleted
 */
export async function takeOut(tx: Transaction, userId: number, clientId: number): Promise<Credentials> {
  const user = await lockedUser(tx, userId, clientId);
  await requireRemovable(tx, user, clientId);
  await store.deleteMembership(tx.sql, { clientId, userId: user.id });
  await expireInvitations(tx.sql, { clientIds: [clientId], invitedBy: user.id }, tx.now);
  const ended = await endLogins(tx, { memberId: user.id, clientIds: [clientId] });
  const changed = together(ended, await announceUser(tx, user.id, [clientId]));
  if (user.home_id === clientId && user.reseller_id !== null) await accounts.unassignSellers(tx.sql, [user.id]);
  // The other memberships can't change meanwhile, since the user is locked.
  const [next] = await store.membershipsOf(tx.sql, [user.id]);
  if (!next) {
    await store.markDeleted(tx.sql, user.id, tx.now);
    return together(changed, await removeSecondFactors(tx, user.id));
  }
  if (user.home_id === clientId) await store.moveHome(tx.sql, user.id, next.client_id);
  return changed;
}

/**
 * Locks accounts, then the user: if two administrators remove each other, one of them stays. The accounts include the clients
 * that the user looks after, because an assignment of a seller locks the client first. Meanwhile a removal from another account
 * may have given the user another home.
 */
async function lockedUser(tx: Transaction, userId: number, clientId: number): Promise<store.UserRow> {
  await accounts.lockWithLookedAfter(tx, clientId, { userId });
  await store.lockUser(tx, userId);
  const user = await store.findUser(tx.sql, userId);
  if (!user) throw new NotFoundError('User', userId);
  return user;
}

async function requireRemovable(tx: Transaction, user: store.UserRow, clientId: number): Promise<void> {
  if (user.platform_administrator && user.home_id === clientId) {
    throw new ConflictError(`User ${user.id} is the administrator of the platform and cannot be removed`);
  }
  const tokens = await store.countTokens(tx.sql, user.id, clientId, tx.now);
  if (tokens > 0) {
    throw new ForbiddenError(
      `User ${user.id} has ${tokens} active API token${tokens === 1 ? '' : 's'}; delete them first`,
    );
  }
  await requireAnotherAdministrator(tx, user.id, [clientId]);
}

/** The accounts must be locked. @throws ConflictError */
export async function requireAnotherAdministrator(tx: Transaction, userId: number, clientIds: readonly number[]) {
  const [only] = await store.accountsOnlyAdministeredBy(tx.sql, userId, clientIds);
  if (only === undefined) return;
  throw new ConflictError(
    `User ${userId} is the only administrator of client ${only}; make another user its administrator first`,
  );
}

/**
 * For the platform administrator this applies everywhere, for everybody else only in their own accounts.
 * The accounts must be locked.
 */
export async function setActive(
  tx: Transaction,
  principal: Principal,
  { row: user, memberships }: { row: store.UserRow; memberships: readonly store.Membership[] },
  isActive: boolean | undefined,
): Promise<Credentials> {
  if (isActive === undefined) return { tokens: [], logins: [] };
  const places = placesInReach(principal, user, memberships);
  const clientIds = places.map(({ client_id }) => client_id);
  if (!isActive) {
    await requireAnotherAdministrator(tx, user.id, clientIds);
    await expireInvitations(tx.sql, { clientIds, invitedBy: user.id }, tx.now);
  }
  if (principal.platformAdministrator) await store.updateUser(tx.sql, user.id, { is_active: isActive });
  if (!principal.platformAdministrator || isActive) {
    await store.setActiveIn(tx.sql, user.id, clientIds, isActive);
  }
  const ended = await endLogins(tx, { memberId: user.id, clientIds });
  return together(await announceUser(tx, user.id, clientIds), ended);
}

/* The members of an account and their roles. Its administrators and its reseller decide. */

async function accountFor(
  on: Platform,
  principal: Principal,
  clientId: number,
  may: (client: accounts.ClientEntry) => boolean,
  sql = on.database.sql,
): Promise<accounts.ClientEntry> {
  const client = await accounts.findClient(sql, clientId);
  if (client && may(client)) {
    noteAccount(clientId);
    return client;
  }
  throw principal.clientId === clientId
    ? lacks('administer')
    : new ForbiddenError(`You may not manage the users of client ${clientId}`);
}

/** Throws the same error whether the account exists or not. @throws ForbiddenError */
export async function requireMemberAccount(on: Platform, principal: Principal, clientId: number): Promise<void> {
  if (principal.clientId === clientId) return;
  await accountFor(on, principal, clientId, (client) => accounts.resells(principal, client));
}

/**
 * To be asked again with `sql`, once the account is locked.
 * @throws ForbiddenError for a caller who may not manage the account's members
 */
export async function requireStaffing(on: Platform, principal: Principal, clientId: number, sql?: Sql): Promise<void> {
  await accountFor(on, principal, clientId, (client) => mayStaff(principal, client), sql);
}

async function placeIn(sql: Transaction['sql'], clientId: number, userId: number) {
  const memberships = await store.membershipsOf(sql, [userId]);
  const membership = memberships.find(({ client_id }) => client_id === clientId);
  if (!membership) throw new NotFoundError('User', userId);
  return membership;
}

/** The account must be locked. */
async function requireManaged(tx: Transaction, principal: Principal, clientId: number, userId: number) {
  const user = await store.findUser(tx.sql, userId);
  await placeIn(tx.sql, clientId, userId);
  if (!user) throw new NotFoundError('User', userId);
  if (isBeyond(principal, user, clientId)) {
    throw new ForbiddenError(`User ${userId} has more rights than you, so you cannot change their role`);
  }
}

/** Returns the role that a user is to have in an account. @throws InvalidError */
export function givenRole(principal: Principal, wanted: UserRole): Role {
  const above = ({ name }: Role) => `You can't give the role ${name}, which is above yours.`;
  return acceptedRole(principal, wanted, { field: 'user_role', above });
}

/** @throws ForbiddenError, NotFoundError */
export async function roleOfMember(on: Platform, principal: Principal, clientId: number, userId: number) {
  await requireMemberAccount(on, principal, clientId);
  return roleOf((await placeIn(on.database.sql, clientId, userId)).role_id);
}

/** @throws ForbiddenError, NotFoundError, InvalidError, ConflictError for the last administrator */
export async function changeRoleOfMember(
  on: Platform,
  principal: Principal,
  clientId: number,
  userId: number,
  wanted: UserRole | undefined = {},
): Promise<void> {
  await requireStaffing(on, principal, clientId);
  const role = namesNone(wanted) ? undefined : givenRole(principal, wanted);
  const credentials = await on.database.accept(async (tx) => {
    await accounts.lockClients(tx, [clientId]);
    await requireStaffing(on, principal, clientId, tx.sql);
    await requireManaged(tx, principal, clientId, userId);
    if (!role) return { tokens: [], logins: [] };
    if (role.id !== ROLES.administrators.id) {
      await requireAnotherAdministrator(tx, userId, [clientId]);
      await expireInvitations(tx.sql, { clientIds: [clientId], invitedBy: userId }, tx.now);
    }
    await store.updateRole(tx.sql, { clientId, userId, roleId: role.id });
    return announceUser(tx, userId, [clientId]);
  });
  on.authenticator.forget(credentials);
}

/**
 * Removes a member. A user without another account is deleted. Users may leave by themselves.
 * @throws ForbiddenError, NotFoundError, ConflictError
 */
export async function removeMember(on: Platform, principal: Principal, clientId: number, userId: number) {
  const leaving = principal.inPerson === true && principal.userId === userId;
  if (!leaving) await requireStaffing(on, principal, clientId);
  const credentials = await on.database.accept(async (tx) => {
    await accounts.lockWithLookedAfter(tx, clientId, { userId });
    if (!leaving) await requireStaffing(on, principal, clientId, tx.sql);
    await requireManaged(tx, principal, clientId, userId);
    return takeOut(tx, userId, clientId);
  });
  on.authenticator.forget(credentials);
}
