import { v7 } from 'uuid';
import type { Transaction } from '../../../db/database.ts';
import { ConflictError, ForbiddenError, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { noteAccount } from '../../../lib/request-context.ts';
import { isoMicros } from '../../../lib/time.ts';
import type { Platform } from '../../../platform.ts';
import { allows, type Principal, requireUnbounded } from '../../../requests/principal.ts';
import { lockToAdd } from '../../accounts/service.ts';
import { findRoleByText, roleOf } from '../../identity/schema.ts';
import { forgetSignInCodes } from '../../logins/console/service.ts';
import { endLogins } from '../../logins/in-transaction.ts';
import { findUser } from '../store.ts';
import { issuerProblem } from './conversation.ts';
import type { IdentityProvider, NewProvider, ProviderChange, ProviderList } from './schema.ts';
import * as store from './store.ts';

/*
 * Identity providers: those of an account, which let people into it, and those of a reseller, which let people into the clients that
 * their groups name. Whatever a provider says, nobody gets rights beyond accounts by it. Every function throws NotFoundError for an
 * unknown provider and for that of another account.
 */

const MOST_OF_OWNER = 20;

const ownerOf = (principal: Principal): store.Owner => ({
  clientId: principal.clientId,
  resellerId: allows(principal, 'resell') ? principal.resellerId : undefined,
});

export async function listProviders(on: Platform, principal: Principal): Promise<ProviderList> {
  const rows = await store.listProviders(on.database.sql, ownerOf(principal));
  return { count: rows.length, results: rows.map(presented), public_url: on.letterhead().publicUrl ?? null };
}

export async function getProvider(on: Platform, principal: Principal, id: string): Promise<IdentityProvider> {
  const row = isUuid(id) ? await store.findProvider(on.database.sql, ownerOf(principal), id) : undefined;
  return presented(found(row, id));
}

/** @throws InvalidError, ConflictError for too many, ForbiddenError */
export async function createProvider(
  on: Platform,
  principal: Principal,
  request: NewProvider,
): Promise<IdentityProvider> {
  requireUnbounded(principal);
  const id = v7();
  return on.database.accept(async (tx) => {
    const { for_reseller: forReseller = false } = request;
    if (forReseller && ownerOf(principal).resellerId === undefined) {
      throw new ForbiddenError('Only administrators of a reseller make identity providers for all its clients');
    }
    const resellerId = forReseller ? principal.resellerId : undefined;
    const owner =
      resellerId === undefined ? { clientId: principal.clientId, resellerId } : { clientId: undefined, resellerId };
    await lockToAdd(tx, principal.clientId);
    if ((await store.countForNew(tx, owner)) >= MOST_OF_OWNER) {
      throw new ConflictError(`There are ${MOST_OF_OWNER} identity providers, which is the most; delete one first`);
    }
    const row: store.ProviderRow = {
      id,
      client_id: owner.clientId ?? null,
      reseller_id: owner.resellerId ?? null,
      created_by: principal.userId,
      name: request.name,
      issuer: request.issuer,
      oidc_client_id: request.oidc_client_id,
      oidc_client_secret: sealed(on, id, request.oidc_client_secret),
      scopes: request.scopes ?? ['openid', 'profile', 'email'],
      groups_claim: request.groups_claim ?? 'groups',
      groups: groupsOf(owner, request.groups ?? []),
      default_role_id: roleId(request.default_role ?? null),
      email_domains: request.email_domains,
      enabled: request.enabled ?? true,
      required: request.required ?? false,
      created_at: tx.now,
      updated_at: tx.now,
    };
    await requireSound(on, tx, principal, row);
    await store.insertProvider(tx, { ...row, groups: JSON.stringify(row.groups) });
    tx.made(id);
    return presented(row);
  });
}

/** @throws InvalidError, ConflictError */
export async function changeProvider(
  on: Platform,
  principal: Principal,
  id: string,
  { groups, default_role, oidc_client_secret, ...plain }: ProviderChange,
): Promise<IdentityProvider> {
  const { row, ended } = await on.database.accept(async (tx) => {
    const before = await locked(tx, principal, id);
    const change = {
      ...plain,
      ...(groups && { groups: groupsOf({ clientId: before.client_id ?? undefined, resellerId: undefined }, groups) }),
      ...(default_role !== undefined && { default_role_id: roleId(default_role) }),
      ...(oidc_client_secret !== undefined && { oidc_client_secret: sealed(on, id, oidc_client_secret) }),
      updated_at: tx.now,
    };
    const row = { ...before, ...change };
    await requireSound(on, tx, principal, row, before);
    const { groups: mapped, ...others } = change;
    await store.updateProvider(tx, id, { ...others, ...(mapped && { groups: JSON.stringify(mapped) }) });
    // The numbers of another provider, or those it gives to another client, may be the numbers of other people.
    const isOther = row.issuer !== before.issuer || row.oidc_client_id !== before.oidc_client_id;
    if (isOther) await store.forgetIdentities(tx, id);
    const ends = isOther || (before.enabled && !row.enabled);
    if (ends) {
      await store.deleteStates(tx, id);
      await forgetSignInCodes(tx, id);
    }
    return { row, ended: ends ? await endLogins(tx, { providerId: id }) : { tokens: [], logins: [] } };
  });
  on.authenticator.forget(ended);
  return presented(row);
}

export async function deleteProvider(on: Platform, principal: Principal, id: string): Promise<void> {
  const ended = await on.database.accept(async (tx) => {
    await locked(tx, principal, id);
    await store.deleteProvider(tx, id);
    return endLogins(tx, { providerId: id });
  });
  on.authenticator.forget(ended);
}

export const deleteProvidersOf = store.deleteProvidersOf;

async function locked(tx: Transaction, principal: Principal, id: string): Promise<store.ProviderRow> {
  const row = found(isUuid(id) ? await store.lockProvider(tx, ownerOf(principal), id) : undefined, id);
  if (row.client_id !== null) noteAccount(row.client_id);
  return row;
}

/** What the fields are together. `before` is absent for a new provider. @throws InvalidError, ConflictError */
async function requireSound(
  on: Platform,
  tx: Transaction,
  principal: Principal,
  row: store.ProviderRow,
  before?: store.ProviderRow,
): Promise<void> {
  const problem = row.issuer === before?.issuer ? undefined : issuerProblem(row.issuer, on.webhookHosts);
  if (problem !== undefined) throw new InvalidError({ issuer: [problem] });
  if (row.reseller_id !== null) {
    const only = 'Only the provider of an account can have this.';
    if (row.default_role_id !== null) throw new InvalidError({ default_role: [only] });
    if (row.required) throw new InvalidError({ required: [only] });
    const ids = [...new Set(row.groups.map(({ client_id }) => client_id))];
    if ((await store.clientsOf(tx.sql, row.reseller_id, ids)).length < ids.length) {
      throw new InvalidError({ groups: ['Each needs the client_id of a client of the reseller.'] });
    }
  }
  const isNew = row.required && row.enabled && !(before?.required && before.enabled);
  if (isNew && principal.inPerson && !(await mayStillEnter(tx, principal, row.id))) {
    throw new ConflictError('Add a second factor to your own login first, or sign in with this provider');
  }
}

/** Nobody locks themselves out: an administrator in person needs a way in that stays. */
async function mayStillEnter(tx: Transaction, { userId, loginId }: Principal, providerId: string): Promise<boolean> {
  const login = await tx.sql
    .selectFrom('login_sessions')
    .select('provider_id')
    .where('id', '=', loginId ?? 0)
    .executeTakeFirst();
  return login?.provider_id === providerId || (await findUser(tx.sql, userId))?.two_fa === true;
}

function groupsOf({ clientId }: store.Owner, groups: NonNullable<NewProvider['groups']>): store.MappedGroup[] {
  return groups.map(({ group, role, client_id }, at) => {
    if (clientId === undefined && client_id === undefined) {
      throw new InvalidError({ [`groups.${at}.client_id`]: ['Needed: the account that the group leads to.'] });
    }
    if (clientId !== undefined && client_id !== undefined && client_id !== clientId) {
      throw new InvalidError({ [`groups.${at}.client_id`]: ["Must be the provider's own account, or left out."] });
    }
    return { group, role_id: roleId(role) ?? 0, client_id: clientId ?? client_id ?? 0 };
  });
}

const roleId = (name: string | null): number | null => (name === null ? null : (findRoleByText(name)?.id ?? null));

const sealed = (on: Platform, id: string, secret: string | null | undefined): string | null =>
  secret === null || secret === undefined
    ? null
    : on.secrets.seal('identity_providers.oidc_client_secret', [id], secret);

function found(row: store.ProviderRow | undefined, id: string): store.ProviderRow {
  if (!row) throw new NotFoundError('Identity provider', id);
  return row;
}

type RoleName = NonNullable<IdentityProvider['default_role']>;
const nameOf = (id: number): RoleName => roleOf(id).name as RoleName;

const presented = (row: store.ProviderRow): IdentityProvider => ({
  id: row.id,
  client_id: row.client_id,
  reseller_id: row.reseller_id,
  name: row.name,
  issuer: row.issuer,
  oidc_client_id: row.oidc_client_id,
  has_client_secret: row.oidc_client_secret !== null,
  scopes: row.scopes,
  groups_claim: row.groups_claim,
  groups: row.groups.map(({ group, role_id, client_id }) => ({ group, role: nameOf(role_id), client_id })),
  default_role: row.default_role_id === null ? null : nameOf(row.default_role_id),
  email_domains: row.email_domains,
  enabled: row.enabled,
  required: row.required,
  sign_in_path: `/tradewind/v1/sign_in/${row.id}`,
  created_at: isoMicros(row.created_at),
  updated_at: isoMicros(row.updated_at),
});
