import { randomBytes } from 'node:crypto';
import { prepareProjects } from '../../../cloud/network/project-changes/service.ts';
import { violates } from '../../../db/database.ts';
import { requireEmail } from '../../../lib/email.ts';
import { found } from '../../../lib/ids.ts';
import { isId, pageToken, placeOf } from '../../../lib/page.ts';
import type { Platform } from '../../../platform.ts';
import { type Principal, ROLES, tokenText } from '../../../requests/principal.ts';
import { insertReseller, requireResellerManager } from '../../accounts/service.ts';
import { AddressTakenError } from '../../accounts/users/in-transaction.ts';
import { insertAccount } from '../../new-accounts/in-transaction.ts';
import { makeToken } from '../../tokens/service.ts';
import type { CreateReseller, NewReseller, Reseller, ResellerList, ResellerListQuery } from './schema.ts';
import * as store from './store.ts';

/* Resellers, for the platform administrator. Every function throws ForbiddenError for others. */

/**
 * Makes a reseller with its own account, an administrator and an API token.
 * @throws InvalidError for an address that another user has
 */
export async function createReseller(
  on: Platform,
  principal: Principal,
  { name, email }: CreateReseller,
): Promise<NewReseller> {
  requireResellerManager(principal);
  if (email !== undefined) requireEmail(email);
  const now = on.clock.now();
  try {
    return await on.database.accept(async (tx) => {
      const id = await insertReseller(tx.sql, { name, created_at: now });
      tx.made(id);
      const { clientId, userId } = await insertAccount(tx.sql, {
        company: name,
        resellerId: id,
        administrator: {
          email: email ?? `reseller-${id}@${randomBytes(8).toString('hex')}.invalid`,
          reseller_id: id,
          platform_administrator: false,
        },
        now,
      });
      await prepareProjects(tx, on.catalog, clientId);
      const token = await makeToken(tx, {
        client_id: clientId,
        user_id: userId,
        role_id: ROLES.administrators.id,
        name: 'Reseller',
        description: '',
        expires_at: null,
        created_at: now,
      });
      const made = { id, name, client_id: clientId, clients: 1, created_at: now };
      return { ...presented(made), token: tokenText(2, token.id, token.secret) };
    });
  } catch (error) {
    if (violates(error, 'users_by_email')) throw new AddressTakenError('email');
    throw error;
  }
}

export async function listResellers(
  on: Platform,
  principal: Principal,
  { limit = 100, page_token }: ResellerListQuery,
): Promise<ResellerList> {
  requireResellerManager(principal);
  const after = placeOf(page_token, isId) ?? 0;
  const rows = await store.listResellers(on.database.sql, { after, limit: limit + 1 });
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    results: rows.slice(0, limit).map(presented),
    next_page_token: last ? pageToken(last.id) : null,
  };
}

/** @throws NotFoundError */
export async function getReseller(on: Platform, principal: Principal, id: number): Promise<Reseller> {
  requireResellerManager(principal);
  return presented(found('Reseller', id, await store.findReseller(on.database.sql, id)));
}

const presented = (row: store.ResellerRow): Reseller => ({
  ...row,
  created_at: row.created_at.toISOString(),
});
