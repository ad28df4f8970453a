import { announce } from '../../../../db/changes.ts';
import type { Transaction } from '../../../../db/database.ts';
import type { BillingParty } from '../../../../db/json-columns.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { findClient, keepReseller, lockClients, resells } from '../../../../iam/accounts/service.ts';
import { InvalidError, NotFoundError } from '../../../../lib/errors.ts';
import { noteAccount } from '../../../../lib/request-context.ts';
import { isoSeconds, secondOf } from '../../../../lib/time.ts';
import type { Platform } from '../../../../platform.ts';
import type { Principal } from '../../../../requests/principal.ts';
import type { Holder } from '../../dated-lists/in-transaction.ts';
import { PRICE_TOPICS } from '../rates.ts';
import * as parties from './in-transaction.ts';
import * as schema from './schema.ts';

/*
 * Who issues invoices, and who gets them. What is set holds from now on: the VAT of earlier times stays. The platform and
 * resellers are issuers, set by their administrators; accounts are customers, set by theirs or by the reseller's.
 */

/** @throws NotFoundError for another reseller */
function issuerOf(principal: Principal, { reseller_id: asked }: schema.IssuerQuery): number {
  if (principal.platformAdministrator) return asked ?? parties.PLATFORM;
  const own = principal.resellerId ?? parties.PLATFORM;
  if (asked !== undefined && asked !== own) throw new NotFoundError('Reseller', asked);
  return own;
}

/** @throws NotFoundError if nothing is set */
export async function getIssuer(on: Platform, principal: Principal, query: schema.IssuerQuery): Promise<schema.Issuer> {
  const id = issuerOf(principal, query);
  const row = await parties.partyOf(on.database.sql, 'issuer', id);
  if (!row) throw new NotFoundError('Settings of issuer', id, ': nobody has set them');
  return { reseller_id: id || null, ...row.about, valid_from: isoSeconds(row.from) };
}

/** @throws NotFoundError, InvalidError */
export async function setIssuer(
  on: Platform,
  principal: Principal,
  query: schema.IssuerQuery,
  settings: schema.NewIssuer,
): Promise<schema.Issuer> {
  const id = issuerOf(principal, query);
  requireVatId(settings);
  const countries = settings.vat_rates.map(({ country }) => country);
  const twice = countries.findIndex((one, index) => countries.indexOf(one) < index);
  if (twice >= 0) throw new InvalidError({ [`vat_rates.${twice}.country`]: ['Is there twice.'] });
  return on.database.accept(async (tx) => {
    if (id !== parties.PLATFORM && !(await keepReseller(tx.sql, id))) throw new NotFoundError('Reseller', id);
    const made = madeNow(tx, principal);
    await parties.insertIssuer(tx, id, settings, made);
    tx.made(id);
    if (id !== parties.PLATFORM) await tell(on, tx, { scope: 'reseller', reseller_id: id, client_id: null });
    return { reseller_id: id || null, ...settings, valid_from: isoSeconds(made.valid_from) };
  });
}

/** @throws NotFoundError for an account that the caller doesn't manage, or if nothing is set */
export async function getProfile(
  on: Platform,
  principal: Principal,
  { client_id: id = principal.clientId }: schema.ProfileQuery,
): Promise<schema.Profile> {
  const client = await findClient(on.database.sql, id);
  if (!client || (id !== principal.clientId && !resells(principal, client))) throw new NotFoundError('Client', id);
  const row = await parties.partyOf(on.database.sql, 'profile', id);
  if (!row) throw new NotFoundError('Billing profile of client', id, ': nobody has set it');
  return { client_id: id, ...row.about, valid_from: isoSeconds(row.from) };
}

/** @throws NotFoundError, InvalidError */
export async function setProfile(
  on: Platform,
  principal: Principal,
  { client_id: id = principal.clientId }: schema.ProfileQuery,
  profile: schema.NewProfile,
): Promise<schema.Profile> {
  requireVatId(profile);
  return on.database.accept(async (tx) => {
    await lockClients(tx, [id]);
    const client = await findClient(tx.sql, id);
    if (!client || (id !== principal.clientId && !resells(principal, client))) throw new NotFoundError('Client', id);
    noteAccount(id);
    const made = madeNow(tx, principal);
    await parties.insertProfile(tx, id, profile, made);
    tx.made(id);
    await tell(on, tx, { scope: 'client', reseller_id: null, client_id: id });
    return { client_id: id, ...profile, valid_from: isoSeconds(made.valid_from) };
  });
}

/** Greece's begin with EL, Northern Ireland's with XI. */
const PREFIXES: Record<string, readonly string[]> = { GR: ['EL'], GB: ['GB', 'XI'] };

/** @throws InvalidError for a VAT ID of another country */
function requireVatId({ country, vat_id: vatId }: BillingParty): void {
  const prefixes = PREFIXES[country] ?? [country];
  if (vatId === undefined || prefixes.some((one) => vatId.startsWith(one))) return;
  throw new InvalidError({ vat_id: [`Must begin with ${prefixes.join(' or ')}, as the country is ${country}.`] });
}

const madeNow = (tx: Transaction, { userId }: Principal) => ({
  valid_from: secondOf(tx.now),
  created_by: userId,
  created_at: tx.now,
});

/** Prices have the VAT in them. */
async function tell(on: Platform, tx: Transaction, holder: Holder): Promise<void> {
  await announce(tx.client, PRICE_TOPICS[holder.scope], holder.client_id ?? holder.reseller_id ?? 0);
  tx.afterCommit(() => on.rates.forget(holder));
}

export function partyRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Invoices'] });

  api.get('/tradewind/v1/issuer', 'getIssuer', 'Get who issues invoices', {
    access: 'resell',
    refuses: [404],
    description: 'Of the platform for its administrator, of a reseller for its administrators.',
    query: schema.IssuerQuery,
    answer: schema.Issuer,
    handler: ({ principal, query }) => getIssuer(on, principal, query),
  });

  api.put('/tradewind/v1/issuer', 'setIssuer', 'Set who issues invoices, and the VAT', {
    access: 'resell',
    refuses: [404],
    description:
      'Holds from now on. An issuer makes invoices from the month on in which this is set first. VAT in a price list goes before the table, and the table before the catalogue.',
    query: schema.IssuerQuery,
    body: schema.NewIssuer,
    answer: schema.Issuer,
    handler: ({ principal, query, body }) => setIssuer(on, principal, query, body),
  });

  api.get('/tradewind/v1/billing_profile', 'getBillingProfile', 'Get who pays for an account', {
    refuses: [404],
    description: 'Of your own account; of the clients of a reseller for its administrators.',
    query: schema.ProfileQuery,
    answer: schema.Profile,
    handler: ({ principal, query }) => getProfile(on, principal, query),
  });

  api.put('/tradewind/v1/billing_profile', 'setBillingProfile', 'Set who pays for an account', {
    access: 'administer',
    refuses: [404],
    description:
      'By administrators of the account or its reseller. Holds from now on: the VAT depends on the country and the VAT ID.',
    query: schema.ProfileQuery,
    body: schema.NewProfile,
    answer: schema.Profile,
    handler: ({ principal, query, body }) => setProfile(on, principal, query, body),
  });
}
