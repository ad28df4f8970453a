import type { Decimal } from 'decimal.js';
import type { Transaction } from '../../../db/database.ts';
import type { BillingParty, IssuerSettings } from '../../../db/json-columns.ts';
import { grouped } from '../../../lib/lists.ts';
import { loop } from '../../../lib/loop.ts';
import type { MailData, MailKind } from '../../../mail/kinds.ts';
import type { NewMail } from '../../../mail/mailer.ts';
import { administratorsOf } from '../../../mail/receivers.ts';
import type { Platform } from '../../../platform.ts';
import { INVOICE_FINALIZED } from '../../../requests/event-types.ts';
import { eventData, writingEvents } from '../../../requests/events.ts';
import { PLATFORM, partiesBetween } from '../../ground/prices/parties/in-transaction.ts';
import type { DatedPrices } from '../../ground/prices/service.ts';
import type { UsedType } from '../costs/schema.ts';
import { pricedUses, unitsPerPrice } from '../costs/service.ts';
import { clientsWithUse, linesOf, spansOf, type LineRow as UsedLine } from '../costs/statements/service.ts';
import { Exact, roundedTogether, taxesOf, totalsOf } from './formula.ts';
import { mailOf, numberOf } from './presenter.ts';
import { asPdf, wholeInvoice } from './service.ts';
import * as store from './store.ts';

/*
 * Makes the invoices of each month that has ended. A month goes through stages: drafts of all accounts and then of resellers,
 * and after the grace time the same again, final. Each step locks the month, does a few accounts in one transaction, and
 * notes how far it came. So any number of workers share the months, and one that dies leaves nothing half done.
 */

const LOOK_MS = 2_000;
/** Accounts, or resellers, of one transaction. */
const BATCH = 20;
const LINES_AT_ONCE = 10_000;

/** Begins to look for months to invoice. `mayWork` says whether the clock can be trusted. */
export function startInvoicing(
  on: Platform,
  { graceMs, mayWork }: { graceMs: number; mayWork: () => boolean },
): { stop(): Promise<void> } {
  let stopped = false;
  const looking = loop('making invoices', LOOK_MS, on.log, async () => {
    while (!stopped && mayWork() && (await store.isAnyDue(on.database.sql, on.clock.now(), graceMs))) {
      if (!(await on.database.transaction((tx) => step(on, tx, graceMs)))) return;
    }
  });
  return {
    async stop() {
      stopped = true;
      await looking.stop();
    },
  };
}

const NEXT = {
  draft_clients: 'draft_resellers',
  draft_resellers: 'final_clients',
  final_clients: 'final_resellers',
  final_resellers: 'done',
  done: 'done',
} as const satisfies Record<store.MonthRow['stage'], store.MonthRow['stage']>;

/** Does the next few accounts. Returns false if other workers are at all there is to do. */
async function step(on: Platform, tx: Transaction, graceMs: number): Promise<boolean> {
  await store.beginMonths(tx);
  const row = await store.lockMonth(tx, graceMs);
  if (!row) return false;
  const { month, stage } = row;
  const period = { month, ...timeOf(month), isFinal: stage.startsWith('final') };
  // What the drafts had is added up anew.
  if (stage === 'final_clients' && row.next_id === 0) await store.emptyWholesale(tx, month);
  const next = stage.endsWith('clients')
    ? await billClients(on, tx, period, row.next_id)
    : await billResellers(on, tx, period, row.next_id);
  if (next !== undefined) {
    await store.changeMonth(tx, { month, stage, next_id: next });
    return true;
  }
  if (stage === 'final_resellers') await store.removeDrafts(tx, month);
  await store.changeMonth(tx, { month, stage: NEXT[stage], next_id: 0 });
  return true;
}

interface Period {
  month: string;
  from: Date;
  to: Date;
  isFinal: boolean;
}

function timeOf(month: string): { from: Date; to: Date } {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return { from: new Date(Date.UTC(year, number - 1)), to: new Date(Date.UTC(year, number)) };
}

/** An invoice before its amounts are rounded. */
interface Draft {
  clientId: number | null;
  resellerId: number;
  currency: store.InvoiceRow['currency'];
  lines: Map<string, DraftLine>;
}
interface DraftLine extends Omit<store.WrittenLine, 'invoice_id' | 'line' | 'type' | 'quantity' | 'exact' | 'amount'> {
  type: UsedType;
  quantity: Decimal;
  /** Prices times units: what it costs, once it is divided by the units of a price. */
  priced: Decimal;
}

const exactOf = ({ priced, type }: Pick<DraftLine, 'priced' | 'type'>): Decimal => priced.div(unitsPerPrice(type));

/** Bills the first accounts from that ID on. Returns the ID to go on with; undefined after the last one. */
async function billClients(on: Platform, tx: Transaction, period: Period, first: number): Promise<number | undefined> {
  const everything = { projects: undefined, regions: undefined, types: undefined };
  const wanted = { ...everything, ...period, now: tx.now, clients: undefined, byProject: true, byResource: false };
  const found = await clientsWithUse(tx.sql, { all: true }, wanted, { first, limit: BATCH });
  if (found.length === 0) return undefined;
  const clients = { ...wanted, clients: found };
  const retail = await draftsOf(on, tx, clients, 'retail');
  const wholesale = await draftsOf(on, tx, clients, 'wholesale');
  const parties = await partiesOf(tx, period, [...retail, ...wholesale]);
  await writeRetail(on, tx, period, parties, retail);
  await addWholesale(tx, period, parties, wholesale);
  return (found.at(-1) ?? first) + 1;
}

type Wanted = Parameters<typeof linesOf>[1] & { clients: readonly number[] };

/** Returns what the accounts pay, or what their resellers owe, for each reseller and currency. */
async function draftsOf(on: Platform, tx: Transaction, wanted: Wanted, kind: store.InvoiceRow['kind']) {
  const dated = await on.rates.between(wanted.clients, wanted.from, wanted.to, kind, tx.sql);
  const drafts = new Map<string, Draft>();
  const spans = wanted.clients.flatMap((id) => spansOf(id, { ...wanted, byDay: false }, dated.get(id) ?? []));
  let unpriced = 0;
  for (let after: UsedLine | undefined; ; ) {
    const rows = await linesOf(tx.sql, wanted, spans, { after, limit: LINES_AT_ONCE });
    for (const row of rows) unpriced += addUse(drafts, row, dated.get(row.client_id) ?? [], kind);
    after = rows.at(-1);
    if (rows.length < LINES_AT_ONCE) break;
  }
  if (unpriced > 0) {
    on.log.warn({ clients: wanted.clients, kind, unpriced }, 'Some use has no price, and so is on no invoice');
  }
  return [...drafts.values()];
}

/** Returns how many parts of the use have no price. */
function addUse(
  drafts: Map<string, Draft>,
  row: UsedLine,
  dated: readonly DatedPrices[],
  kind: store.InvoiceRow['kind'],
): number {
  let unpriced = 0;
  const [clientId, project] = kind === 'retail' ? [row.client_id, row.project_id] : [null, 0];
  for (const { amount, units, hour, resellerId, terms } of pricedUses(dated, row)) {
    if (hour === null) {
      unpriced++;
      continue;
    }
    const { currency, taxPercent, reverseCharge = false } = terms;
    const key = `${clientId} ${resellerId} ${currency}`;
    const draft = drafts.get(key) ?? { clientId, resellerId, currency, lines: new Map<string, DraftLine>() };
    drafts.set(key, draft);
    const what = { project, region_id: row.region_id, type: row.type, sku: row.sku };
    const rate = { tax_percent: new Exact(taxPercent).toFixed(), reverse_charge: reverseCharge };
    const lineKey = Object.values({ ...what, ...rate }).join(' ');
    const line = draft.lines.get(lineKey) ?? { ...what, ...rate, quantity: new Exact(0), priced: new Exact(0) };
    draft.lines.set(lineKey, {
      ...line,
      quantity: line.quantity.plus(new Exact(amount).times(units)),
      priced: line.priced.plus(new Exact(hour).times(units)),
    });
  }
  return unpriced;
}

/** Who is on the invoices. An issuer that had no settings when the month ended issues none. */
interface Parties {
  issuers: ReadonlyMap<number, IssuerSettings>;
  profiles: ReadonlyMap<number, BillingParty & { email?: string }>;
  resellers: ReadonlyMap<number, store.Reseller>;
}

async function partiesOf(
  tx: Transaction,
  { to }: Period,
  invoices: readonly Pick<Draft, 'clientId' | 'resellerId'>[],
): Promise<Parties> {
  const resellerIds = [...new Set(invoices.map((one) => one.resellerId))];
  const clientIds = [...new Set(invoices.flatMap(({ clientId }) => clientId ?? []))];
  const begun = await partiesBetween(
    tx.sql,
    'issuer',
    [PLATFORM, ...resellerIds],
    new Date(to.getTime() - 1),
    undefined,
  );
  const active = new Set(begun.filter(({ from }) => from < to).map(({ of }) => of));
  const present = begun.filter(({ of, from }) => active.has(of) && from <= tx.now);
  const profiles = await partiesBetween(tx.sql, 'profile', clientIds, tx.now, undefined);
  const companies = await store.companiesOf(tx, clientIds);
  const nameless = (company: string) => ({ company, address: '', country: '' });
  return {
    issuers: new Map(present.map(({ of, about }) => [of, about])),
    profiles: new Map([
      ...[...companies].map(([id, company]): [number, BillingParty] => [id, nameless(company)]),
      ...profiles.map(({ of, about }): [number, BillingParty] => [of, about]),
    ]),
    resellers: await store.resellersOf(tx, resellerIds),
  };
}

type Amounts = { taxes: ReturnType<typeof taxesOf> } & ReturnType<typeof totalsOf>;
const NOTHING: Amounts = { taxes: [], net: '0.00', vat: '0.00', gross: '0.00' };

/** Returns lines with amounts in cents, and their sums. */
function billed<Line extends { tax_percent: string; reverse_charge: boolean }>(
  lines: readonly Line[],
  exact: readonly Decimal[],
) {
  const amounts = roundedTogether(exact);
  const rounded = lines.map((line, index) => ({ ...line, line: index + 1, amount: amounts[index] ?? new Exact(0) }));
  const taxes = taxesOf(rounded);
  return { lines: rounded, taxes, ...totalsOf(taxes) };
}

const plain = ({ company, address, country, vat_id }: BillingParty): BillingParty => ({
  company,
  address,
  country,
  ...(vat_id !== undefined && { vat_id }),
});

async function writeRetail(on: Platform, tx: Transaction, period: Period, parties: Parties, drafts: readonly Draft[]) {
  const made = drafts.flatMap(({ clientId, resellerId, currency, lines }) => {
    const issuer = parties.issuers.get(resellerId);
    const customer = clientId === null ? undefined : parties.profiles.get(clientId);
    if (!issuer || !customer) return [];
    const sorted = [...lines.values()].sort(byPlace);
    const exact = sorted.map(exactOf);
    const { lines: rounded, ...amounts } = billed(sorted, exact);
    if (amounts.gross === NOTHING.gross) return [];
    const invoice = newInvoice(tx, period, {
      kind: 'retail',
      issuer_id: resellerId,
      reseller_id: resellerId,
      client_id: clientId,
      currency,
      issuer,
      customer: plain(customer),
      ...amounts,
    });
    const texts = rounded.map(({ priced: _, quantity, amount, ...line }, index) => ({
      ...line,
      quantity: quantity.toFixed(),
      exact: (exact[index] ?? new Exact(0)).toFixed(),
      amount: amount.toFixed(),
    }));
    return [{ invoice, lines: texts }];
  });
  const numbered = await withNumbers(
    tx,
    period,
    made.map(({ invoice }) => invoice),
  );
  const keys = await store.writeInvoices(tx, numbered);
  if (keys.length < numbered.length) throw new Error(`${period.month} has final invoices that it should not have`);
  if (keys.length === 0) return;
  const ids = new Map(keys.map((key) => [keyOf(key), key.id]));
  const lines = made.flatMap(({ invoice, lines: of }) =>
    of.map((line) => ({ ...line, invoice_id: ids.get(keyOf(invoice)) ?? 0 })),
  );
  await store.writeLines(tx, [...ids.values()], lines, { add: false });
  if (period.isFinal) {
    await tell(
      on,
      tx,
      parties,
      numbered.map((one) => ({ ...one, id: ids.get(keyOf(one)) ?? 0 })),
    );
  }
}

const keyOf = (of: Omit<store.InvoiceKey, 'id'>) => `${of.client_id} ${of.reseller_id} ${of.currency}`;

type Place = Pick<store.WrittenLine, 'project' | 'region_id' | 'type' | 'sku'>;
const byPlace = (a: Place, b: Place): number =>
  a.project - b.project ||
  a.region_id - b.region_id ||
  a.type.localeCompare(b.type, 'en') ||
  a.sku.localeCompare(b.sku, 'en');

/** Adds what the accounts of this batch cost their resellers. */
async function addWholesale(tx: Transaction, period: Period, parties: Parties, drafts: readonly Draft[]) {
  const issuer = parties.issuers.get(PLATFORM);
  const owed = drafts.filter(({ resellerId }) => parties.resellers.get(resellerId)?.is_own === false);
  if (!issuer || owed.length === 0) return;
  const keys = await store.writeInvoices(
    tx,
    owed.map(({ resellerId, currency }) =>
      newInvoice(
        tx,
        { ...period, isFinal: false },
        {
          kind: 'wholesale',
          issuer_id: PLATFORM,
          reseller_id: resellerId,
          client_id: null,
          currency,
          issuer,
          customer: debtor(parties, resellerId),
          ...NOTHING,
        },
      ),
    ),
  );
  const ids = new Map(keys.map((key) => [keyOf(key), key.id]));
  const lines = owed.flatMap(({ resellerId, currency, lines: of }) => {
    const id = ids.get(keyOf({ client_id: null, reseller_id: resellerId, currency }));
    if (id === undefined) throw new Error(`${period.month} has final wholesale that it should not have`);
    return [...of.values()].map(({ priced, quantity, ...line }) => ({
      ...line,
      invoice_id: id,
      line: 0,
      quantity: quantity.toFixed(),
      exact: exactOf({ ...line, priced }).toFixed(),
      amount: '0',
    }));
  });
  await store.writeLines(tx, [], lines, { add: true });
}

const debtor = ({ issuers, resellers }: Parties, id: number): BillingParty =>
  plain(issuers.get(id) ?? { company: resellers.get(id)?.name ?? '', address: '', country: '' });

/** Sums up what resellers owe, from that invoice on. Returns the ID to go on with; undefined after the last one. */
async function billResellers(
  on: Platform,
  tx: Transaction,
  period: Period,
  first: number,
): Promise<number | undefined> {
  const drafts = await store.wholesaleDrafts(tx, period.month, first, BATCH);
  if (drafts.length === 0) return undefined;
  const ids = drafts.map(({ id }) => id);
  const linesBy = grouped(await store.linesOf(tx.sql, ids), (line) => line.invoice_id);
  const parties = await partiesOf(
    tx,
    period,
    drafts.map(({ reseller_id }) => ({ clientId: null, resellerId: reseller_id })),
  );
  const owed = drafts.flatMap(({ id, paid: _paid, credited: _credited, ...draft }) => {
    const sorted = [...(linesBy.get(id) ?? [])].sort(byPlace);
    const { lines, ...amounts } = billed(
      sorted,
      sorted.map(({ exact }) => new Exact(exact)),
    );
    const issuer = parties.issuers.get(PLATFORM) ?? draft.issuer;
    const invoice = newInvoice(tx, period, {
      ...draft,
      issuer,
      customer: debtor(parties, draft.reseller_id),
      ...amounts,
    });
    return [{ id, invoice, lines: lines.map((line) => ({ ...line, amount: line.amount.toFixed() })) }];
  });
  await store.noteAmounts(
    tx,
    owed.flatMap(({ lines }) => lines),
  );
  // What comes to nothing stays a draft, and goes at the end.
  const real = owed.filter(({ invoice }) => invoice.gross !== NOTHING.gross);
  const numbered = await withNumbers(
    tx,
    period,
    real.map(({ invoice }) => invoice),
  );
  await store.writeInvoices(tx, numbered);
  if (period.isFinal) {
    await tell(
      on,
      tx,
      parties,
      numbered.map((one, index) => ({ ...one, id: real[index]?.id ?? 0 })),
    );
  }
  return (ids.at(-1) ?? first) + 1;
}

type Given = Omit<store.WrittenInvoice, 'month' | 'state' | 'number' | 'created_at' | 'finalized_at'>;

const newInvoice = (tx: Transaction, { month, isFinal }: Period, given: Given): store.WrittenInvoice => ({
  ...given,
  month,
  state: isFinal ? 'open' : 'draft',
  number: null,
  created_at: tx.now,
  finalized_at: isFinal ? tx.now : null,
});

/** Gives final invoices their numbers. Drafts have none. */
async function withNumbers(
  tx: Transaction,
  { isFinal }: Period,
  invoices: readonly store.WrittenInvoice[],
): Promise<store.WrittenInvoice[]> {
  if (!isFinal || invoices.length === 0) return [...invoices];
  const year = tx.now.getUTCFullYear();
  const of = grouped(invoices, ({ issuer_id }) => issuer_id);
  const counts = new Map([...of].map(([id, all]) => [id, all.length]));
  const last = await store.takeNumbers(tx, 'invoice', year, counts);
  const next = new Map([...counts].map(([id, count]) => [id, (last.get(id) ?? 0) - count]));
  return invoices.map((invoice) => {
    const number = (next.get(invoice.issuer_id) ?? 0) + 1;
    next.set(invoice.issuer_id, number);
    return { ...invoice, number: numberOf(invoice.issuer, 'invoice', year, number) };
  });
}

/** Writes the events and mails of final invoices. */
async function tell(
  on: Platform,
  tx: Transaction,
  { profiles, resellers, issuers }: Parties,
  invoices: readonly (store.WrittenInvoice & { id: number })[],
): Promise<void> {
  const accountOf = ({ client_id, reseller_id }: store.WrittenInvoice) =>
    client_id ?? resellers.get(reseller_id)?.account ?? null;
  const told = invoices.flatMap((invoice) => {
    const account = accountOf(invoice);
    return account === null ? [] : [{ invoice, account }];
  });
  if (told.length === 0) return;
  await writingEvents(
    told.map(({ invoice: { id, number }, account }) => ({
      type: INVOICE_FINALIZED,
      subject: `invoice/${id}`,
      client_id: account,
      project_id: null,
      revised: `invoices:${id}`,
      data: JSON.stringify(
        eventData({ client_id: account, resources: [{ type: 'invoice', id: String(id), name: number }] }),
      ),
    })),
  ).execute(tx.sql);
  const administrators = await administratorsOf(
    tx,
    told.map(({ account }) => account),
  );
  const ofAccount = grouped(administrators, ({ client_id }) => client_id);
  const mails = told.flatMap(({ invoice, account }): NewMail[] => {
    const party = invoice.client_id === null ? issuers.get(invoice.reseller_id) : profiles.get(invoice.client_id);
    const receivers = party?.email === undefined ? (ofAccount.get(account) ?? []) : [{ email: party.email }];
    return receivers.map(({ email }) => mailOf(invoice, { to: email, clientId: account }));
  });
  await on.mailer.queue(tx, mails);
}

/** Returns what attaches invoices to the mails that tell of them. */
export const invoiceAttacher =
  (on: Platform) =>
  async <Kind extends MailKind>(kind: Kind, data: MailData[Kind]) => {
    if (kind !== 'invoice') return undefined;
    const { invoice: id, number } = data as MailData['invoice'];
    const invoice = await wholeInvoice(on, { all: true }, Number(id));
    return [{ filename: `${number}.pdf`, content: await asPdf(on, invoice), contentType: 'application/pdf' }];
  };
