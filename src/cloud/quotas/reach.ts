import type { Database } from '../../db/database.ts';
import { findClient, resells } from '../../iam/accounts/service.ts';
import { NotFoundError } from '../../lib/errors.ts';
import { type Principal, requirePlatform } from '../../requests/principal.ts';

/** Quotas are read by the account and its reseller. @throws NotFoundError */
export async function requireReadable(
  database: Database,
  principal: Principal,
  clientId: number,
): Promise<void> {
  if (principal.clientId === clientId) return;
  const client = await findClient(database.sql, clientId);
  if (!client || !resells(principal, client)) throw new NotFoundError('Client', clientId);
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
export const refuseOthers = (principal: Principal): void =>
  requirePlatform(principal, 'changes quotas; send a limit request instead');
