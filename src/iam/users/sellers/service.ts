import type { Sql } from '../../../db/database.ts';
import { requireEmail } from '../../../lib/email.ts';
import { ForbiddenError, NotFoundError } from '../../../lib/errors.ts';
import { MOST_LISTED, orderingOf } from '../../../lib/lists.ts';
import { pagesAround } from '../../../lib/page.ts';
import { noteAccount } from '../../../lib/request-context.ts';
import { isoMicros } from '../../../lib/time.ts';
import type { Platform } from '../../../platform.ts';
import { type Principal, ROLES } from '../../../requests/principal.ts';
import { lockToAdd, lockWithLookedAfter } from '../../accounts/service.ts';
import { AddressTakenError } from '../../accounts/users/in-transaction.ts';
import { findLogin } from '../invitation-store.ts';
import { insertInvited, VALID_MS } from '../invited.ts';
import { takeOut } from '../members.ts';
import { updateUser } from '../service.ts';
import type * as schema from './schema.ts';
import * as store from './store.ts';

/*
 * Sellers: people whom a reseller lets work for it, beside the administrator whom it has from the start. Each is a user of
 * the reseller's own account with the reseller's rights, and may be named as the one who looks after a client. Resellers
 * reach their own, the platform administrator all.
 */

async function found(sql: Sql, principal: Principal, id: number): Promise<store.SellerRow> {
  const row = await store.findSeller(sql, id, reachedBy(principal));
  if (!row) throw new NotFoundError('Seller', id);
  noteAccount(row.client_id);
  return row;
}

async function present(sql: Sql, principal: Principal, id: number): Promise<store.SellerRow> {
  const row = await found(sql, principal, id);
  if (row.deleted_at) throw new NotFoundError('Seller', id);
  return row;
}

/**
 * Invites a seller into the caller's own account.
 * @throws ForbiddenError for a caller of no reseller, InvalidError, TooManyRequestsError
 */
export async function createSeller(
  on: Platform,
  principal: Principal,
  { email, full_name: name, phone = null }: schema.CreateSeller,
): Promise<schema.InvitedSeller> {
  const { resellerId, clientId } = principal;
  if (resellerId === undefined) {
    throw new ForbiddenError('The token belongs to no reseller, so the seller would not belong to one either');
  }
  requireEmail(email);
  return on.guesses.withAddress(principal.userId, () =>
    on.database.accept(async (tx) => {
      await lockToAdd(tx, clientId);
      // Rights beyond accounts only exist in a user's first account.
      if (await findLogin(tx.sql, email)) throw new AddressTakenError('email');
      const now = tx.now;
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
        { roleId: ROLES.administrators.id, validMs: VALID_MS.seller, now, mailer: on.mailer },
      );
      const { invitation_token, invitation_expires } = invited;
      const seller = presented(await found(tx.sql, principal, invited.user_id));
      return { ...seller, invitation_token, invitation_expires };
    }),
  );
}

/** Returns a page if the query has a limit, else everything in an array. */
export async function listSellers(
  on: Platform,
  principal: Principal,
  query: schema.SellerListQuery,
): Promise<schema.Seller[] | schema.SellerPage> {
  const { limit = MOST_LISTED, offset = 0, ...rest } = query;
  const page = { order: orderingOf<store.SellerOrder['field']>(query.ordering), limit, offset };
  const { count, rows } = await store.listSellers(on.database.sql, reachedBy(principal), query, page);
  const results = rows.map(presented);
  if (query.limit === undefined) return results;
  return { count, ...pagesAround('/iam/admin/sellers', { limit, offset }, count, rest), results };
}

/** Finds deleted sellers, too. @throws NotFoundError */
export const getSeller = async (on: Platform, principal: Principal, id: number): Promise<schema.Seller> =>
  presented(await found(on.database.sql, principal, id));

/** @throws NotFoundError, InvalidError, ForbiddenError for a seller who also belongs to other accounts */
export async function updateSeller(
  on: Platform,
  principal: Principal,
  id: number,
  { email, full_name: name, phone }: schema.UpdateSeller,
): Promise<schema.Seller> {
  await present(on.database.sql, principal, id);
  // A seller without a name is shown with an empty one.
  const changes = { email, name: name === '' ? null : name, phone };
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  await updateUser(on, principal, id, Object.fromEntries(given));
  return presented(await found(on.database.sql, principal, id));
}

/**
 * Ends the seller's logins. Nobody looks after their clients from then on.
 * @throws NotFoundError, ForbiddenError for a seller with API tokens, ConflictError for the account's last administrator
 */
export async function deleteSeller(on: Platform, principal: Principal, id: number): Promise<void> {
  const ended = await on.database.accept(async (tx) => {
    const { client_id: clientId } = await present(tx.sql, principal, id);
    await lockWithLookedAfter(tx, clientId, { userId: id });
    await present(tx.sql, principal, id);
    return takeOut(tx, id, clientId);
  });
  on.authenticator.forget(ended);
}

const reachedBy = (principal: Principal): store.SellersOf => ({
  resellerId: principal.platformAdministrator ? undefined : principal.resellerId,
});

function presented(row: store.SellerRow): schema.Seller {
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
