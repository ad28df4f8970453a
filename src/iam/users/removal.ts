import type { Transaction } from '../../db/database.ts';
import { ConflictError, ForbiddenError } from '../../lib/errors.ts';
import * as store from './store.ts';

/**
 * Locks the accounts, so that of two administrators who remove each other one stays.
 * @throws ForbiddenError for a user with API tokens there, ConflictError for the last administrator
 */
export async function requireRemovable(
  tx: Transaction,
  user: store.UserRow,
  clientIds: readonly number[],
  now: Date,
): Promise<void> {
  await store.lockClients(tx, clientIds);
  if (user.platform_administrator && clientIds.includes(user.home_id)) {
    throw new ConflictError(`User ${user.id} is the administrator of the platform and stays where they are`);
  }
  const tokens = await store.countTokens(tx.sql, user.id, clientIds, now);
  if (tokens > 0) {
    throw new ForbiddenError(
      `User ${user.id} has ${tokens} active API token${tokens === 1 ? '' : 's'}; delete them first`,
    );
  }
  await requireAnotherAdministrator(tx, user.id, clientIds);
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
