import type { Database, Sql } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import { requireEmail } from '../../../lib/email.ts';
import { ForbiddenError, NotFoundError } from '../../../lib/errors.ts';
import { MOST_LISTED, orderingOf } from '../../../lib/ordered-list.ts';
import { pagesAround } from '../../../lib/page-address.ts';
import { isoMicros } from '../../../lib/timestamps.ts';
import type { Mailer } from '../../../mail/mailer.ts';
import { type Principal, ROLES } from '../../../requests/principal.ts';
import { lockToAdd, lockWithLookedAfter } from '../../accounts/in-transaction.ts';
import { AddressTakenError } from '../../accounts/users/in-transaction.ts';
import type { Authenticator } from '../../identity/service.ts';
import type { Guesses } from '../../logins/guesses/service.ts';
import { findLogin } from '../invitation-store.ts';
import { insertInvited, VALID_MS } from '../invited.ts';
import { takeOut } from '../removal.ts';
import type { Users } from '../service.ts';
import type {
  CreateSeller,
  InvitedSeller,
  Seller,
  SellerListQuery,
  SellerPage,
  UpdateSeller,
} from './schema.ts';
import * as store from './store.ts';

/**
 * Sellers: people whom a reseller lets work for it, beside the administrator whom it has from the start. Each is a user
 * of the reseller's own account with the reseller's rights, and may be named as the one who looks after a client.
 * Resellers reach their own, the platform administrator all.
 */
export interface Sellers {
  /**
   * Invites a seller into the caller's own account.
   * @throws ForbiddenError for a caller of no reseller, InvalidError, TooManyRequestsError
   */
  create(principal: Principal, request: CreateSeller): Promise<InvitedSeller>;
  /** Returns a page if the query has a limit, else everything in an array. */
  list(principal: Principal, query: SellerListQuery): Promise<Seller[] | SellerPage>;
  /** Finds deleted sellers, too. @throws NotFoundError */
  get(principal: Principal, id: number): Promise<Seller>;
  /** @throws NotFoundError, InvalidError, ForbiddenError for a seller who also belongs to other accounts */
  update(principal: Principal, id: number, request: UpdateSeller): Promise<Seller>;
  /**
   * Ends the seller's logins. Nobody looks after their clients from then on.
   * @throws NotFoundError, ForbiddenError for a seller with API tokens, ConflictError for the account's last administrator
   */
  delete(principal: Principal, id: number): Promise<void>;
}

export function createSellers(deps: {
  database: Database;
  clock: Clock;
  authenticator: Authenticator;
  guesses: Pick<Guesses, 'withAddress'>;
  mailer: Mailer;
  users: Pick<Users, 'update'>;
}): Sellers {
  const { database, clock, authenticator, guesses, mailer, users } = deps;

  async function found(sql: Sql, principal: Principal, id: number): Promise<store.SellerRow> {
    const row = await store.findSeller(sql, id, reachedBy(principal));
    if (!row) throw new NotFoundError('Seller', id);
    principal.writes?.concerns(row.client_id);
    return row;
  }

  async function present(sql: Sql, principal: Principal, id: number): Promise<store.SellerRow> {
    const row = await found(sql, principal, id);
    if (row.deleted_at) throw new NotFoundError('Seller', id);
    return row;
  }

  return {
    async create(principal, { email, full_name: name, phone = null }) {
      const { resellerId, clientId } = principal;
      if (resellerId === undefined) {
        throw new ForbiddenError(
          'The token belongs to no reseller, so the seller would not belong to one either',
        );
      }
      requireEmail(email);
      return guesses.withAddress(principal.userId, () =>
        database.accept(principal, async (tx) => {
          await lockToAdd(tx, clientId);
          // Rights beyond accounts only exist in a user's first account.
          if (await findLogin(tx.sql, email)) throw new AddressTakenError('email');
          const now = clock.now();
          const invited = await insertInvited(
            tx,
            principal,
            {
              client_id: clientId,
              reseller_id: resellerId,
              is_seller: true,
              email,
              name,
              phone,
              created_at: now,
            },
            { roleId: ROLES.administrators.id, validMs: VALID_MS.seller, now, mailer },
          );
          const { invitation_token, invitation_expires } = invited;
          const seller = presented(await found(tx.sql, principal, invited.user_id));
          return { ...seller, invitation_token, invitation_expires };
        }),
      );
    },

    async list(principal, query) {
      const { limit = MOST_LISTED, offset = 0, ...rest } = query;
      const page = { order: orderingOf<store.SellerOrder['field']>(query.ordering), limit, offset };
      const { count, rows } = await store.listSellers(database.sql, reachedBy(principal), query, page);
      const results = rows.map(presented);
      if (query.limit === undefined) return results;
      return { count, ...pagesAround('/iam/admin/sellers', { limit, offset }, count, rest), results };
    },

    get: async (principal, id) => presented(await found(database.sql, principal, id)),

    async update(principal, id, { email, full_name: name, phone }) {
      await present(database.sql, principal, id);
      // A seller without a name is shown with an empty one.
      const changes = { email, name: name === '' ? null : name, phone };
      const given = Object.entries(changes).filter(([, value]) => value !== undefined);
      await users.update(principal, id, Object.fromEntries(given));
      return presented(await found(database.sql, principal, id));
    },

    async delete(principal, id) {
      const ended = await database.accept(principal, async (tx) => {
        const { client_id: clientId } = await present(tx.sql, principal, id);
        await lockWithLookedAfter(tx, clientId, { userId: id });
        await present(tx.sql, principal, id);
        return takeOut(tx, id, clientId, clock.now());
      });
      authenticator.forget(ended);
    },
  };
}

const reachedBy = (principal: Principal): store.SellersOf => ({
  resellerId: principal.platformAdministrator ? undefined : principal.resellerId,
});

function presented(row: store.SellerRow): Seller {
  const { id, email, phone, reseller_name, company, activated } = row;
  return {
    id,
    email,
    full_name: row.name ?? '',
    phone,
    reseller_name,
    company,
    date_joined: isoMicros(row.created_at),
    activated,
    deleted: row.deleted_at !== null,
  };
}
