import { afterAll, beforeAll, expect, it } from 'vitest';
import type { HttpClient } from '../../../../../test/support/http-client.ts';
import { addReseller, asResellerOf, type TestReseller } from '../../../../../test/support/reseller.ts';
import { startService, type Tenant, type TestService } from '../../../../../test/support/service.ts';

const LISTS = '/tradewind/v1/price_lists';
const COSTS = '/tradewind/v1/costs';
const HOUR = 3_600_000;
const MARCH = 'from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z';
/** 100 GiB of `standard` for an hour, with tax. */
const IN_CATALOGUE = 0.014625;

let at = Date.UTC(2026, 2, 10, 12);
let service: TestService;
let tenant: Tenant;
let next: TestReseller;
/** The administrator of the first reseller. */
let own: HttpClient;

beforeAll(async () => {
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '1000' }, { clock: { now: () => new Date(at) } });
  tenant = await service.otherTenant();
  next = await addReseller(service, 'Next');
  own = await asResellerOf(service, 1);
});
afterAll(() => service.stop());

async function made(list: object, http = service.http) {
  const answer = await http.post(LISTS, list);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

async function costs(query: string, http = service.http): Promise<number[]> {
  const { status, text, body } = await http.get(`${COSTS}?${MARCH}&${query}`);
  expect(status, text).toBe(200);
  return body.lines.map(({ cost }: { cost: number }) => cost);
}

it('is what each reseller owes for its time, whatever it charges', async () => {
  await made({ scope: 'client', id: tenant.clientId, discount_percent: 100 });
  const body = { source: 'new-volume', name: 'sold', size: 100, type_name: 'standard' };
  const answer = await tenant.http.post(`/cloud/v1/volumes/${tenant.projectId}/1`, body);
  const { created_resources } = await tenant.http.task(String(answer.body.tasks?.[0] ?? answer.body[0]));
  at += 10 * HOUR;
  // Half the price from now on, and only for the first reseller.
  await made({
    scope: 'reseller',
    id: 1,
    price: 'wholesale',
    prices: [{ item: 'volume_types.standard', currency: 'EUR', per_hour: 0.0000625 }],
  });
  at += 10 * HOUR;
  await service.http.patch(`/iam/clients/${tenant.clientId}`, { reseller: next.resellerId });
  at += 5 * HOUR;
  await tenant.http.delete(`/cloud/v1/volumes/${tenant.projectId}/1/${created_resources.volumes[0]}`);
  at += HOUR;

  expect(await costs('')).toEqual([0]);
  const [first, second] = [IN_CATALOGUE * 15, IN_CATALOGUE * 5];
  expect(await costs('price=wholesale')).toEqual([expect.closeTo(first + second, 9)]);
  expect(await costs('price=wholesale&reseller_id=1')).toEqual([expect.closeTo(first, 9)]);
  expect(await costs('price=wholesale', own)).toEqual([expect.closeTo(first, 9)]);
  expect(await costs(`price=wholesale&client_id=${tenant.clientId}`, own)).toEqual([expect.closeTo(first, 9)]);
  expect(await costs('price=wholesale', next.http)).toEqual([expect.closeTo(second, 9)]);
});

it('is shown to the platform and the reseller only, and set by the platform', async () => {
  const refused = async (http: HttpClient, query: string) => (await http.get(`${COSTS}?${query}`)).status;
  expect(await refused(tenant.http, 'price=wholesale')).toBe(403);
  expect(await refused(own, `price=wholesale&reseller_id=${next.resellerId}`)).toBe(404);
  expect(await refused(next.http, 'price=wholesale&client_id=1')).toBe(404);
  expect(await refused(service.http, 'reseller_id=1')).toBe(400);
  const wholesale = { scope: 'reseller', id: 1, price: 'wholesale' };
  expect((await own.post(LISTS, wholesale)).status).toBe(403);
  for (const wrong of [
    { ...wholesale, scope: 'client' },
    { ...wholesale, visible: false },
    { scope: 'reseller', id: 1, floor_percent: 50 },
  ]) {
    expect((await service.http.post(LISTS, wrong)).status).toBe(400);
  }
});

it('is not among what the release before takes for retail, but listed and deleted like it', async () => {
  const valid_from = new Date(at + HOUR).toISOString();
  const list = await made({ scope: 'reseller', id: 1, price: 'wholesale', discount_percent: 1, valid_from });
  expect((await service.pool.query('select from price_lists where id = $1', [list.id])).rowCount).toBe(0);
  const { body } = await own.get(`${LISTS}?scope=reseller&id=1`);
  expect(body.results[0]).toEqual(list);
  expect((await service.http.delete(`${LISTS}/${list.id}`)).status).toBe(204);
  expect((await own.get(`${LISTS}/${list.id}`)).status).toBe(404);
});

it('keeps lists of resellers above the floor that the platform sets', async () => {
  await made({ scope: 'everyone', price: 'wholesale', floor_percent: 80, discount_percent: 50 });
  const list = (terms: object) => ({ scope: 'client', id: tenant.clientId, ...terms });
  // The floor is 40 % of the price in the catalogue.
  await made(list({ discount_percent: 60 }), next.http);
  const below = await next.http.post(LISTS, list({ discount_percent: 60.1 }));
  expect(below.status).toBe(400);
  expect(below.text).toContain('discount_percent');
  expect(below.text).toContain('volume_types.standard in region 1 would cost 0.000049875 EUR');
  const priced = (per_hour: number) =>
    list({ prices: [{ item: 'volume_types.standard', region_id: 1, currency: 'EUR', per_hour }] });
  expect((await next.http.post(LISTS, priced(0.0000499))).text).toContain('prices.0.item');
  await made(priced(0.00005), next.http);
  // The catalogue has no prices in AZN there.
  const item = { item: 'volume_types.standard', region_id: 3, per_hour: 1 };
  const unpriced = await next.http.post(LISTS, list({ currency: 'AZN', prices: [item] }));
  expect([unpriced.status, unpriced.text]).toEqual([400, expect.stringContaining('has no wholesale price in AZN')]);
  // The platform may do as it likes.
  await made(list({ discount_percent: 100 }));
});
