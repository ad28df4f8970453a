import { allows, type Principal } from '../../requests/principal.ts';
import type { Membership, UserRow } from './store.ts';

/** Whether a membership is one that the caller may know of. Who only acts in a user's name learns nothing of their others. */
export function mayKnow(principal: Principal, membership: Membership): boolean {
  if (principal.platformAdministrator || membership.client_id === principal.clientId) return true;
  if (principal.inPerson && membership.user_id === principal.userId) return true;
  return allows(principal, 'resell') && membership.reseller_id === principal.resellerId;
}

/**
 * Whether the caller looks after the user: staffs every account that the user belongs to. Whoever joined another one
 * is their own master, and nobody reaches up.
 */
export function looksAfter(principal: Principal, user: UserRow, memberships: readonly Membership[]): boolean {
  if (principal.platformAdministrator) return true;
  return memberships.length > 0 && placesInReach(principal, user, memberships).length === memberships.length;
}

/** The places of the user that the caller may shut or take away: in accounts that the caller staffs, and no others. */
export function placesInReach(
  principal: Principal,
  user: UserRow,
  memberships: readonly Membership[],
): Membership[] {
  return memberships.filter(
    ({ client_id: id, reseller_id: resellerId }) =>
      mayStaff(principal, { id, resellerId }) && !isBeyond(principal, user, id),
  );
}

/** Whether the caller may say who belongs to the account, and as what. */
export function mayStaff(principal: Principal, client: { id: number; resellerId: number }): boolean {
  if (principal.platformAdministrator) return true;
  if (allows(principal, 'resell') && client.resellerId === principal.resellerId) return true;
  return allows(principal, 'administer') && client.id === principal.clientId;
}

/** Whether the user's place in the account carries rights beyond accounts that the caller lacks. They hold at home alone. */
export function isBeyond(principal: Principal, user: UserRow, clientId: number): boolean {
  if (principal.platformAdministrator || user.home_id !== clientId) return false;
  return (
    user.platform_administrator || (user.reseller_id !== null && user.reseller_id !== principal.resellerId)
  );
}
