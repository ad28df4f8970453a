import type { Transaction } from '../../db/database.ts';
import { ConflictError, ForbiddenError, NotFoundError } from '../../lib/errors.ts';
import { lockWithLookedAfter, unassignSellers } from '../accounts/service.ts';
import { type Credentials, together } from '../identity/service.ts';
import { announceUser, endLogins } from '../logins/in-transaction.ts';
import { expireInvitations } from './invitation-store.ts';
import * as store from './store.ts';

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
  if (user.home_id === clientId && user.reseller_id !== null) await unassignSellers(tx.sql, [user.id]);
  // The other memberships can't change meanwhile, since the user is locked.
  const [next] = await store.membershipsOf(tx.sql, [user.id]);
  if (!next) {
    await store.markDeleted(tx.sql, user.id, tx.now);
    return together(changed, await endLogins(tx, { userId: user.id }));
  }
  if (user.home_id === clientId) await store.moveHome(tx.sql, user.id, next.client_id);
  return changed;
}

/**
 * Locks accounts, then the user: if two administrators remove each other, one of them stays. The clients that the user
 * looks after are among them, as whoever gives them a seller locks the client first, too. A removal from another account
 * may have given the user another home until then.
 */
async function lockedUser(tx: Transaction, userId: number, clientId: number): Promise<store.UserRow> {
  await lockWithLookedAfter(tx, clientId, { userId });
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
export async function requireAnotherAdministrator(
  tx: Transaction,
  userId: number,
  clientIds: readonly number[],
): Promise<void> {
  const [only] = await store.accountsOnlyAdministeredBy(tx.sql, userId, clientIds);
  if (only === undefined) return;
  throw new ConflictError(
    `User ${userId} is the only administrator of client ${only}; make another user its administrator first`,
  );
}
