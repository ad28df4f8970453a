import { isDeepStrictEqual } from 'node:util';
import { announce } from '../../../../db/changes.ts';
import type { Transaction } from '../../../../db/database.ts';
import type { BillingParty, BillingProfile } from '../../../../db/json-columns.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { findClient, keepReseller, lockClients, resells } from '../../../../iam/accounts/service.ts';
import { ForbiddenError, InvalidError, NotFoundError } from '../../../../lib/errors.ts';
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

/** @throws NotFoundError for another reseller, ForbiddenError without one */
function issuerOf(principal: Principal, { reseller_id: asked }: schema.IssuerQuery): number {
  if (principal.platformAdministrator) return asked ?? parties.PLATFORM;
  const own = principal.resellerId;
  if (own === null || own === undefined) throw new ForbiddenError('Only administrators of a reseller have an issuer');
  if (asked !== undefined && asked !== own) throw new NotFoundError('Reseller', asked);
  return own;
}

/** @throws NotFoundError if nothing is set */
export async function getIssuer(on: Platform, principal: Principal, query: schema.IssuerQuery): Promise<schema.Issuer> {
  const id = issuerOf(principal, query);
  const row = await parties.partyOf(on.database.sql, 'issuer', id);
  if (!row) throw new NotFoundError('Settings of issuer', id, ': nobody has set them');
  return { reseller_id: id || null, ...presented(row) };
}

/** @throws NotFoundError, InvalidError */
export async function setIssuer(
  on: Platform,
  principal: Principal,
  query: schema.IssuerQuery,
  { vat_confirmed, ...given }: schema.NewIssuer,
): Promise<schema.Issuer> {
  const id = issuerOf(principal, query);
  requireVatId(given);
  const countries = given.vat_rates.map(({ country }) => country);
  const twice = countries.findIndex((one, index) => countries.indexOf(one) < index);
  if (twice >= 0) throw new InvalidError({ [`vat_rates.${twice}.country`]: ['Is there twice.'] });
  return on.database.accept(async (tx) => {
    if (id !== parties.PLATFORM && !(await keepReseller(tx.sql, id))) throw new NotFoundError('Reseller', id);
    const before = await parties.lockParty(tx, 'issuer', id);
    const confirmed = confirmedBy(principal.platformAdministrator, vat_confirmed);
    const settings = { ...given, ...vatAfter(before?.about, given, confirmed) };
    tx.made(id);
    if (before && isDeepStrictEqual(before.about, settings)) return { reseller_id: id || null, ...presented(before) };
    await parties.requireFewChanges(tx, 'issuer', id);
    const made = madeNow(tx, principal);
    await parties.insertIssuer(tx, id, settings, made);
    if (id !== parties.PLATFORM) await tell(on, tx, { scope: 'reseller', reseller_id: id, client_id: null });
    return { reseller_id: id || null, ...presented({ about: settings, from: made.valid_from }) };
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
  return { client_id: id, ...presented(row) };
}

/** @throws NotFoundError, InvalidError */
export async function setProfile(
  on: Platform,
  principal: Principal,
  { client_id: id = principal.clientId }: schema.ProfileQuery,
  { vat_confirmed, ...given }: schema.NewProfile,
): Promise<schema.Profile> {
  requireVatId(given);
  return on.database.accept(async (tx) => {
    await lockClients(tx, [id]);
    const client = await findClient(tx.sql, id);
    if (!client || (id !== principal.clientId && !resells(principal, client))) throw new NotFoundError('Client', id);
    noteAccount(id);
    const before = await parties.lockParty(tx, 'profile', id);
    const profile = {
      ...given,
      ...vatAfter(before?.about, given, confirmedBy(resells(principal, client), vat_confirmed)),
    };
    tx.made(id);
    if (before && isDeepStrictEqual(before.about, profile)) return { client_id: id, ...presented(before) };
    await parties.requireFewChanges(tx, 'profile', id);
    const made = madeNow(tx, principal);
    await parties.insertProfile(tx, id, profile, made);
    await tell(on, tx, { scope: 'client', reseller_id: null, client_id: id });
    return { client_id: id, ...presented({ about: profile, from: made.valid_from }) };
  });
}

type Vat = NonNullable<BillingProfile['vat']>;

const isConfirmed = (vat: Vat | undefined, { country, vat_id }: Vat): boolean =>
  vat?.country === country && vat.vat_id === vat_id;

function presented<About extends BillingProfile>({ about, from }: { about: About; from: Date }) {
  const { vat, ...said } = about;
  return { ...said, vat_confirmed: isConfirmed(vat, about), valid_from: isoSeconds(from) };
}

/** @throws ForbiddenError for who confirms itself */
function confirmedBy(mayConfirm: boolean, confirmed: boolean | undefined): boolean | undefined {
  if (confirmed && !mayConfirm) throw new ForbiddenError('Only who issues the invoices may set vat_confirmed');
  return mayConfirm ? confirmed : undefined;
}

/** Returns whom VAT goes by after a change: nobody can give itself a reverse charge or the rate of another country. */
function vatAfter(
  before: BillingProfile | undefined,
  { country, vat_id }: BillingParty,
  confirmed: boolean | undefined,
): { vat?: Vat } {
  const given = { country, ...(vat_id !== undefined && { vat_id }) };
  if (confirmed) return { vat: given };
  const vat = before?.vat;
  if (confirmed === false || !vat) return {};
  return { vat: isConfirmed(vat, given) ? vat : { country: vat.country } };
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
      'By administrators of the account or its reseller. Holds from now on. The VAT depends on the country and the VAT ID that the issuer has confirmed; until then it is as before, or as in the issuer’s own country.',
    query: schema.ProfileQuery,
    body: schema.NewProfile,
    answer: schema.Profile,
    handler: ({ principal, query, body }) => setProfile(on, principal, query, body),
  });
}
