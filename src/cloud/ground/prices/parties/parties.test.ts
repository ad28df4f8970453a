import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { HttpClient } from '../../../../../test/support/http-client.ts';
import { addReseller, asResellerOf } from '../../../../../test/support/reseller.ts';
import { startService, type Tenant, type TestService } from '../../../../../test/support/service.ts';

const PROFILE = '/tradewind/v1/billing_profile';
const ISSUER = '/tradewind/v1/issuer';

let at = Date.UTC(2026, 2, 10);
let service: TestService;
let tenant: Tenant;
/** The administrator of the tenant's reseller. */
let own: HttpClient;
const party = (country: string, more: object = {}) => ({ company: 'Of it', address: 'Street 1', country, ...more });
const issuer = (more: object = {}) => ({
  ...party('DE'),
  vat_rates: [
    { country: 'DE', percent: 19 },
    { country: 'FR', percent: 20 },
    { country: 'LU', percent: 3 },
  ],
  reverse_charge: true,
  invoice_prefix: 'ONE',
  ...more,
});
const put = (path: string, body: object, http: HttpClient) => http.request('PUT', path, { body });

beforeAll(async () => {
  service = await startService({}, { clock: { now: () => new Date(at) } });
  own = await asResellerOf(service, 1);
  await put(ISSUER, issuer(), own);
});
beforeEach(async () => {
  tenant = await service.otherTenant();
});
afterAll(() => service.stop());

/** What the tenant pays as VAT after it or its reseller has said who it is. */
async function vatAfter(body: object, http = tenant.http) {
  at += 60_000;
  const { status, text } = await put(`${PROFILE}?client_id=${tenant.clientId}`, body, http);
  expect(status, text).toBe(200);
  return (await tenant.http.get('/tradewind/v1/prices')).body.tax_percent;
}

it('an account cannot give itself a reverse charge or the VAT of another country', async () => {
  const [luxembourg, french] = [party('LU'), party('FR', { vat_id: 'FR123456789' })];
  expect(await vatAfter(luxembourg)).toBe(19);
  expect((await put(PROFILE, { ...luxembourg, vat_confirmed: true }, tenant.http)).status).toBe(403);
  expect(await vatAfter({ ...luxembourg, vat_confirmed: true }, own)).toBe(3);
  expect(await vatAfter(french)).toBe(3);
  expect((await tenant.http.get(PROFILE)).body).toMatchObject({ country: 'FR', vat_confirmed: false });
  expect(await vatAfter({ ...french, vat_confirmed: true }, own)).toBe(0);
  expect(await vatAfter({ ...french, address: 'Street 2' })).toBe(0);
  expect((await tenant.http.get(PROFILE)).body.vat_confirmed).toBe(true);
  // Another VAT ID is as good as none until it is confirmed as well.
  expect(await vatAfter({ ...french, vat_id: 'FR999999999' })).toBe(20);
  expect(await vatAfter(french)).toBe(20);
});

it('a reseller cannot give itself a reverse charge either', async () => {
  const foreign = issuer({ ...party('FR', { vat_id: 'FR123456789' }), vat_confirmed: true });
  const { http, resellerId } = await addReseller(service, 'Abroad');
  expect((await put(ISSUER, foreign, http)).status).toBe(403);
  expect((await put(`${ISSUER}?reseller_id=${resellerId}`, foreign, service.http)).body.vat_confirmed).toBe(true);
});

it('what changes nothing writes nothing, and there are a hundred changes at most in a month', async () => {
  const statuses = new Set<number>();
  const change = async (n: number) => (await put(PROFILE, party('DE', { address: `Street ${n}` }), tenant.http)).status;
  const { body } = await put(PROFILE, party('DE'), tenant.http);
  at += 60_000;
  expect((await put(PROFILE, party('DE'), tenant.http)).body).toEqual(body);
  for (let n = 2; n <= 100; n++) statuses.add(await change(n));
  expect([...statuses]).toEqual([200]);
  expect(await change(101)).toBe(409);
  expect(await change(100)).toBe(200);
  const { rows } = await service.pool.query('select count(*)::int from billing_profiles where client_id = $1', [
    tenant.clientId,
  ]);
  expect(rows).toEqual([{ count: 100 }]);
});

it('numbers of invoices do not look like those of credit notes', async () => {
  expect((await put(ISSUER, issuer({ invoice_prefix: 'INV-C' }), own)).status).toBe(400);
  expect((await put(ISSUER, issuer({ invoice_prefix: 'INV-CC' }), own)).status).toBe(200);
});
