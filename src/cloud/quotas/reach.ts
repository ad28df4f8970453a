import type { Database } from '../../db/database.ts';
import { ForbiddenError, NotFoundError } from '../../lib/errors.ts';
import { allows, type Principal } from '../../requests/principal.ts';
import { resellerOf } from './store.ts';

/** Quotas are read by the account and its reseller. @throws NotFoundError */
export async function requireReadable(
  database: Database,
  principal: Principal,
  clientId: number,
): Promise<void> {
  if (principal.clientId === clientId) return;
  const resellerId = await resellerOf(database.sql, clientId);
  const reaches =
    principal.platformAdministrator || (allows(principal, 'resell') && principal.resellerId === resellerId);
  if (resellerId === undefined || !reaches) throw new NotFoundError('Client', clientId);
}

/** Limits are changed by the platform administrator alone. @throws NotFoundError, ForbiddenError */
export async function requireChangeable(
  database: Database,
  principal: Principal,
  clientId: number,
): Promise<void> {
  await requireReadable(database, principal, clientId);
  refuseOthers(principal);
  principal.writes?.concerns(clientId);
}

/** @throws ForbiddenError */
export function refuseOthers(principal: Principal): void {
  if (principal.platformAdministrator) return;
  throw new ForbiddenError('Only the platform administrator changes quotas; send a limit request instead');
}
