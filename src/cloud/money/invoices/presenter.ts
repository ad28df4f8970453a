import type { IssuerSettings } from '../../../db/json-columns.ts';
import { isoSeconds } from '../../../lib/time.ts';
import type { NewMail } from '../../../mail/mailer.ts';
import { unitOf } from '../costs/presenter.ts';
import type { UsedType } from '../costs/schema.ts';
import { Exact, sum } from './formula.ts';
import type * as schema from './schema.ts';
import type { CreditNoteRow, InvoiceRow, LineRow, PaymentRow, WrittenInvoice } from './store.ts';

const DIGITS = 6;

/** Returns a number such as INV-2026-000001, or INV-C-2026-000001 for a credit note. */
export function numberOf(
  { invoice_prefix: prefix }: IssuerSettings,
  series: 'invoice' | 'credit_note',
  year: number,
  number: number,
): string {
  const kind = series === 'invoice' ? '' : '-C';
  return `${prefix}${kind}-${year}-${String(number).padStart(DIGITS, '0')}`;
}

export function mailOf(
  { id, number, issuer, month, gross, currency }: WrittenInvoice & { id: number },
  to: { to: string; clientId: number },
): NewMail {
  const data = {
    invoice: String(id),
    number: number ?? '',
    issuer: issuer?.company ?? '',
    month,
    amount: gross,
    currency,
  };
  return { kind: 'invoice', ...to, data };
}

export const dueOf = ({ gross, paid, credited }: Pick<InvoiceRow, 'gross' | 'paid' | 'credited'>) =>
  new Exact(gross).minus(paid).minus(credited);

const sumsOf = ({ net, vat, gross }: Pick<InvoiceRow, 'net' | 'vat' | 'gross'>) => ({
  net: Number(net),
  vat: Number(vat),
  gross: Number(gross),
});

export function presentedSummary(row: InvoiceRow): schema.InvoiceSummary {
  const due = dueOf(row);
  return {
    id: row.id,
    kind: row.kind,
    number: row.number,
    state: row.state,
    month: row.month,
    reseller_id: row.reseller_id,
    client_id: row.client_id,
    currency: row.currency,
    ...sumsOf(row),
    paid: Number(row.paid),
    credited: Number(row.credited),
    // What was paid for something that is credited later is given back otherwise.
    due: due.lt(0) ? 0 : due.toNumber(),
    created_at: isoSeconds(row.created_at),
    finalized_at: row.finalized_at && isoSeconds(row.finalized_at),
  };
}

const presentedTaxes = (taxes: InvoiceRow['taxes']): schema.Invoice['taxes'] =>
  taxes.map((one) => ({
    tax_percent: Number(one.tax_percent),
    reverse_charge: one.reverse_charge,
    ...sumsOf(one),
  }));

function presentedLine(row: LineRow): schema.Invoice['lines'][number] {
  const type = row.type as UsedType;
  return {
    line: row.line,
    project_id: row.project || null,
    project_name: row.project_name,
    region_id: row.region_id,
    type,
    kind: row.sku,
    quantity: Number(row.quantity),
    unit: unitOf(type),
    tax_percent: Number(row.tax_percent),
    reverse_charge: row.reverse_charge,
    amount: Number(row.amount),
  };
}

export const presentedCreditNote = (row: CreditNoteRow): schema.CreditNote => ({
  id: row.id,
  number: row.number,
  reason: row.reason,
  ...sumsOf(row),
  taxes: presentedTaxes(row.taxes),
  lines: row.lines.map(({ line, amount }) => ({ line, amount: Number(amount) })),
  created_at: isoSeconds(row.created_at),
});

export const presentedPayment = (row: PaymentRow): schema.Payment => ({
  id: row.id,
  invoice_id: row.invoice_id,
  amount: Number(row.amount),
  paid_at: isoSeconds(row.paid_at),
  reference: row.reference,
  created_at: isoSeconds(row.created_at),
});

export function presentedInvoice(
  row: InvoiceRow,
  of: { lines: readonly LineRow[]; creditNotes: readonly CreditNoteRow[]; payments: readonly PaymentRow[] },
): schema.Invoice {
  const { company, address, country, vat_id } = row.issuer;
  return {
    ...presentedSummary(row),
    issuer: { company, address, country, ...(vat_id !== undefined && { vat_id }) },
    customer: row.customer,
    taxes: presentedTaxes(row.taxes),
    lines: of.lines.map(presentedLine),
    credit_notes: of.creditNotes.map(presentedCreditNote),
    payments: of.payments.map(presentedPayment),
  };
}

/** Returns what a state follows from: what was paid and what was credited. */
export function stateOf(invoice: Pick<InvoiceRow, 'gross' | 'paid' | 'credited'>): InvoiceRow['state'] {
  if (sum([invoice.credited]).eq(invoice.gross)) return 'credited';
  if (dueOf(invoice).lte(0)) return 'paid';
  return sum([invoice.paid]).gt(0) ? 'partly_paid' : 'open';
}
