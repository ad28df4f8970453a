import { randomBytes } from 'node:crypto';
import type { Catalog } from '../../../cloud/ground/catalog/service.ts';
import { prepareProjects } from '../../../cloud/network/project-changes/in-transaction.ts';
import { type Database, violates } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import { requireEmail } from '../../../lib/email.ts';
import { found } from '../../../lib/found.ts';
import { pageToken, placeOf } from '../../../lib/page-token.ts';
import { type Principal, ROLES } from '../../../requests/principal.ts';
import { requireResellerManager } from '../../accounts/service.ts';
import { AddressTakenError } from '../../accounts/users/in-transaction.ts';
import { tokenText } from '../../identity/schema.ts';
import { makeToken } from '../../tokens/in-transaction.ts';
import { insertAccount, insertReseller } from '../in-transaction.ts';
import type { CreateReseller, NewReseller, Reseller, ResellerList, ResellerListQuery } from './schema.ts';
import { findReseller, listResellers, type ResellerRow } from './store.ts';

/** Resellers, for the platform administrator. Every method throws ForbiddenError for others. */
export interface Resellers {
  /**
   * Makes a reseller with its own account, an administrator and an API token.
   * @throws InvalidError for an address that another user has
   */
  create(principal: Principal, request: CreateReseller): Promise<NewReseller>;
  list(principal: Principal, query: ResellerListQuery): Promise<ResellerList>;
  /** @throws NotFoundError */
  get(principal: Principal, id: number): Promise<Reseller>;
}

export function createResellers(deps: {
  database: Database;
  clock: Clock;
  catalog: Pick<Catalog, 'regions'>;
}): Resellers {
  const { database, clock, catalog } = deps;

  return {
    async create(principal, { name, email }) {
      requireResellerManager(principal);
      if (email !== undefined) requireEmail(email);
      const now = clock.now();
      try {
        return await database.accept(principal, async (tx) => {
          const id = await insertReseller(tx.sql, { name, created_at: now });
          principal.writes?.made(id);
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
          await prepareProjects(tx, catalog, now, clientId);
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
    },

    async list(principal, { limit = 100, page_token }) {
      requireResellerManager(principal);
      const after = placeOf(page_token, (place): place is number => Number.isSafeInteger(place)) ?? 0;
      const rows = await listResellers(database.sql, { after, limit: limit + 1 });
      const last = rows.length > limit ? rows[limit - 1] : undefined;
      return {
        results: rows.slice(0, limit).map(presented),
        next_page_token: last ? pageToken(last.id) : null,
      };
    },

    async get(principal, id) {
      requireResellerManager(principal);
      return presented(found('Reseller', id, await findReseller(database.sql, id)));
    },
  };
}

const presented = (row: ResellerRow): Reseller => ({ ...row, created_at: row.created_at.toISOString() });
