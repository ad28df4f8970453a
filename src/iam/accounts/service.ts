import type { Sql, Transaction } from '../../db/database.ts';
import { allows, type Principal, requirePlatform } from '../../requests/principal.ts';

export interface ClientEntry {
  id: number;
  resellerId: number;
}

/** Returns the account unless it is deleted. */
export async function findClient(db: Sql, clientId: number): Promise<ClientEntry | undefined> {
  return db
    .selectFrom('clients')
    .select(['id', 'reseller_id as resellerId'])
    .where('id', '=', clientId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Whether there is such a reseller that is not deleted. */
export async function resellerExists(db: Sql, id: number): Promise<boolean> {
  const row = await db
    .selectFrom('resellers')
    .select('id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether the user is one of the reseller's users, who look after its clients. Stays so until the transaction ends. */
export async function worksForReseller(
  tx: Transaction,
  userId: number,
  resellerId: number,
): Promise<boolean> {
  const seller = await tx.sql
    .selectFrom('users')
    .select('id')
    .where('id', '=', userId)
    .where('reseller_id', '=', resellerId)
    .where('deleted_at', 'is', null)
    .forShare()
    .executeTakeFirst();
  return seller !== undefined;
}

/**
 * Whether the caller may act for the account as its reseller; the platform administrator may for all
 * accounts.
 */
export function resells(principal: Principal, client: Pick<ClientEntry, 'resellerId'>): boolean {
  if (principal.platformAdministrator) return true;
  return allows(principal, 'resell') && principal.resellerId === client.resellerId;
}

/** Resellers are managed by the platform administrator. @throws ForbiddenError */
export const requireResellerManager = (principal: Principal): void =>
  requirePlatform(principal, 'manages resellers');
