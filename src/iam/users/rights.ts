import { allows, type Principal } from '../../requests/principal.ts';
import type { Membership, UserRow } from './store.ts';

/**
 * Whether the caller may know of a membership. A caller who acts in a user's name learns nothing of the user's others.
 */
export function mayKnow(principal: Principal, membership: Membership): boolean {
  if (principal.platformAdministrator || membership.client_id === principal.clientId) return true;
  if (principal.inPerson && membership.user_id === principal.userId) return true;
  return allows(principal, 'resell') && membership.reseller_id === principal.resellerId;
}

/**
 * Whether the caller manages every account that the user belongs to, and the user has no higher rights.
 * Nobody manages a user who has joined an account elsewhere.
 */
export function looksAfter(principal: Principal, user: UserRow, memberships: readonly Membership[]): boolean {
  if (principal.platformAdministrator) return true;
  return memberships.length > 0 && placesInReach(principal, user, memberships).length === memberships.length;
}

/** Returns the user's memberships that the caller may block or remove: those in accounts that the caller manages. */
export function placesInReach(principal: Principal, user: UserRow, memberships: readonly Membership[]): Membership[] {
  return memberships.filter(
    ({ client_id: id, reseller_id: resellerId }) =>
      mayStaff(principal, { id, resellerId }) && !isBeyond(principal, user, id),
  );
}

/** Whether the caller may manage the account's members and their roles. */
export function mayStaff(principal: Principal, client: { id: number; resellerId: number }): boolean {
  if (principal.platformAdministrator) return true;
  if (allows(principal, 'resell') && client.resellerId === principal.resellerId) return true;
  return allows(principal, 'administer') && client.id === principal.clientId;
}

/**
 * Whether the user's membership carries rights beyond accounts that the caller lacks. They only exist in the
 * home account.
 */
export function isBeyond(principal: Principal, user: UserRow, clientId: number): boolean {
  if (principal.platformAdministrator || user.home_id !== clientId) return false;
  return user.platform_administrator || (user.reseller_id !== null && !mayActFor(principal, user.reseller_id));
}

/** Whether the caller has the rights that a user of this reseller has beyond the account. */
export function mayActFor(principal: Principal, resellerId: number): boolean {
  return principal.platformAdministrator || principal.resellerId === resellerId;
}
