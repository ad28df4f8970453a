import type { Transaction } from '../../../db/database.ts';
import { lockClients, requireManaged } from '../../../iam/accounts/service.ts';
import { ConflictError, ForbiddenError, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { found } from '../../../lib/ids.ts';
import { isId, pageToken, placeOf } from '../../../lib/page.ts';
import { noteAccount } from '../../../lib/request-context.ts';
import { isoSeconds } from '../../../lib/time.ts';
import type { Platform } from '../../../platform.ts';
import { allows, moneySeenBy, type Principal } from '../../../requests/principal.ts';
import { Exact, text } from '../invoices/formula.ts';
import * as schema from './schema.ts';
import * as store from './store.ts';

/*
 * Budgets: what an account means to spend in a month, as a whole or in a project, by its own administrators and by its
 * reseller's. Work on budgets counts what was spent; quotas stop what is new when a budget that wants that is spent.
 */

/** One for each project and the account, by the account and by its reseller. */
const MOST_BUDGETS = 500;

export async function listBudgets(
  on: Platform,
  principal: Principal,
  { limit = 100, page_token, ...filter }: schema.BudgetQuery,
): Promise<schema.Budgets> {
  const page = { before: placeOf(page_token, isId), limit: limit + 1 };
  const rows = await store.listBudgets(on.database.sql, moneySeenBy(principal), filter, page);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  const present = await presenterFor(on, principal);
  return { results: shown.map(present), next_page_token: last ? pageToken(last.id) : null };
}

/** @throws NotFoundError */
export async function getBudget(on: Platform, principal: Principal, id: number): Promise<schema.Budget> {
  const row = found('Budget', id, await store.findBudget(on.database.sql, moneySeenBy(principal), id));
  return (await presenterFor(on, principal))(row);
}

/** @throws NotFoundError for another account or project, InvalidError, ConflictError */
export async function createBudget(
  on: Platform,
  principal: Principal,
  request: schema.NewBudget,
): Promise<schema.Budget> {
  const { client_id: clientId = principal.clientId, project_id = null, amount } = request;
  const { warn_at = schema.DEFAULT_WARNINGS, stops_creation = false } = request;
  const currency = await currencyOf(on, principal, clientId);
  const row = await on.database.accept(async (tx) => {
    await lockClients(tx, [clientId]);
    if (clientId !== principal.clientId) await requireManaged(tx.sql, principal, clientId);
    noteAccount(clientId);
    if (project_id !== null && (await on.projectRows.get(project_id))?.client_id !== clientId)
      throw new NotFoundError('Project', project_id);
    if ((await store.countBudgets(tx, clientId)) >= MOST_BUDGETS)
      throw new ConflictError(`Account ${clientId} has ${MOST_BUDGETS} budgets, which is the most`);
    const made = await store.insertBudget(tx, {
      client_id: clientId,
      project_id,
      set_by: clientId === principal.clientId ? 'account' : 'reseller',
      amount: wholeCents(amount),
      currency,
      warn_at: sorted(warn_at),
      stops_creation,
    });
    if (!made)
      throw new ConflictError(
        `${project_id === null ? `Account ${clientId}` : `Project ${project_id}`} has a budget already; change it with PATCH`,
      );
    tx.made(made.id);
    return made;
  });
  return (await presenterFor(on, principal))(row);
}

/** @throws NotFoundError, ForbiddenError for one that the reseller has set, InvalidError */
export async function changeBudget(
  on: Platform,
  principal: Principal,
  id: number,
  { amount, warn_at, stops_creation }: schema.BudgetChange,
): Promise<schema.Budget> {
  const before = await getBudget(on, principal, id);
  const currency = amount === undefined ? undefined : await currencyOf(on, principal, before.client_id);
  const row = await on.database.accept(async (tx) => {
    await lockOwn(tx, principal, id);
    return store.changeBudget(tx, id, {
      ...(amount !== undefined && { amount: wholeCents(amount), ...(currency && { currency }) }),
      ...(warn_at && { warn_at: sorted(warn_at) }),
      ...(stops_creation !== undefined && { stops_creation }),
    });
  });
  return (await presenterFor(on, principal))(row);
}

/** @throws NotFoundError, ForbiddenError for one that the reseller has set */
export const deleteBudget = (on: Platform, principal: Principal, id: number): Promise<void> =>
  on.database.accept(async (tx) => {
    await lockOwn(tx, principal, id);
    await store.deleteBudget(tx, id);
  });

/** Locks a budget that the caller may change. @throws NotFoundError, ForbiddenError */
async function lockOwn(tx: Transaction, principal: Principal, id: number): Promise<void> {
  const row = found('Budget', id, await store.lockBudget(tx, moneySeenBy(principal), id));
  noteAccount(row.client_id);
  const isOwn = row.client_id === principal.clientId && !principal.platformAdministrator;
  if (isOwn && row.set_by === 'reseller')
    throw new ForbiddenError(`Budget ${id} was set by your reseller, who alone changes it`);
}

/** @throws InvalidError */
function wholeCents(amount: number): string {
  if (new Exact(amount).decimalPlaces() > 2) throw new InvalidError({ amount: ['Must be in whole cents.'] });
  return text(new Exact(amount));
}

const sorted = (shares: readonly number[]): number[] => [...shares].sort((a, b) => a - b);

/** Returns what the account pays in. @throws ConflictError for an account that may not see what it pays */
async function currencyOf(on: Platform, principal: Principal, clientId: number) {
  const { terms } = await on.rates.of(clientId);
  if (terms.visibility !== 'show' && !allows(principal, 'resell'))
    throw new ConflictError('Your reseller does not show prices, so only your reseller can set a budget');
  return terms.currency;
}

/** Returns what shows budgets to the caller: an account that may not see prices doesn't see what it has spent. */
async function presenterFor(on: Platform, principal: Principal): Promise<(row: store.BudgetRow) => schema.Budget> {
  const seesAll = allows(principal, 'resell');
  const isShown = seesAll || (await on.rates.of(principal.clientId)).terms.visibility === 'show';
  const now = monthOf(on.clock.now());
  return (row) => ({
    id: row.id,
    client_id: row.client_id,
    project_id: row.project_id,
    set_by: row.set_by,
    amount: Number(row.amount),
    currency: row.currency,
    warn_at: row.warn_at,
    stops_creation: row.stops_creation,
    month: row.month,
    spent: isShown && row.month !== null ? new Exact(row.spent).toDecimalPlaces(5).toNumber() : null,
    is_spent: row.month === now && new Exact(row.spent).gte(row.amount),
    counted_at: row.counted_at && isoSeconds(row.counted_at),
    created_at: isoSeconds(row.created_at),
  });
}

/** Returns the month in UTC, such as 2026-03. */
export const monthOf = (time: Date): string => time.toISOString().slice(0, 7);

export { deleteBudgetsOf } from './store.ts';
