import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Decimal } from 'decimal.js';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { changedCatalog } from '../../../../test/support/catalogs.ts';
import type { HttpClient } from '../../../../test/support/http-client.ts';
import { addReseller, asResellerOf, type TestReseller } from '../../../../test/support/reseller.ts';
import { startService, type Tenant, type TestService } from '../../../../test/support/service.ts';
import type { TaxSum } from '../../../db/json-columns.ts';
import { taxesOf, totalsOf } from './formula.ts';
import { invoicePdf } from './pdf.ts';

const INVOICES = '/tradewind/v1/invoices';
const PAYMENTS = '/tradewind/v1/payments';
const HOUR = 3_600_000;
const SOON = { timeout: 20_000 };

const mails = path.join(os.tmpdir(), `mails-${randomBytes(8).toString('hex')}`);
const folder = changedCatalog('price-book.yaml', ({ prices = [], ...book }) => ({
  ...book,
  prices: prices.map((one) => ({ ...one, egress_traffic: { virtual: '0.02' } })),
}));
let at = Date.UTC(2026, 2, 10, 12);
let service: TestService;
let tenant: Tenant;
let next: TestReseller;
/** The administrator of the first reseller. */
let own: HttpClient;

const issuer = (invoice_prefix: string, more: object = {}) => ({
  company: `${invoice_prefix} GmbH`,
  address: 'Hauptstraße 1\n10115 Berlin',
  country: 'DE',
  vat_rates: [{ country: 'DE', percent: 19 }],
  reverse_charge: true,
  invoice_prefix,
  ...more,
});

async function put(path: string, body: object, http = service.http) {
  const answer = await http.request('PUT', path, { body });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function volume(size: number, name = 'billed') {
  const body = { source: 'new-volume', name, size, type_name: 'standard' };
  const answer = await tenant.http.post(`/cloud/v1/volumes/${tenant.projectId}/1`, body);
  expect(answer.status, answer.text).toBe(200);
  const { created_resources } = await tenant.http.task(String(answer.body.tasks?.[0] ?? answer.body[0]));
  return created_resources.volumes[0];
}

async function list(query: string, http = service.http) {
  const { status, text, body } = await http.get(`${INVOICES}?${query}`);
  expect(status, text).toBe(200);
  return body.results;
}

/** The month's costs of an account, to the cent. */
async function costs(query: string, http = service.http): Promise<string> {
  const { body } = await http.get(`/tradewind/v1/costs?limit=1000&by=project&${query}`);
  return body.lines
    .reduce((sum: Decimal, { cost }: { cost: number }) => sum.plus(cost), new Decimal(0))
    .toFixed(2, Decimal.ROUND_HALF_UP);
}

beforeAll(async () => {
  const settings = { TRADEWIND_MAIL_DIR: mails, TRADEWIND_CATALOG_DIR: folder };
  service = await startService(settings, { clock: { now: () => new Date(at) } });
  tenant = await service.otherTenant();
  next = await addReseller(service, 'Next');
  own = await asResellerOf(service, 1);
  await put('/tradewind/v1/issuer', issuer('PLAT'));
  await put('/tradewind/v1/issuer?reseller_id=1', issuer('ONE'));
  await put(
    '/tradewind/v1/issuer',
    issuer('TWO', { country: 'FR', vat_rates: [{ country: 'FR', percent: 20 }] }),
    next.http,
  );
  await volume(1_000);
  // What the metering of traffic writes.
  await service.pool.query(
    `insert into usage_periods (client_id, project_id, region_id, type, resource_id, sku, amount, name, tags, details, started_at, ended_at)
     values ($1, $2, 1, 'egress_traffic', gen_random_uuid(), 'virtual', 250000000000, 'web', '{}', '{}',
       '2026-03-10T13:00:00Z', '2026-03-10T14:00:00Z')`,
    [tenant.clientId, tenant.projectId],
  );
  at += 100 * HOUR;
  // From now on, VAT by the table.
  const profile = {
    company: 'Müller & Söhne',
    address: 'Weg 2\n20095 Hamburg',
    country: 'DE',
    vat_id: 'DE987654321',
    email: 'bills@example.com',
  };
  await put('/tradewind/v1/billing_profile', profile, tenant.http);
  await put(`/tradewind/v1/billing_profile?client_id=${tenant.clientId}`, { ...profile, vat_confirmed: true }, own);
  at += 100 * HOUR;
  await service.http.patch(`/iam/clients/${tenant.clientId}`, { reseller: next.resellerId });
  at = Date.UTC(2026, 3, 2);
});
afterAll(async () => {
  await service.stop();
  await fs.rm(mails, { recursive: true, force: true });
  rmSync(folder, { recursive: true });
});

const MARCH = 'from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z';

it('is a draft until the grace time is over, which the account does not see', async () => {
  await expect.poll(() => list('month=2026-03'), SOON).toHaveLength(3);
  const drafts = await list('month=2026-03');
  expect(drafts.every(({ state, number }: { state: string; number: null }) => state === 'draft' && !number)).toBe(true);
  expect(await list('', tenant.http)).toEqual([]);
  expect(await list('', next.http)).toMatchObject([{ kind: 'retail', reseller_id: next.resellerId }]);
  expect((await service.http.post(PAYMENTS, { invoice_id: drafts[0].id, amount: 1, reference: 'x' })).status).toBe(409);
});

it('has credit notes whose nets add up to that of the whole, and are never negative', () => {
  const rate = { tax_percent: '19', reverse_charge: false };
  const credit = (amount: Decimal.Value, earlier: TaxSum[]) =>
    taxesOf([{ ...rate, amount: new Decimal(amount) }], earlier);
  let earlier: TaxSum[] = [];
  for (let n = 0; n < 100; n++) {
    const [next, ...others] = credit('0.01', earlier);
    expect(others).toEqual([]);
    if (!next) throw new Error('Nothing is credited');
    expect(Math.min(Number(next.net), Number(next.vat))).toBeGreaterThanOrEqual(0);
    earlier = [...earlier, next];
  }
  expect(totalsOf(earlier)).toEqual(totalsOf(credit('1', [])));
});

describe('a final invoice', () => {
  it('is made when the grace time is over', async () => {
    at = Date.UTC(2026, 3, 4, 1);
    await vi.waitFor(async () => expect(await list('state=open')).toHaveLength(3), SOON);
  });

  it('comes from each reseller of the month, and adds up to the costs', async () => {
    const [second, first] = await list('kind=retail');
    expect(first).toMatchObject({ number: 'ONE-2026-000001', client_id: tenant.clientId, reseller_id: 1 });
    expect(second).toMatchObject({ number: 'TWO-2026-000001', client_id: tenant.clientId, month: '2026-03' });
    const moved = new Date(Date.UTC(2026, 2, 10, 12) + 200 * HOUR).toISOString();
    const client = `client_id=${tenant.clientId}`;
    expect(first.gross.toFixed(2)).toBe(await costs(`${client}&from=2026-03-01T00:00:00Z&to=${moved}`));
    expect(second.gross.toFixed(2)).toBe(await costs(`${client}&from=${moved}&to=2026-04-01T00:00:00Z`));
  });

  it('has lines and rates of VAT that add up', async () => {
    const [second, first] = await list('kind=retail', tenant.http);
    const { body } = await tenant.http.get(`${INVOICES}/${first.id}`);
    // The tax of the catalogue applies first, and then the one of the VAT table.
    expect(body.taxes.map(({ tax_percent }: { tax_percent: number }) => tax_percent)).toEqual([19, 17]);
    expect(body.lines).toMatchObject([
      { line: 1, type: 'egress_traffic', quantity: 250_000_000_000, unit: 'bytes', amount: 250 * 0.02 * 1.17 },
      { line: 2, project_id: tenant.projectId, type: 'volume', kind: 'standard', quantity: 360_000_000 },
      { line: 3, unit: 'gib_seconds' },
    ]);
    expect(body.customer).toMatchObject({ company: 'Müller & Söhne', vat_id: 'DE987654321' });
    const total = (of: { amount: number }[]) => of.reduce((sum, { amount }) => sum.plus(amount), new Decimal(0));
    expect(total(body.lines).toNumber()).toBe(first.gross);
    expect(new Decimal(first.net).plus(first.vat).toNumber()).toBe(first.gross);
    const { body: foreign } = await tenant.http.get(`${INVOICES}/${second.id}`);
    expect(foreign.taxes).toMatchObject([{ tax_percent: 0, reverse_charge: true, vat: 0 }]);
    const csv = await tenant.http.request('GET', `${INVOICES}/${first.id}`, { headers: { accept: 'text/csv' } });
    expect(csv.text.split('\r\n')).toHaveLength(5);
  });

  it('is what the reseller owes the platform, if it is wholesale', async () => {
    const [wholesale, ...others] = await list('kind=wholesale', next.http);
    expect(others).toEqual([]);
    expect(wholesale).toMatchObject({ number: 'PLAT-2026-000001', client_id: null, reseller_id: next.resellerId });
    expect(wholesale.gross.toFixed(2)).toBe(await costs(`price=wholesale&${MARCH}`, next.http));
    expect((await next.http.post(PAYMENTS, { invoice_id: wholesale.id, amount: 1, reference: 'x' })).status).toBe(400);
    expect((await service.http.post(PAYMENTS, { invoice_id: wholesale.id, amount: 1, reference: 'x' })).status).toBe(
      201,
    );
  });

  it('is found by who gets and who issues it only', async () => {
    const [second, first] = await list('kind=retail');
    expect((await own.get(`${INVOICES}/${second.id}`)).status).toBe(404);
    expect((await next.http.get(`${INVOICES}/${first.id}`)).status).toBe(404);
    expect((await own.get(`${INVOICES}/${first.id}`)).status).toBe(200);
    expect((await own.post(`${INVOICES}/${second.id}/credit_notes`, { reason: 'Mine' })).status).toBe(404);
    expect((await tenant.http.post(`${INVOICES}/${first.id}/credit_notes`, { reason: 'Mine' })).status).toBe(403);
  });

  it('is paid in parts, once for each reference, and never too much', async () => {
    const [, first] = await list('kind=retail');
    const pay = (amount: number, reference: string) =>
      own.post(PAYMENTS, { invoice_id: first.id, amount, reference, paid_at: '2026-04-10T00:00:00Z' });
    const paid = await pay(1, 'one');
    expect(paid.status, paid.text).toBe(201);
    expect((await pay(1, 'one')).body).toEqual(paid.body);
    expect((await pay(2, 'one')).status).toBe(409);
    expect((await pay(first.gross, 'two')).status).toBe(400);
    expect((await pay(0.001, 'two')).status).toBe(400);
    expect(await list('kind=retail', own)).toMatchObject([{ state: 'partly_paid', paid: 1 }]);
    const rest = new Decimal(first.gross).minus(1).toNumber();
    expect((await pay(rest, 'two')).status).toBe(201);
    expect(await list('state=paid', own)).toMatchObject([{ id: first.id, due: 0 }]);
  });

  it('is credited by line, amount or as a whole, and never more than it is', async () => {
    const [second] = await list('kind=retail');
    const credit = (body: object) =>
      next.http.post(`${INVOICES}/${second.id}/credit_notes`, { reason: 'Slow', ...body });
    const one = await credit({ amount: 1 });
    expect(one.body, one.text).toMatchObject({ number: 'TWO-C-2026-000001', gross: 1, net: 1, vat: 0 });
    expect((await credit({ amount: second.gross })).status).toBe(400);
    expect((await credit({ lines: [{ line: 9 }] })).status).toBe(400);
    const byLine = await credit({ lines: [{ line: 1, amount: 2 }] });
    expect(byLine.body).toMatchObject({ number: 'TWO-C-2026-000002', lines: [{ line: 1, amount: 2 }] });
    const rest = await credit({});
    expect(rest.body.gross).toBe(new Decimal(second.gross).minus(3).toNumber());
    expect((await credit({})).status).toBe(409);
    const over = await next.http.post(PAYMENTS, { invoice_id: second.id, amount: 1, reference: 'late' });
    expect(over.text).toContain('what is left: 0.00.');
    expect(await list('state=credited', tenant.http)).toMatchObject([
      { id: second.id, credited: second.gross, due: 0 },
    ]);
  });

  it('is a PDF, which is mailed to whom the account names', async () => {
    const [, first] = await list('kind=retail');
    const pdf = await tenant.http.request('GET', `${INVOICES}/${first.id}`, { headers: { accept: 'application/pdf' } });
    expect(pdf.text).toMatch(/^%PDF-/);
    const files = await vi.waitFor(async () => {
      const names = (await fs.readdir(mails)).filter((name) => name.endsWith('-invoice.eml'));
      expect(names).toHaveLength(2);
      return names;
    }, SOON);
    const sent = await Promise.all(
      files.map(async (name) => PostalMime.parse(await fs.readFile(path.join(mails, name)))),
    );
    const mail = sent.find(({ attachments }) => attachments[0]?.filename === `${first.number}.pdf`);
    expect(mail?.attachments[0]?.mimeType).toBe('application/pdf');
    expect(mail?.subject).toContain(`Invoice ${first.number} of `);
    expect(mail?.to?.[0]?.address).toBe('bills@example.com');
  });

  it('shows the first 2,000 lines in a PDF', async () => {
    const [, first] = await list('kind=retail');
    const { body } = await own.get(`${INVOICES}/${first.id}`);
    const pagesOf = async (lines: number) => {
      const pdf = await invoicePdf({ ...body, lines: Array(lines).fill(body.lines[0]) }, () => 'Region');
      return pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length;
    };
    expect(await pagesOf(2_001)).toBe(await pagesOf(4_000));
  });

  it('is told to webhooks and readers of events', async () => {
    const { rows } = await service.pool.query(
      `select type, count(*)::int from events where type like 'tradewind.invoice.%' group by 1 order by 1`,
    );
    expect(rows).toEqual([
      { type: 'tradewind.invoice.credited', count: 3 },
      { type: 'tradewind.invoice.finalized', count: 3 },
      { type: 'tradewind.invoice.paid', count: 1 },
    ]);
  });
});
