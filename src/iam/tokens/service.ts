import { randomBytes } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { canonicalCidr, hostBitsFault } from '../../lib/cidr.ts';
import * as errors from '../../lib/errors.ts';
import { noteAccount } from '../../lib/request-context.ts';
import { momentIn } from '../../lib/time.ts';
import type { Platform } from '../../platform.ts';
import { allows, type Principal, tokenText } from '../../requests/principal.ts';
import { findClient, hasProject, lockClients, lockToAdd, resells } from '../accounts/service.ts';
import * as roles from '../identity/schema.ts';
import { announceTokens, type Credentials, secretHash, together } from '../identity/service.ts';
import { endLogins } from '../logins/in-transaction.ts';
import { type ApiToken, type CreateApiToken, presentedToken, type TokenListQuery } from './schema.ts';
import * as store from './store.ts';

/**
 * Creates a token with a fresh secret. Its text is only known now, because only a hash is stored. The token is
 * announced, because a process may remember that the ID did not exist.
 */
export async function makeToken(
  tx: Transaction,
  token: Omit<Insertable<Tables['api_tokens']>, 'secret_hash'>,
): Promise<{ id: number; secret: string }> {
  const secret = randomBytes(32).toString('hex');
  const isBound = (token.project_id ?? token.operations ?? token.address_ranges ?? null) !== null;
  const hashes = isBound
    ? { secret_hash: randomBytes(32), bound_secret_hash: secretHash(secret) }
    : { secret_hash: secretHash(secret) };
  const { id } = await tx.sql
    .insertInto('api_tokens')
    .values({ ...token, ...hashes })
    .returning('id')
    .executeTakeFirstOrThrow();
  await announceTokens(tx, [id]);
  return { id, secret };
}

/**
 * Inserts a token whose ID and secret somebody else chose, unless it is there. The ID may be one of an account that was
 * deleted. @throws ConflictError if the ID or the secret is another token's
 */
export async function putGivenToken(
  tx: Transaction,
  { id, secret }: { id: number; secret: string },
  of: Omit<Insertable<Tables['api_tokens']>, 'id' | 'secret_hash'>,
): Promise<void> {
  const { numInsertedOrUpdatedRows = 0n } = await tx.sql
    .insertInto('api_tokens')
    .values({ ...of, id, secret_hash: secretHash(secret) })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows > 0n) {
    await announceTokens(tx, [id]);
    return;
  }
  const known = await tx.sql
    .selectFrom('api_tokens')
    .innerJoin('clients', 'clients.id', 'client_id')
    .select(['client_id', 'secret_hash', 'api_tokens.deleted_at', 'clients.deleted_at as account_deleted_at'])
    .where('api_tokens.id', '=', id)
    .executeTakeFirst();
  if (known?.account_deleted_at) {
    await tx.sql.deleteFrom('api_tokens').where('id', '=', id).execute();
    return putGivenToken(tx, { id, secret }, of);
  }
  const isSame = known?.client_id === of.client_id && known.secret_hash.equals(secretHash(secret));
  if (!isSame) throw new errors.ConflictError(`Another API token has the ID ${id}; choose another one`);
  if (known.deleted_at) throw new errors.ConflictError(`The API token ${id} was revoked; choose another ID`);
}

/** Makes the setting's bootstrap token the only one: a token of an earlier value stops working. */
export async function setBootstrapToken(
  tx: Transaction,
  token: { id: number; secret: string },
  of: Omit<Insertable<Tables['api_tokens']>, 'name' | 'secret_hash'>,
): Promise<void> {
  await removeOtherBootstrapTokens(tx, token);
  const row = {
    ...of,
    id: token.id,
    name: 'Bootstrap token',
    secret_hash: secretHash(token.secret),
    bootstrap: true,
  };
  const { numInsertedOrUpdatedRows } = await tx.sql
    .insertInto('api_tokens')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({ secret_hash: row.secret_hash, deleted_at: null })
        .where('api_tokens.bootstrap', '=', true),
    )
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows === 0n) {
    throw new BootstrapTokenTakenError(
      `TRADEWIND_BOOTSTRAP_TOKEN is not usable: another API token has the id ${token.id}; choose an id below 1000`,
    );
  }
  await announceTokens(tx, [token.id]);
}

/** Deletes bootstrap tokens with another ID. One whose secret changes loses the logins that it created. */
async function removeOtherBootstrapTokens(tx: Transaction, token: { id: number; secret: string }): Promise<void> {
  const others = await tx.sql
    .selectFrom('api_tokens')
    .select('id')
    .where('bootstrap', '=', true)
    .where((row) => row.or([row('id', '!=', token.id), row('secret_hash', '!=', secretHash(token.secret))]))
    .execute();
  const ids = others.map(({ id }) => id);
  await endLogins(tx, { tokenIds: ids });
  const gone = ids.filter((id) => id !== token.id);
  if (gone.length > 0) await tx.sql.deleteFrom('api_tokens').where('id', 'in', gone).execute();
  await announceTokens(tx, gone);
}

/** Deletes an account's tokens, or only those made from another account, with the logins made by them. */
export async function deleteTokens(
  tx: Transaction,
  { clientId, onlyOfOutsiders }: { clientId: number; onlyOfOutsiders: boolean },
): Promise<Credentials> {
  let those = tx.sql
    .updateTable('api_tokens')
    .set({ deleted_at: tx.now })
    .where('client_id', '=', clientId)
    .where('deleted_at', 'is', null);
  if (onlyOfOutsiders) those = those.where('maker_client_id', 'is not', null);
  const gone = await those.returning('id').execute();
  const ids = gone.map(({ id }) => id);
  const announced = await announceTokens(tx, ids);
  return together(announced, await endLogins(tx, { tokenIds: ids }));
}

/** The bootstrap token's ID belongs to a token that was created through the API. */
export class BootstrapTokenTakenError extends errors.OperatorError {}

/*
 * API tokens of an account. Administrators manage all of them, other users their own. The account's reseller and the
 * platform administrator may act for it: a token that they make belongs to the account's administrator and has rights in
 * that account only.
 */

/** Tokens of one account that may be valid at the same time. The platform administrator may make more. */
const MAX_TOKENS = 100;

/**
 * @throws ForbiddenError for an account that the caller may not manage, NotFoundError if the platform
 * administrator names one that doesn't exist
 */
export async function requireAccount(on: Platform, principal: Principal, clientId: number, sql = on.database.sql) {
  if (principal.clientId === clientId) return;
  const client = allows(principal, 'resell') ? await findClient(sql, clientId) : undefined;
  if (client && resells(principal, client)) {
    noteAccount(clientId);
    return;
  }
  if (principal.platformAdministrator) throw new errors.NotFoundError('Client', clientId);
  throw new errors.ForbiddenError(`You may not manage the tokens of client ${clientId}`);
}

async function visible(on: Platform, principal: Principal, clientId: number, id: number, sql = on.database.sql) {
  const row = await store.findToken(sql, clientId, id, on.clock.now());
  if (!row || !sees(principal, clientId, row.user_id)) throw new errors.NotFoundError('Token', id);
  return row;
}

async function ownerOf(on: Platform, principal: Principal, clientId: number): Promise<number> {
  if (principal.clientId === clientId) return principal.userId;
  const userId = await store.findAccountAdministrator(on.database.sql, clientId);
  if (userId === undefined) {
    throw new errors.ForbiddenError(`Client ${clientId} has no user of its own that a token could belong to`);
  }
  return userId;
}

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
  const role = roles.acceptedRole(principal, request.client_user.role ?? {}, {
    field: 'client_user.role',
    above: ({ name }) => `Can't create token with role ${name}`,
  });
  const expiresAt = acceptedExpiry(request.exp_date, now);
  const ranges = request.address_ranges ? request.address_ranges.map(acceptedRange) : null;
  const userId = await ownerOf(on, principal, clientId);
  const made = await on.database.accept(async (tx) => {
    await lockToAdd(tx, clientId);
    await requireAccount(on, principal, clientId, tx.sql);
    if (!principal.platformAdministrator) {
      const used = await store.countValid(tx, clientId, now);
      if (used >= MAX_TOKENS) throw tooMany();
    }
    const { project_id = null, operations = null } = request;
    if (project_id !== null && !(await hasProject(tx.sql, clientId, project_id))) {
      throw new errors.InvalidError({ project_id: [`Client ${clientId} has no project ${project_id}.`] });
    }
    const { id, secret } = await makeToken(tx, {
      client_id: clientId,
      user_id: userId,
      role_id: role.id,
      name: request.name,
      description: request.description ?? '',
      expires_at: expiresAt,
      project_id,
      operations,
      address_ranges: ranges,
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
export async function getToken(on: Platform, principal: Principal, clientId: number, id: number): Promise<ApiToken> {
  await requireAccount(on, principal, clientId);
  return presentedToken(await visible(on, principal, clientId, id), false, on.clock.now());
}

/**
 * Revokes a token: the next request with it is refused.
 * @throws NotFoundError, ForbiddenError for a token with more rights than the caller's
 */
export async function revokeToken(on: Platform, principal: Principal, clientId: number, id: number): Promise<void> {
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
    roles.isAbove(row.role_id, principal.roleId) ||
    row.user_platform_administrator ||
    (row.user_reseller_id !== null && row.user_reseller_id !== principal.resellerId);
  if (above) {
    throw new errors.ForbiddenError(
      `Can't delete token ${row.id} with role ${roles.roleOf(row.role_id).name}: it has more rights than yours`,
    );
  }
}

function filteredRole(text: string): roles.Role {
  const role = roles.findRoleByText(text);
  if (!role) throw new errors.InvalidError({ role: [roles.invalidRole(text)] });
  return role;
}

function acceptedExpiry(text: string | null, now: Date): Date | null {
  if (text === null) return null;
  const date = momentIn('exp_date', text);
  if (date <= now) {
    throw new errors.InvalidError({
      exp_date: ['Must be in the future; send null for a token that never expires.'],
    });
  }
  return date;
}

function acceptedRange(text: string, index: number): string {
  const range = canonicalCidr(text);
  const fault = range ? hostBitsFault(range) : 'Must be an IPv4 or IPv6 range such as 192.0.2.0/24.';
  if (!range || fault) throw new errors.InvalidError({ [`address_ranges.${index}`]: [fault ?? ''] });
  return range.network;
}

function tooMany(): errors.InvalidError {
  return new errors.InvalidError({
    errors: [`The account has ${MAX_TOKENS} tokens, which is the limit; delete one first.`],
  });
}
