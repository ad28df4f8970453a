import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { accepts, csvOf } from '../../../http/streamed.ts';
import type { Platform } from '../../../platform.ts';
import * as schema from './schema.ts';
import { asPdf, createCreditNote, createPayment, getInvoice, listInvoices } from './service.ts';

const BASE = '/tradewind/v1/invoices';
const ONE = `${BASE}/:invoice_id`;
const tags = ['Invoices'];

export function invoiceRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags });

  api.get(BASE, 'listInvoices', 'List invoices', {
    description:
      'The final ones of your own account. Administrators of a reseller see those that it issues or gets, also drafts of its own; the platform administrator all.',
    query: schema.InvoiceQuery,
    answer: schema.Invoices,
    handler: ({ principal, query }) => listInvoices(on, principal, query),
  });

  api.get(ONE, 'getInvoice', 'Get an invoice', {
    params: schema.InvoiceParams,
    description:
      'With its lines, credit notes and payments. `Accept: text/csv` answers with the lines as CSV, `application/pdf` with a PDF.',
    answer: schema.asJsonCsvOrPdf,
    handler: async ({ principal, params, headers }, reply) => {
      const invoice = await getInvoice(on, principal, params.invoice_id);
      if (accepts(headers.accept, 'application/pdf')) {
        return reply.type('application/pdf').send(await asPdf(on, invoice));
      }
      if (!accepts(headers.accept, 'text/csv')) return invoice;
      return reply.type('text/csv; charset=utf-8').send(csvOf(schema.LINE_COLUMNS, invoice.lines));
    },
  });

  api.post(`${ONE}/credit_notes`, 'createCreditNote', 'Credit an invoice, as a whole or in part', {
    access: 'resell',
    params: schema.InvoiceParams,
    description: 'Final invoices never change: a credit note takes off all that is left, an amount, or single lines.',
    body: schema.NewCreditNote,
    status: 201,
    answer: schema.Invoice.properties.credit_notes.items,
    handler: async ({ principal, params, body }) => await createCreditNote(on, principal, params.invoice_id, body),
  });

  api.post('/tradewind/v1/payments', 'createPayment', 'Note that an invoice was paid', {
    access: 'resell',
    description: 'As a whole or in part, but never more than is due. The same reference again changes nothing.',
    body: schema.NewPayment,
    status: 201,
    answer: schema.Payment,
    handler: async ({ principal, body }) => await createPayment(on, principal, body),
  });
}
