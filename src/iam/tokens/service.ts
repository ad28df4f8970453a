import { momentIn } from '../../lib/calendar-time.ts';
import { ForbiddenError, InvalidError, NotFoundError } from '../../lib/errors.ts';
import { noteAccount } from '../../lib/request-context.ts';
import type { Platform } from '../../platform.ts';
import { allows, type Principal } from '../../requests/principal.ts';
import { lockClients, lockToAdd } from '../accounts/in-transaction.ts';
import { findClient, resells } from '../accounts/service.ts';
import { announceTokens, together } from '../identity/in-transaction.ts';
import {
  acceptedRole,
  findRoleByText,
  invalidRole,
  isAbove,
  type Role,
  roleOf,
  tokenText,
} from '../identity/schema.ts';
import { endLogins } from '../logins/in-transaction.ts';
import { makeToken } from './in-transaction.ts';
import { presentedToken } from './presenter.ts';
import type { ApiToken, CreateApiToken, TokenListQuery } from './schema.ts';
import * as store from './store.ts';

/*
 * API tokens of an account. Administrators manage all of them, other users their own. The account's reseller and the
 * platform administrator may act for it: a token that they make belongs to the account's administrator and has rights in
 * that account only.
 */

/** Tokens of one account that may be valid at the same time. The platform administrator may make more. */
const MAX_TOKENS = 100;

async function requireAccount(
  on: Platform,
  principal: Principal,
  clientId: number,
  sql = on.database.sql,
): Promise<void> {
  if (principal.clientId === clientId) return;
  const client = allows(principal, 'resell') ? await findClient(sql, clientId) : undefined;
  if (client && resells(principal, client)) {
    noteAccount(clientId);
    return;
  }
  if (principal.platformAdministrator) throw new NotFoundError('Client', clientId);
  throw new ForbiddenError(`You may not manage the tokens of client ${clientId}`);
}

async function visible(
  on: Platform,
  principal: Principal,
  clientId: number,
  id: number,
  sql = on.database.sql,
) {
  const row = await store.findToken(sql, clientId, id, on.clock.now());
  if (!row || !sees(principal, clientId, row.user_id)) throw new NotFoundError('Token', id);
  return row;
}

async function ownerOf(on: Platform, principal: Principal, clientId: number): Promise<number> {
  if (principal.clientId === clientId) return principal.userId;
  const userId = await store.findAccountAdministrator(on.database.sql, clientId);
  if (userId === undefined) {
    throw new ForbiddenError(`Client ${clientId} has no user of its own that a token could belong to`);
  }
  return userId;
}

/**
 * @throws ForbiddenError for an account that the caller may not manage, NotFoundError if the platform
 * administrator names one that doesn't exist
 */
export const requireTokenAccount = (on: Platform, principal: Principal, clientId: number): Promise<void> =>
  requireAccount(on, principal, clientId);

/** `version` 1 writes the token as `<id>$<secret>`, 2 as `<id>_<secret>`. @throws InvalidError */
export async function createToken(
  on: Platform,
  principal: Principal,
  clientId: number,
  request: CreateApiToken,
  version: 1 | 2,
): Promise<ApiToken & { token: string }> {
  await requireAccount(on, principal, clientId);
  const now = on.clock.now();
  const role = acceptedRole(principal, request.client_user.role ?? {}, {
    field: 'client_user.role',
    above: ({ name }) => `Can't create token with role ${name}`,
  });
  const expiresAt = acceptedExpiry(request.exp_date, now);
  const userId = await ownerOf(on, principal, clientId);
  const made = await on.database.accept(async (tx) => {
    await lockToAdd(tx, clientId);
    await requireAccount(on, principal, clientId, tx.sql);
    if (!principal.platformAdministrator) {
      const used = await store.countValid(tx, clientId, now);
      if (used >= MAX_TOKENS) throw tooMany();
    }
    const { id, secret } = await makeToken(tx, {
      client_id: clientId,
      user_id: userId,
      role_id: role.id,
      name: request.name,
      description: request.description ?? '',
      expires_at: expiresAt,
      maker_client_id: await store.makerOf(tx, principal, clientId),
      created_at: now,
    });
    tx.made(id);
    const row = await store.findToken(tx.sql, clientId, id, now);
    if (!row) throw new Error(`Token ${id} disappeared while it was being created`);
    return { ...presentedToken(row, false, now), token: tokenText(version, id, secret) };
  });
  on.authenticator.forget({ tokens: [made.id], logins: [] });
  return made;
}

/** @throws InvalidError for an unknown role */
export async function listTokens(
  on: Platform,
  principal: Principal,
  clientId: number,
  query: TokenListQuery,
): Promise<ApiToken[]> {
  await requireAccount(on, principal, clientId);
  const now = on.clock.now();
  const deleted = query.deleted ?? false;
  const rows = await store.listTokens(
    on.database.sql,
    {
      clientId,
      ownedBy: sees(principal, clientId, undefined) ? undefined : principal.userId,
      issuedBy: query.issued_by,
      notIssuedBy: query.not_issued_by,
      roleId: query.role === undefined ? undefined : filteredRole(query.role).id,
      deleted,
    },
    now,
  );
  return rows.map((row) => presentedToken(row, deleted, now));
}

/** @throws NotFoundError */
export async function getToken(
  on: Platform,
  principal: Principal,
  clientId: number,
  id: number,
): Promise<ApiToken> {
  await requireAccount(on, principal, clientId);
  return presentedToken(await visible(on, principal, clientId, id), false, on.clock.now());
}

/**
 * Revokes a token: the next request with it is refused.
 * @throws NotFoundError, ForbiddenError for a token with more rights than the caller's
 */
export async function revokeToken(
  on: Platform,
  principal: Principal,
  clientId: number,
  id: number,
): Promise<void> {
  await requireAccount(on, principal, clientId);
  const ended = await on.database.accept(async (tx) => {
    await lockClients(tx, [clientId]);
    await requireAccount(on, principal, clientId, tx.sql);
    const row = await visible(on, principal, clientId, id, tx.sql);
    refuseAbove(principal, row);
    await store.markDeleted(tx, id);
    return together(await announceTokens(tx, [id]), await endLogins(tx, { tokenIds: [id] }));
  });
  on.authenticator.forget(ended);
}

/** Deletes tokens that expired long ago; to be called periodically. */
export const deleteExpiredTokens = (on: Platform, now: Date): Promise<void> =>
  on.database.transaction((tx) => store.deleteExpired(tx.sql, now));

/** Whether the caller may see a user's tokens; without a user: everybody's. */
function sees(principal: Principal, clientId: number, userId: number | undefined): boolean {
  return allows(principal, 'administer') || (principal.clientId === clientId && principal.userId === userId);
}

/** Callers who may see a token can only revoke it if it has no more rights than they have. */
function refuseAbove(principal: Principal, row: store.TokenRow): void {
  if (principal.platformAdministrator) return;
  const above =
    isAbove(row.role_id, principal.roleId) ||
    row.user_platform_administrator ||
    (row.user_reseller_id !== null && row.user_reseller_id !== principal.resellerId);
  if (above) {
    throw new ForbiddenError(
      `Can't delete token ${row.id} with role ${roleOf(row.role_id).name}: it has more rights than yours`,
    );
  }
}

function filteredRole(text: string): Role {
  const role = findRoleByText(text);
  if (!role) throw new InvalidError({ role: [invalidRole(text)] });
  return role;
}

function acceptedExpiry(text: string | null, now: Date): Date | null {
  if (text === null) return null;
  const date = momentIn('exp_date', text);
  if (date <= now) {
    throw new InvalidError({
      exp_date: ['Must be in the future; send null for a token that never expires.'],
    });
  }
  return date;
}

function tooMany(): InvalidError {
  return new InvalidError({
    errors: [`The account has ${MAX_TOKENS} tokens, which is the limit; delete one first.`],
  });
}
