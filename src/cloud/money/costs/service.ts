import type { Database } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import { InvalidError } from '../../../lib/errors.ts';
import type { DatedPrices, Rates } from '../../ground/prices/service.ts';
import { costOf, statusOf } from './costing.ts';
import { periodOfDays, periodOfMonth, type ReportPeriod } from './period.ts';
import { featureOf, presentedResource, presentedTotal } from './presenter.ts';
import type {
  CostResourcesRequest,
  CostTotals,
  CostTotalsRequest,
  MonthlyCostTotalsRequest,
  ReportFilter,
  ReportOrder,
  ResourceCosts,
  Usage,
  UsageRequest,
} from './schema.ts';
import * as store from './store.ts';
import type { InTurn } from './turns.ts';

export { priceOfUse, type Use } from './use-prices.ts';

const MOST_DAYS = 31;
/** Our own limit. None is published for usage. */
const MOST_DAYS_OF_USAGE = 366;

/** The account whose costs are reported. */
interface Payer {
  clientId: number;
}

/** What an account used, and what that costs. What goes on counts until now. All throw UnavailableError if too many wait. */
export interface CostReports {
  /** @throws InvalidError for more than 31 days */
  totals(payer: Payer, request: CostTotalsRequest): Promise<CostTotals>;
  /** There are no reservations, so everything is paid as it is used. @throws InvalidError */
  monthlyTotals(payer: Payer, request: MonthlyCostTotalsRequest): Promise<CostTotals>;
  /** @throws InvalidError for more than 31 days */
  resources(payer: Payer, request: CostResourcesRequest): Promise<ResourceCosts>;
  /** @throws InvalidError for more than a year */
  usage(payer: Payer, request: UsageRequest): Promise<Usage>;
}

export function createCostReports(deps: {
  database: Database;
  clock: Clock;
  rates: Pick<Rates, 'between'>;
  inTurn: InTurn;
}): CostReports {
  const { database, clock, rates, inTurn } = deps;

  /** Usage is counted whatever the prices. */
  function reportOf({ clientId }: Payer, period: ReportPeriod, filter: ReportFilter): store.Report {
    return { clientId, ...period, now: clock.now(), bookStarts: [period.from], filter };
  }

  async function costReportOf(
    payer: Payer,
    period: ReportPeriod,
    filter: ReportFilter,
  ): Promise<{ report: store.Report; books: DatedPrices[] }> {
    const report = reportOf(payer, period, filter);
    const { clientId } = payer;
    const books = (await rates.between([clientId], period.from, period.to)).get(clientId) ?? [];
    return books.length > 0
      ? { report: { ...report, bookStarts: books.map(({ from }) => from) }, books }
      : { report, books };
  }

  async function totals(payer: Payer, period: ReportPeriod, request: ReportFilter & { rounding?: boolean }) {
    const { report, books } = await costReportOf(payer, period, request);
    const rows = await inTurn(() => store.totalsOf(database.sql, report));
    return priced(books, rows, presentedTotal, request);
  }

  return {
    totals: (payer, request) => totals(payer, periodOfDays(request, MOST_DAYS), request),

    monthlyTotals: (payer, request) => totals(payer, periodOfMonth(request), request),

    async resources(payer, request) {
      const orders = ordersOf(request);
      const { report, books } = await costReportOf(payer, periodOfDays(request, MOST_DAYS), request);
      const page = await inTurn(() =>
        store.resourcesOf(database.sql, report, { ...pageOf(request), orders }),
      );
      return { ...priced(books, page.rows, presentedResource, request), count: page.count };
    },

    async usage(payer, { projects, ...request }) {
      const orders = ordersOf(request);
      const filter = { ...request, ...(projects && { projects }) };
      const report = reportOf(payer, periodOfDays(request, MOST_DAYS_OF_USAGE), filter);
      return inTurn(async () => {
        const page = await store.resourcesOf(database.sql, report, { ...pageOf(request), orders });
        const rows = await store.totalsOf(database.sql, report);
        return {
          count: page.count,
          resources: page.rows.map(presentedResource),
          totals: rows.map(presentedTotal),
        };
      });
    },
  };
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
function ordersOf({ order_by, sorting }: Pick<UsageRequest, 'order_by' | 'sorting'>): ReportOrder[] {
  if (order_by && sorting)
    throw new InvalidError({ sorting: ['Is the older form of order_by; send only one.'] });
  const older = sorting?.flatMap((one) => Object.entries(one).map(([field, how]) => `${field}.${how}`));
  return order_by ?? (older as ReportOrder[] | undefined) ?? ['project.asc'];
}
