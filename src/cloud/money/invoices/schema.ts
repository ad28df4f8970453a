import { type Static, type TProperties, Type } from 'typebox';
import * as wire from '../../../lib/wire.ts';
import { CurrencyCode } from '../../ground/catalog/schema.ts';
import { USED_TYPES } from '../costs/schema.ts';

const { Array: List, Boolean: Flag, Integer, Number: Num, Optional, String: Text } = Type;

const STATES = ['draft', 'open', 'partly_paid', 'paid', 'credited'] as const;
const KINDS = ['retail', 'wholesale'] as const;

const Month = { pattern: '^\\d{4}-(0[1-9]|1[0-2])$', rule: 'Must be a month such as 2026-03.', examples: ['2026-03'] };
const money = (description: string) => Num({ description, examples: [8.85] });
const tax = {
  tax_percent: Num({ description: 'Percentage of VAT in it', examples: [19] }),
  reverse_charge: Flag({ description: 'Whether the customer owes the VAT' }),
};
const sums = {
  net: money('Without VAT'),
  vat: money('VAT'),
  gross: money('With VAT'),
};
const party = (title: string) =>
  wire.Named(title, {
    company: Text({ description: 'Name' }),
    address: Text({ description: 'Address, in lines' }),
    country: Text({ description: 'ISO 3166-1 code; empty if unknown', examples: ['DE'] }),
    vat_id: wire.OptionalText({ description: 'VAT ID', examples: ['DE123456789'] }),
  });

const summary = {
  id: wire.IntegerId('Invoice'),
  kind: wire.Choice(
    KINDS,
    '`retail`: what an account pays its reseller. `wholesale`: what a reseller owes the platform',
  ),
  number: wire.TextOrNull({ description: 'Null for a draft', examples: ['INV-2026-000001'] }),
  state: wire.Choice(STATES, 'Drafts become `open` when they are final'),
  month: Text({ description: 'Month in UTC', examples: ['2026-03'] }),
  reseller_id: Integer({ description: 'The reseller that issues it, or that gets it if it is wholesale' }),
  client_id: wire.IntegerOrNull({ description: 'The account that gets it; null for wholesale' }),
  currency: CurrencyCode,
  ...sums,
  paid: money('What was paid'),
  credited: money('What credit notes took off'),
  due: money('What is still to be paid'),
  created_at: wire.Timestamp(),
  finalized_at: wire.nullable(wire.Timestamp('When it became final; its date')),
};
export const InvoiceSummary = wire.Named('InvoiceSummary', summary);
export type InvoiceSummary = Static<typeof InvoiceSummary>;

const InvoiceTax = wire.Named('InvoiceTax', { ...tax, ...sums });
const line = {
  line: Integer({ description: 'From 1 on', examples: [1] }),
  project_id: wire.IntegerOrNull({ description: 'Project; null for wholesale' }),
  project_name: wire.TextOrNull({ description: 'Its name' }),
  region_id: Integer({ description: 'Region' }),
  type: wire.oneOf(USED_TYPES, { description: 'Type of resource', examples: ['volume'] }),
  kind: Text({ description: 'Flavor or type of volume', examples: ['standard'] }),
  quantity: Num({ description: 'How much was used' }),
  unit: wire.oneOf(['seconds', 'gib_seconds', 'bytes'], {
    description: 'Seconds, or GiB times seconds; bytes of traffic',
  }),
  ...tax,
  amount: money('With VAT'),
};
const namesOf = <P extends TProperties>(properties: P) => Object.keys(properties) as (keyof P & string)[];
/** The columns of CSV. */
export const LINE_COLUMNS = namesOf(line);

const CreditNote = wire.Named('CreditNote', {
  id: wire.IntegerId('Credit note'),
  number: Text({ description: 'In a series of its own', examples: ['INV-C-2026-000001'] }),
  reason: Text({ description: 'Why' }),
  ...sums,
  taxes: List(InvoiceTax),
  lines: List(wire.Named('CreditedLine', { line: Integer({ description: 'Line' }), amount: money('With VAT') })),
  created_at: wire.Timestamp(),
});
export type CreditNote = Static<typeof CreditNote>;

export const Payment = wire.Named('Payment', {
  id: wire.IntegerId('Payment'),
  invoice_id: Integer({ description: 'Invoice' }),
  amount: money('Amount'),
  paid_at: wire.Timestamp('When it was paid'),
  reference: Text({ description: 'Where it is found in the accounts' }),
  created_at: wire.Timestamp(),
});
export type Payment = Static<typeof Payment>;

export const Invoice = wire.Named('Invoice', {
  ...summary,
  issuer: party('InvoiceIssuer'),
  customer: party('InvoiceCustomer'),
  taxes: List(InvoiceTax, { description: 'The sums of each rate of VAT' }),
  lines: List(wire.Named('InvoiceLine', line)),
  credit_notes: List(CreditNote),
  payments: List(Payment),
});
export type Invoice = Static<typeof Invoice>;

export const Invoices = wire.Named('Invoices', {
  results: List(InvoiceSummary, { description: 'The latest first' }),
  next_page_token: wire.TextOrNull({ description: 'For the next page; null on the last one' }),
});
export type Invoices = Static<typeof Invoices>;

export const InvoiceQuery = wire.Query({
  month: wire.OptionalText({ ...Month, description: 'Only those of this month' }),
  client_id: Optional(wire.IntegerId('Only those of this account')),
  reseller_id: Optional(wire.IntegerId('Only those that this reseller issues or gets')),
  state: wire.OptionalChoice(STATES, 'Only those in this state'),
  kind: wire.OptionalChoice(KINDS, 'Only those of this kind'),
  limit: wire.OptionalInteger({ minimum: 1, maximum: 1_000, default: 100, description: 'Maximum number of results' }),
  page_token: wire.OptionalText({ pattern: '^[\\w-]{1,60}$', description: '`next_page_token` of the page before' }),
});
export type InvoiceQuery = Static<typeof InvoiceQuery>;

export const InvoiceParams = Type.Object({ invoice_id: wire.IntegerId('Invoice ID') });

/** The answers by media type. */
export const asJsonCsvOrPdf = {
  description: 'By `Accept`: JSON, the lines as CSV, or PDF',
  content: {
    'application/json': { schema: Invoice },
    'text/csv': { schema: Text({ description: 'RFC 4180' }) },
    'application/pdf': { schema: Text({ format: 'binary' }) },
  },
};

const amount = (description: string) =>
  Num({ exclusiveMinimum: 0, maximum: 1_000_000_000_000, description, examples: [1.5] });

export const NewCreditNote = wire.Input(
  'NewCreditNote',
  {
    reason: Text({ minLength: 1, maxLength: 500, description: 'Why; on the credit note' }),
    amount: Optional(amount('With VAT, taken off all lines in proportion. Without it and lines, all that is left')),
    lines: wire.OptionalList(
      wire.Input('NewCreditedLine', {
        line: wire.IntegerId('Line of the invoice'),
        amount: Optional(amount('With VAT; the whole line if left out')),
      }),
      { minItems: 1, maxItems: 500, description: 'Single lines, instead of amount' },
    ),
  },
  { reason: 'A region was not reachable', amount: 1.5 },
);
export type NewCreditNote = Static<typeof NewCreditNote>;

export const NewPayment = wire.Input(
  'NewPayment',
  {
    invoice_id: wire.IntegerId('Invoice'),
    amount: amount('In the currency of the invoice; not more than is due'),
    paid_at: Optional(wire.QueryTime('When it was paid; now if left out')),
    reference: Text({
      minLength: 1,
      maxLength: 200,
      description: 'Where it is found in your accounts. The same one again changes nothing',
      examples: ['bank-2026-04-12-7'],
    }),
  },
  { invoice_id: 1, amount: 1.5, reference: 'bank-2026-04-12-7' },
);
export type NewPayment = Static<typeof NewPayment>;
