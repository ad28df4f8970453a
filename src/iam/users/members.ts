import type { Sql, Transaction } from '../../db/database.ts';
import { ForbiddenError, NotFoundError } from '../../lib/errors.ts';
import { noteAccount } from '../../lib/request-context.ts';
import type { Platform } from '../../platform.ts';
import { type Principal, ROLES } from '../../requests/principal.ts';
import {
  type ClientEntry,
  findClient,
  lockClients,
  lockWithLookedAfter,
  resells,
} from '../accounts/service.ts';
import { namesNone, type Role, roleOf } from '../identity/schema.ts';
import { announceUser } from '../logins/in-transaction.ts';
import { expireInvitations } from './invitation-store.ts';
import { requireAnotherAdministrator, takeOut } from './removal.ts';
import { isBeyond, mayStaff } from './rights.ts';
import { givenRole } from './roles.ts';
import type { UserRole } from './schema.ts';
import * as store from './store.ts';

/* The members of an account and their roles. Its administrators and its reseller decide. */

async function accountFor(
  on: Platform,
  principal: Principal,
  clientId: number,
  may: (client: ClientEntry) => boolean,
  sql = on.database.sql,
): Promise<ClientEntry> {
  const client = await findClient(sql, clientId);
  if (client && may(client)) {
    noteAccount(clientId);
    return client;
  }
  throw new ForbiddenError(
    principal.clientId === clientId
      ? `Only an administrator of client ${clientId} may do this`
      : `You may not manage the users of client ${clientId}`,
  );
}

/** Throws the same error whether the account exists or not. @throws ForbiddenError */
export async function requireMemberAccount(
  on: Platform,
  principal: Principal,
  clientId: number,
): Promise<void> {
  if (principal.clientId === clientId) return;
  await accountFor(on, principal, clientId, (client) => resells(principal, client));
}

/**
 * To be asked again with `sql`, once the account is locked.
 * @throws ForbiddenError for a caller who may not manage the account's members
 */
export async function requireStaffing(
  on: Platform,
  principal: Principal,
  clientId: number,
  sql?: Sql,
): Promise<void> {
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

/** @throws ForbiddenError, NotFoundError */
export async function roleOfMember(
  on: Platform,
  principal: Principal,
  clientId: number,
  userId: number,
): Promise<Role> {
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
    await lockClients(tx, [clientId]);
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
export async function removeMember(
  on: Platform,
  principal: Principal,
  clientId: number,
  userId: number,
): Promise<void> {
  const leaving = principal.inPerson === true && principal.userId === userId;
  if (!leaving) await requireStaffing(on, principal, clientId);
  const credentials = await on.database.accept(async (tx) => {
    await lockWithLookedAfter(tx, clientId, { userId });
    if (!leaving) await requireStaffing(on, principal, clientId, tx.sql);
    await requireManaged(tx, principal, clientId, userId);
    return takeOut(tx, userId, clientId);
  });
  on.authenticator.forget(credentials);
}
