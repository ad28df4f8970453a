import type { Decimal } from 'decimal.js';
import type { Transaction } from '../../../db/database.ts';
import { grouped } from '../../../lib/lists.ts';
import { loop } from '../../../lib/loop.ts';
import { secondOf } from '../../../lib/time.ts';
import type { NewMail } from '../../../mail/mailer.ts';
import { administratorsOf } from '../../../mail/receivers.ts';
import type { Platform } from '../../../platform.ts';
import { BUDGET_REACHED } from '../../../requests/event-types.ts';
import { eventData, writingEvents } from '../../../requests/events.ts';
import { pricedUses, unitsPerPrice } from '../costs/service.ts';
import { linesOf, spansOf, type LineRow as UsedLine } from '../costs/statements/service.ts';
import { Exact } from '../invoices/formula.ts';
import { monthOf } from './service.ts';
import * as store from './store.ts';

/*
 * Counts what was spent in the month, about once a minute, and tells people of what is reached. Workers share the budgets:
 * each takes some for a while, counts without holding anything locked, and notes what it found.
 */

const LOOK_MS = 2_000;
const BATCH = 20;
const EVERY_MS = 60_000;
/** What takes long to count is counted more seldom. */
const REST = 20;
const LINES_AT_ONCE = 10_000;

/** Begins to count. `mayWork` says whether the clock can be trusted. */
export function startBudgets(on: Platform, mayWork: () => boolean): { stop(): Promise<void> } {
  let stopped = false;
  const counting = loop('counting what was spent of budgets', LOOK_MS, on.log, async () => {
    while (!stopped && mayWork()) {
      const due = await on.database.transaction((tx) => store.takeDue(tx, BATCH));
      if (due.length > 0) await count(on, due);
      if (due.length < BATCH) return;
    }
  });
  return {
    async stop() {
      stopped = true;
      await counting.stop();
    },
  };
}

async function count(on: Platform, due: readonly store.DueBudget[]): Promise<void> {
  const began = performance.now();
  const now = on.clock.now();
  const { spent, currencies } = await spentBy(on, [...new Set(due.map(({ client_id }) => client_id))], now);
  const counted = due.map(({ id, client_id, project_id, currency: before }) => {
    // The amount stands in what the account pays in now.
    const currency = currencies.get(client_id) ?? before;
    return { id, currency, spent: (spent.get(keyOf(client_id, project_id, currency)) ?? new Exact(0)).toFixed() };
  });
  const pause = Math.max(EVERY_MS, REST * (performance.now() - began));
  await on.database.transaction(async (tx) => {
    const times = { month: monthOf(now), at: secondOf(now), again: new Date(now.getTime() + pause) };
    const reached = await store.noteSpent(tx, counted, times);
    if (reached.length > 0) await tell(on, tx, reached);
  });
}

const keyOf = (clientId: number, projectId: number | null, currency: string) =>
  `${clientId} ${projectId ?? ''} ${currency}`;

interface Spent {
  /** Of accounts and their projects, in each currency. */
  spent: Map<string, Decimal>;
  /** What accounts pay in now. */
  currencies: Map<number, store.BudgetRow['currency']>;
}

/** Returns what accounts and their projects have spent in this month, with VAT. */
async function spentBy(on: Platform, clients: readonly number[], now: Date): Promise<Spent> {
  const { sql } = on.database;
  const [from, to] = [new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())), secondOf(now)];
  const wanted = {
    from,
    to,
    now,
    clients,
    projects: undefined,
    regions: undefined,
    types: undefined,
    byProject: true,
    byResource: false,
  };
  const spent = new Map<string, Decimal>();
  if (to <= from) return { spent, currencies: new Map() };
  const dated = await on.rates.between(clients, from, to);
  const currencies = new Map(
    clients.flatMap((id) => {
      const latest = dated.get(id)?.at(-1);
      return latest ? [[id, latest.prices.terms.currency] as const] : [];
    }),
  );
  const spans = clients.flatMap((id) => spansOf(id, { from, to, byDay: false }, dated.get(id) ?? []));
  for (let after: UsedLine | undefined; ; ) {
    const rows = await linesOf(sql, wanted, spans, { after, limit: LINES_AT_ONCE });
    for (const row of rows) add(spent, row, pricedUses(dated.get(row.client_id) ?? [], row));
    after = rows.at(-1);
    if (rows.length < LINES_AT_ONCE) return { spent, currencies };
  }
}

function add(
  spent: Map<string, Decimal>,
  { client_id, project_id, type }: UsedLine,
  uses: ReturnType<typeof pricedUses>,
): void {
  for (const { hour, units, terms } of uses) {
    const cost = new Exact(hour ?? 0).times(units).div(unitsPerPrice(type));
    for (const project of [null, project_id]) {
      const key = keyOf(client_id, project, terms.currency);
      spent.set(key, (spent.get(key) ?? new Exact(0)).plus(cost));
    }
  }
}

/** Writes the events and mails of budgets that have reached a percentage. */
async function tell(on: Platform, tx: Transaction, reached: readonly store.Reached[]): Promise<void> {
  await writingEvents(
    reached.map(({ id, client_id, project_id }) => ({
      type: BUDGET_REACHED,
      subject: `budget/${id}`,
      client_id,
      project_id,
      revised: `budgets:${id}`,
      data: JSON.stringify(
        eventData({ client_id, project_id, resources: [{ type: 'budget', id: String(id), name: null }] }),
      ),
    })),
  ).execute(tx.sql);
  const administrators = await administratorsOf(
    tx,
    reached.map(({ client_id }) => client_id),
  );
  const ofAccount = grouped(administrators, ({ client_id }) => client_id);
  const mails = reached.flatMap((budget) =>
    (ofAccount.get(budget.client_id) ?? []).map(({ email }): NewMail => mailOf(budget, email)),
  );
  await on.mailer.queue(tx, mails);
}

const mailOf = (budget: store.Reached, to: string): NewMail => ({
  kind: 'budget_reached',
  to,
  clientId: budget.client_id,
  data: {
    budget: String(budget.id),
    project: budget.project_id === null ? '' : String(budget.project_id),
    percentage: String(budget.told),
    amount: budget.amount,
    currency: budget.currency,
    month: budget.month,
    stops: budget.stops_creation && new Exact(budget.spent).gte(budget.amount) ? 'yes' : '',
  },
});
