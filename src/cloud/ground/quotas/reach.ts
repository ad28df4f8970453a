import type { Database, Sql, Transaction } from '../../../db/database.ts';
import { findClient, lockClients, resells } from '../../../iam/accounts/service.ts';
import { NotFoundError } from '../../../lib/errors.ts';
import { noteAccount } from '../../../lib/request-context.ts';
import { type Principal, requirePlatform } from '../../../requests/principal.ts';

/** Quotas are read by the account and its reseller. @throws NotFoundError */
export async function requireReadable(
  { sql }: { sql: Sql },
  principal: Principal,
  clientId: number,
): Promise<void> {
  if (principal.clientId === clientId) return;
  const client = await findClient(sql, clientId);
  if (!client || !resells(principal, client)) throw new NotFoundError('Client', clientId);
}

/** Does the same in the transaction of a change, with the account locked. @throws NotFoundError */
export async function lockReadable(tx: Transaction, principal: Principal, clientId: number): Promise<void> {
  await lockClients(tx, [clientId]);
  await requireReadable(tx, principal, clientId);
  noteAccount(clientId);
}

/** Limits are changed by the platform administrator alone. @throws NotFoundError, ForbiddenError */
export async function requireChangeable(
  database: Database,
  principal: Principal,
  clientId: number,
): Promise<void> {
  await requireReadable(database, principal, clientId);
  refuseOthers(principal);
  noteAccount(clientId);
}

/** @throws ForbiddenError */
export const refuseOthers = (principal: Principal): void =>
  requirePlatform(principal, 'changes quotas; send a limit request instead');
