import { allows, type Principal } from '../identity/principal.ts';
import type { Membership, UserRow } from './store.ts';

/** Whether a membership is one that the caller may know of. */
export function mayKnow(principal: Principal, membership: Membership): boolean {
  if (principal.platformAdministrator || membership.user_id === principal.userId) return true;
  if (membership.client_id === principal.clientId) return true;
  return allows(principal, 'resell') && membership.reseller_id === principal.resellerId;
}

/**
 * Whether the caller looks after the user: as an administrator of the account that made the user, as its reseller,
 * or as the platform's administrator. One who only joined an account stays their own master, and nobody reaches up.
 */
export function looksAfter(principal: Principal, user: UserRow): boolean {
  if (principal.platformAdministrator) return true;
  if (user.platform_administrator) return false;
  if (user.reseller_id !== null && user.reseller_id !== principal.resellerId) return false;
  if (allows(principal, 'resell') && user.home_reseller_id === principal.resellerId) return true;
  return allows(principal, 'administer') && user.home_id === principal.clientId;
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
