import { InvalidError } from '../../../lib/errors.ts';
import type { Platform } from '../../../platform.ts';
import type { DatedPrices } from '../../ground/prices/service.ts';
import { costOf, statusOf } from './costing.ts';
import { periodOfDays, periodOfMonth, type ReportPeriod } from './period.ts';
import { featureOf, presentedResource, presentedTotal } from './presenter.ts';
import type * as schema from './schema.ts';
import * as store from './store.ts';

export { pricedUses, priceOfUse, type Use, unitsPerPrice } from './costing.ts';
export { isAllTrafficKnown } from './store.ts';
export { isTrafficMetered } from './traffic.ts';

/* What an account used, and what that costs. What goes on counts until now. All throw UnavailableError if too many wait. */

const MOST_DAYS = 31;
/** Our own limit. None is published for usage. */
const MOST_DAYS_OF_USAGE = 366;

/** The account whose costs are reported. */
interface Payer {
  clientId: number;
}

/** Usage is counted whatever the prices. */
function reportOf(on: Platform, { clientId }: Payer, period: ReportPeriod, filter: schema.ReportFilter): store.Report {
  return { clientId, ...period, now: on.clock.now(), bookStarts: [period.from], filter };
}

async function costReportOf(
  on: Platform,
  payer: Payer,
  period: ReportPeriod,
  filter: schema.ReportFilter,
): Promise<{ report: store.Report; books: DatedPrices[] }> {
  const report = reportOf(on, payer, period, filter);
  const { clientId } = payer;
  const books = (await on.rates.between([clientId], period.from, period.to)).get(clientId) ?? [];
  return books.length > 0
    ? { report: { ...report, bookStarts: books.map(({ from }) => from) }, books }
    : { report, books };
}

async function totals(
  on: Platform,
  payer: Payer,
  period: ReportPeriod,
  request: schema.ReportFilter & { rounding?: boolean },
) {
  const { report, books } = await costReportOf(on, payer, period, request);
  const rows = await on.inTurn(() => store.totalsOf(on.database.sql, report));
  return priced(books, rows, presentedTotal, request);
}

/** @throws InvalidError for more than 31 days */
export const costTotals = (on: Platform, payer: Payer, request: schema.CostTotalsRequest): Promise<schema.CostTotals> =>
  totals(on, payer, periodOfDays(request, MOST_DAYS), request);

/** There are no reservations, so everything is paid as it is used. @throws InvalidError */
export const monthlyCostTotals = (on: Platform, payer: Payer, request: schema.MonthlyCostTotalsRequest) =>
  totals(on, payer, periodOfMonth(request), request);

/** @throws InvalidError for more than 31 days */
export async function costsOfResources(
  on: Platform,
  payer: Payer,
  request: schema.CostResourcesRequest,
): Promise<schema.ResourceCosts> {
  const orders = ordersOf(request);
  const { report, books } = await costReportOf(on, payer, periodOfDays(request, MOST_DAYS), request);
  const page = await on.inTurn(() => store.resourcesOf(on.database.sql, report, { ...pageOf(request), orders }));
  return { ...priced(books, page.rows, presentedResource, request), count: page.count };
}

/** @throws InvalidError for more than a year */
export async function usageOfResources(
  on: Platform,
  payer: Payer,
  { projects, ...request }: schema.UsageRequest,
): Promise<schema.Usage> {
  const orders = ordersOf(request);
  const filter = { ...request, ...(projects && { projects }) };
  const report = reportOf(on, payer, periodOfDays(request, MOST_DAYS_OF_USAGE), filter);
  return on.inTurn(async () => {
    const page = await store.resourcesOf(on.database.sql, report, { ...pageOf(request), orders });
    const rows = await store.totalsOf(on.database.sql, report);
    return {
      count: page.count,
      resources: page.rows.map(presentedResource),
      totals: rows.map(presentedTotal),
    };
  });
}

function priced<Row extends store.UsedInTotal, Shown>(
  books: readonly DatedPrices[],
  rows: readonly Row[],
  present: (row: Row) => Shown,
  { rounding = true }: { rounding?: boolean },
) {
  const costs = rows.map((row) => costOf(books, row, row.uses, { rounding }));
  const results = rows.map((row, index) => {
    const { cost = null, currency = null, err = null } = costs[index] ?? {};
    return { ...present(row), billing_feature_name: featureOf(row), cost, currency, err };
  });
  return { count: results.length, price_status: statusOf(costs), results };
}

function pageOf({ limit = 10, offset = 0 }: { limit?: number; offset?: number }) {
  return { limit, offset };
}

/** @throws InvalidError if both forms are given */
function ordersOf({ order_by, sorting }: Pick<schema.UsageRequest, 'order_by' | 'sorting'>): schema.ReportOrder[] {
  if (order_by && sorting) throw new InvalidError({ sorting: ['Is the older form of order_by; send only one.'] });
  const older = sorting?.flatMap((one) => Object.entries(one).map(([field, how]) => `${field}.${how}`));
  return order_by ?? (older as schema.ReportOrder[] | undefined) ?? ['project.asc'];
}
