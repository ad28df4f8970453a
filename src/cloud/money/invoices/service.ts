import type { Decimal } from 'decimal.js';
import type { Transaction } from '../../../db/database.ts';
import type { TaxSum } from '../../../db/json-columns.ts';
import { ConflictError, type FieldProblem, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { found } from '../../../lib/ids.ts';
import { isId, pageToken, placeOf } from '../../../lib/page.ts';
import { noteAccount } from '../../../lib/request-context.ts';
import { calendarTime } from '../../../lib/time.ts';
import type { Platform } from '../../../platform.ts';
import { INVOICE_PAID } from '../../../requests/event-types.ts';
import { eventData, writingEvents } from '../../../requests/events.ts';
import { type MoneySight, moneySeenBy, type Principal } from '../../../requests/principal.ts';
import { divided, Exact, sum, taxesOf, text, totalsOf } from './formula.ts';
import { invoicePdf } from './pdf.ts';
import * as presenter from './presenter.ts';
import type * as schema from './schema.ts';
import * as store from './store.ts';

/*
 * Invoices: an account sees its own final ones, a reseller's administrators those that the reseller issues or gets, the
 * platform administrator all. Who issues an invoice credits it and notes payments. Others are not found.
 */

export async function listInvoices(
  on: Platform,
  principal: Principal,
  { limit = 100, page_token, ...filter }: schema.InvoiceQuery,
): Promise<schema.Invoices> {
  const page = { before: placeOf(page_token, isId), limit: limit + 1 };
  const rows = await store.listInvoices(on.database.sql, moneySeenBy(principal), filter, page);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { results: shown.map(presenter.presentedSummary), next_page_token: last ? pageToken(last.id) : null };
}

/** @throws NotFoundError */
export const getInvoice = (on: Platform, principal: Principal, id: number): Promise<schema.Invoice> =>
  wholeInvoice(on, moneySeenBy(principal), id);

/** @throws NotFoundError */
export async function wholeInvoice(
  { database: { sql } }: Pick<Platform, 'database'>,
  sight: MoneySight,
  id: number,
): Promise<schema.Invoice> {
  const row = found('Invoice', id, await store.findInvoice(sql, sight, id));
  const lines = await store.linesOf(sql, [id]);
  const creditNotes = await store.creditNotesOf(sql, id);
  return presenter.presentedInvoice(row, { lines, creditNotes, payments: await store.paymentsOf(sql, id) });
}

/** Returns an invoice as a PDF. */
export const asPdf = (on: Platform, invoice: schema.Invoice): Promise<Buffer> =>
  invoicePdf(invoice, (id) => on.catalog.regions.get(id)?.display_name ?? `Region ${id}`);

/** Takes something off a final invoice. @throws NotFoundError, ConflictError for a draft, InvalidError for too much */
export const createCreditNote = (
  on: Platform,
  principal: Principal,
  id: number,
  request: schema.NewCreditNote,
): Promise<schema.CreditNote> =>
  on.database.accept(async (tx) => {
    const invoice = await lockIssued(tx, principal, id);
    const lines = await store.linesOf(tx.sql, [id]);
    const credited = creditedLines(lines, request);
    const percents = new Map(lines.map((one) => [one.line, one]));
    const taxed = credited.flatMap(({ line, amount }) => {
      const of = percents.get(line);
      return of ? [{ tax_percent: of.tax_percent, reverse_charge: of.reverse_charge, amount }] : [];
    });
    const earlier = (await store.creditNotesOf(tx.sql, id)).flatMap((note): TaxSum[] => note.taxes);
    const taxes = taxesOf(taxed, earlier);
    const year = tx.now.getUTCFullYear();
    const numbers = await store.takeNumbers(tx, 'credit_note', year, new Map([[invoice.issuer_id, 1]]));
    const note = await store.insertCreditNote(tx, {
      invoice_id: id,
      issuer_id: invoice.issuer_id,
      number: presenter.numberOf(invoice.issuer, 'credit_note', year, numbers.get(invoice.issuer_id) ?? 0),
      reason: request.reason,
      taxes,
      lines: credited.map(({ line, amount }) => ({ line, amount: text(amount) })),
      ...totalsOf(taxes),
      created_by: principal.userId,
      created_at: tx.now,
    });
    await noteSums(tx, invoice, { credited: note.gross });
    return presenter.presentedCreditNote(note);
  });

interface Credited {
  line: number;
  amount: Decimal;
}

/** @throws InvalidError, ConflictError if nothing is left */
function creditedLines(lines: readonly store.LineRow[], { amount, lines: asked }: schema.NewCreditNote): Credited[] {
  if (amount !== undefined && asked) throw new InvalidError({ lines: ['Is not allowed together with amount.'] });
  const left = lines.map(({ line, amount: whole, credited }) => ({ line, amount: new Exact(whole).minus(credited) }));
  const all = sum(left.map((one) => one.amount));
  if (all.eq(0)) throw new ConflictError('The invoice is credited as a whole');
  if (asked) return askedLines(left, asked);
  const total = amount === undefined ? all : new Exact(amount);
  const problem = problemOf(total, all);
  if (problem) throw new InvalidError({ amount: [problem] });
  const parts = divided(
    total,
    left.map((one) => one.amount),
  );
  return left
    .map(({ line }, index) => ({ line, amount: parts[index] ?? new Exact(0) }))
    .filter((one) => one.amount.gt(0));
}

function askedLines(left: readonly Credited[], asked: NonNullable<schema.NewCreditNote['lines']>): Credited[] {
  const seen = new Set<number>();
  const problems: FieldProblem[] = [];
  const credited = asked.flatMap(({ line, amount }, index): Credited[] => {
    const of = left.find((one) => one.line === line);
    const taken = of && (amount === undefined ? of.amount : new Exact(amount));
    const message =
      !of || !taken
        ? 'The invoice has no such line.'
        : of.amount.eq(0)
          ? 'Is credited as a whole.'
          : problemOf(taken, of.amount);
    if (message) problems.push({ field: `lines.${index}.${of && amount !== undefined ? 'amount' : 'line'}`, message });
    if (seen.has(line)) problems.push({ field: `lines.${index}.line`, message: 'Is there twice.' });
    seen.add(line);
    return taken ? [{ line, amount: taken }] : [];
  });
  if (problems.length > 0) throw new InvalidError(problems);
  return credited;
}

function problemOf(amount: Decimal, left: Decimal): string | undefined {
  if (amount.decimalPlaces() > 2) return 'Must be in whole cents.';
  if (amount.lte(0)) return 'Must be more than 0.';
  return amount.gt(left) ? `Must not be more than what is left: ${text(Exact.max(left, 0))}.` : undefined;
}

/**
 * Notes that something was paid. The same reference again changes nothing.
 * @throws InvalidError for more than is due, ConflictError for a draft or a reference of another payment
 */
export const createPayment = (
  on: Platform,
  principal: Principal,
  { invoice_id: id, amount: given, paid_at, reference }: schema.NewPayment,
): Promise<schema.Payment> =>
  on.database.accept(async (tx) => {
    const amount = new Exact(given);
    const paidAt = calendarTime('paid_at', paid_at);
    const invoice = await lockIssued(tx, principal, id, (reason) => new InvalidError({ invoice_id: [reason] }));
    const before = (await store.paymentsOf(tx.sql, id)).find((one) => one.reference === reference);
    if (before) {
      const isSame = amount.eq(before.amount) && (!paidAt || paidAt.getTime() === before.paid_at.getTime());
      if (!isSame) throw new ConflictError(`Payment ${before.id} of invoice ${id} has the same reference`);
      tx.made(before.id);
      return presenter.presentedPayment(before);
    }
    const problem = problemOf(amount, presenter.dueOf(invoice));
    if (problem) throw new InvalidError({ amount: [problem] });
    const payment = await store.insertPayment(tx, {
      invoice_id: id,
      amount: text(amount),
      paid_at: paidAt ?? tx.now,
      reference,
      created_by: principal.userId,
      created_at: tx.now,
    });
    tx.made(payment.id);
    const state = await noteSums(tx, invoice, { paid: payment.amount });
    if (state === 'paid' && invoice.client_id !== null) await tellPaid(tx, invoice, invoice.client_id);
    return presenter.presentedPayment(payment);
  });

/** Locks an invoice that the caller's side has issued. @throws NotFoundError or what `unknown` makes, ConflictError */
async function lockIssued(
  tx: Transaction,
  principal: Principal,
  id: number,
  unknown: (reason: string) => Error = () => new NotFoundError('Invoice', id),
): Promise<store.InvoiceRow> {
  const invoice = await store.lockInvoice(tx, moneySeenBy(principal), id);
  const isIssuer = principal.platformAdministrator || invoice?.issuer_id === principal.resellerId;
  if (!invoice || !isIssuer) throw unknown(`Invoice ${id} not found.`);
  if (invoice.state === 'draft') throw new ConflictError(`Invoice ${id} is a draft; it becomes final by itself`);
  if (invoice.client_id !== null) noteAccount(invoice.client_id);
  return invoice;
}

/** Adds to the sums of an invoice, and returns its new state. */
async function noteSums(
  tx: Transaction,
  invoice: store.InvoiceRow,
  added: { paid?: string; credited?: string },
): Promise<store.InvoiceRow['state']> {
  const paid = text(sum([invoice.paid, added.paid ?? 0]));
  const credited = text(sum([invoice.credited, added.credited ?? 0]));
  const state = presenter.stateOf({ ...invoice, paid, credited });
  await store.changeInvoice(tx, invoice.id, { paid, credited, state });
  return state;
}

async function tellPaid(tx: Transaction, { id, number }: store.InvoiceRow, clientId: number): Promise<void> {
  await writingEvents([
    {
      type: INVOICE_PAID,
      subject: `invoice/${id}`,
      client_id: clientId,
      project_id: null,
      revised: `invoices:${id}`,
      data: JSON.stringify(
        eventData({ client_id: clientId, resources: [{ type: 'invoice', id: String(id), name: number }] }),
      ),
    },
  ]).execute(tx.sql);
}
