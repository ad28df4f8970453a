import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HttpClient } from '../../../../../test/support/http-client.ts';
import { addReseller, asResellerOf, type TestReseller } from '../../../../../test/support/reseller.ts';
import { startService, type Tenant, type TestService } from '../../../../../test/support/service.ts';

const LISTS = '/tradewind/v1/price_lists';
const PRICES = '/tradewind/v1/prices';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let at = Date.UTC(2026, 2, 10);
let service: TestService;
let tenant: Tenant;
let reseller: TestReseller;
/** The administrator of the reseller of the first account and the tenant. */
let own: HttpClient;
beforeAll(async () => {
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '1000' }, { clock: { now: () => new Date(at) } });
  tenant = await service.otherTenant();
  reseller = await addReseller(service, 'Elsewhere');
  own = await asResellerOf(service, 1);
});
afterAll(() => service.stop());
// Each test has prices of the catalogue only to begin with.
beforeEach(async () => {
  at += DAY;
  for (const list of [{ scope: 'everyone' }, forTenant({}), { scope: 'reseller', id: 1 }]) await made(list);
  at += DAY;
});

const time = (offset = 0) => new Date(at + offset).toISOString();
const forTenant = (terms: object) => ({ scope: 'client', id: tenant.clientId, ...terms });
const standard = (price: object, more: object = {}) => ({
  currency: 'EUR',
  prices: [{ item: 'volume_types.standard', ...price }],
  ...more,
});

async function made(list: object, http = service.http) {
  const answer = await http.post(LISTS, list);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

/** What 100 GiB cost the tenant, as the API tells. */
async function preview(region = 1, type_name = 'standard', size = 100) {
  const body = { source: 'new-volume', size, type_name };
  const answer = await tenant.http.post(`/cloud/v1/pricing/${tenant.projectId}/${region}/volumes`, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

describe('a price list', () => {
  it('holds at once, and goes before wider ones field by field', async () => {
    expect(await preview()).toMatchObject({ price_per_hour: 0.014625, discount_percent: 0, tax_percent: 17 });
    await made(standard({ per_hour: 0.0002 }, { scope: 'everyone', tax_percent: 20 }));
    expect(await preview()).toMatchObject({ price_per_hour: 0.024, tax_percent: 20 });
    await made({ scope: 'reseller', id: 1, discount_percent: 50 });
    expect(await preview()).toMatchObject({ price_per_hour: 0.012, discount_percent: 0.5 });
    await made(forTenant({ discount_percent: 10.5 }));
    expect(await preview()).toMatchObject({
      currency_code: 'EUR',
      discount_percent: 0.105,
      price_per_hour: 0.02148,
      price_per_month: 15.4656,
      price_without_discount_per_month: 17.28,
      tax_percent: 20,
    });
    // The next one takes its place, and says nothing of a discount.
    await made(forTenant({ tax_percent: 0 }));
    expect(await preview()).toMatchObject({ price_per_hour: 0.01, discount_percent: 0.5, tax_percent: 0 });
  });

  it('holds for other accounts only if it is for them', async () => {
    await made(forTenant({ discount_percent: 100 }));
    const { body } = await service.http.post('/cloud/v1/pricing/1/1/volumes', {
      source: 'new-volume',
      size: 100,
    });
    expect(body).toMatchObject({ discount_percent: 0, price_per_hour: 0.014625 });
    expect(await preview()).toMatchObject({ discount_percent: 1, price_per_hour: 0 });
  });

  it('has prices of regions, currencies and months', async () => {
    await made(
      forTenant({
        currency: 'USD',
        tax_percent: 0,
        prices: [
          { item: 'volume_types.standard', per_month: 0.072 },
          { item: 'volume_types.standard', region_id: 2, per_hour: 0.0003 },
          { item: 'volume_types.ssd_hiiops', currency: 'EUR', per_hour: 1 },
          { item: 'volume_types.ultra', per_hour: 1 },
        ],
      }),
    );
    expect(await preview()).toMatchObject({
      currency_code: 'USD',
      price_per_hour: 0.01,
      price_per_month: 7.2,
    });
    expect(await preview(2)).toMatchObject({ price_per_hour: 0.03 });
    expect(await preview(3)).toMatchObject({ price_per_hour: 0.01 });
    // Of another currency: the catalogue's.
    expect(await preview(1, 'ssd_hiiops')).toMatchObject({ price_per_hour: 0.026 });
    // Region 2 doesn't offer the type.
    expect(await preview(2, 'ultra')).toMatchObject({ price_status: 'error', price_per_hour: null });
  });

  it('hides prices, and shows those of a trial until it is over', async () => {
    await made(forTenant({ visible: false }));
    expect(await preview()).toMatchObject({ price_status: 'hide', price_per_hour: null });
    const { trial_until } = await made(forTenant({ trial_until: time(HOUR) }));
    expect(trial_until).toBe(time(HOUR).replace('.000Z', 'Z'));
    const flavors = async () =>
      (await tenant.http.get(`/cloud/v1/flavors/${tenant.projectId}/1?include_prices=true`)).body.results.find(
        (one: { flavor_id: string }) => one.flavor_id === 'g1-standard-1-2',
      );
    expect(await flavors()).toMatchObject({ price_per_hour: 0, price_status: 'show' });
    at += HOUR;
    expect((await flavors()).price_per_hour).toBe(0.01404);
  });

  it('begins at its time, without anybody telling, and is forgotten if the clock goes back', async () => {
    await made(forTenant({ discount_percent: 20 }));
    const list = await made(forTenant({ discount_percent: 30, valid_from: time(HOUR) }));
    expect(list.valid_from).toBe(time(HOUR).replace('.000', ''));
    expect((await preview()).discount_percent).toBe(0.2);
    at += HOUR;
    expect((await preview()).discount_percent).toBe(0.3);
    at += DAY;
    await made(forTenant({}));
    expect((await preview()).discount_percent).toBe(0);
    at -= DAY;
    expect((await preview()).discount_percent).toBe(0.3);
    at += DAY;
  });

  it('is deleted only before it has begun', async () => {
    const future = await made(forTenant({ discount_percent: 30, valid_from: time(HOUR) }));
    expect((await service.http.delete(`${LISTS}/${future.id}`)).status).toBe(204);
    expect((await service.http.delete(`${LISTS}/${future.id}`)).status).toBe(404);
    const present = await made(forTenant({ discount_percent: 40 }));
    const refused = await service.http.delete(`${LISTS}/${present.id}`);
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('has come into force')]);
    at += HOUR;
    expect((await preview()).discount_percent).toBe(0.4);
  });

  it('is not made for the past, nor beside what is possible', async () => {
    const refused = async (list: object) => {
      const answer = await service.http.post(LISTS, list);
      expect(answer.status, answer.text).toBe(400);
      expect(answer.headers.get('content-type')).toContain('application/problem+json');
      return answer.text;
    };
    const eur = { item: 'volume_types.standard', currency: 'EUR', per_hour: 1 };
    expect(await refused(forTenant({ valid_from: time(-1_000) }))).toContain('valid_from');
    expect(await refused(forTenant({ valid_from: '2099-01-01T00:00:00Z' }))).toContain('valid_from');
    expect(await refused({ scope: 'client' })).toContain('Is required');
    expect(await refused({ scope: 'client', id: 999_999 })).toContain('Client 999999 not found');
    expect(await refused({ scope: 'reseller', id: 999_999 })).toContain('Reseller 999999 not found');
    expect(await refused({ scope: 'everyone', id: 1 })).toContain('Must be left out');
    expect(await refused(forTenant({ discount_percent: 101 }))).toContain('discount_percent');
    for (const [price, field] of [
      [{ ...eur, per_month: 1 }, 'prices.0.per_hour'],
      [{ item: 'volume_types.standard', currency: 'EUR' }, 'prices.0.per_hour'],
      [{ item: 'volume_types.standard', per_hour: 1 }, 'prices.0.currency'],
      [{ ...eur, item: 'flavors.none' }, 'prices.0.item'],
      [{ ...eur, item: 'volume_types.ultra', region_id: 2 }, 'prices.0.item'],
      [{ ...eur, item: 'constructor' }, 'prices.0.item'],
      [{ ...eur, region_id: 99 }, 'prices.0.region_id'],
    ] as const) {
      expect(await refused(forTenant({ prices: [price] }))).toContain(field);
    }
    expect(await refused(forTenant({ prices: [eur, eur] }))).toContain('prices.1.item');
  });

  it('is one of a hundred at most in a month', async () => {
    const client = (await service.otherTenant()).clientId;
    const answers = [];
    for (let n = 0; n < 101; n++) {
      answers.push(await service.http.post(LISTS, { scope: 'client', id: client, valid_from: time(n * 1_000) }));
    }
    expect(answers.map(({ status }) => status)).toEqual([...Array(100).fill(201), 409]);
  });
});

describe('history', () => {
  it('is kept, and read by page', async () => {
    const lists = [];
    for (const discount_percent of [1, 2, 3]) lists.push(await made(forTenant({ discount_percent })));
    const of = `scope=client&id=${tenant.clientId}`;
    const first = (await service.http.get(`${LISTS}?${of}&limit=2`)).body;
    expect(first.results).toEqual([lists[2], lists[1]]);
    const { body: second } = await service.http.get(`${LISTS}?${of}&limit=1&page_token=${first.next_page_token}`);
    expect(second.results).toEqual([lists[0]]);
    expect((await service.http.get(`${LISTS}/${lists[0].id}`)).body).toEqual(lists[0]);
    expect((await service.http.get(`${LISTS}?scope=reseller&id=2`)).body).toEqual({
      results: [],
      next_page_token: null,
    });
    expect((await service.http.get(`${LISTS}?id=2`)).status).toBe(400);
    expect((await service.http.get(`${LISTS}?page_token=bm8`)).status).toBe(400);
  });

  it('answers what was paid at another time, and from which list', async () => {
    const begin = time();
    const list = await made(
      forTenant({ ...standard({ per_hour: 0.0002 }), discount_percent: 7, valid_from: time(HOUR) }),
    );
    const prices = async (when: string) => {
      const { body } = await tenant.http.get(`${PRICES}?at=${when}`);
      const price = body.prices.find(
        (one: { region_id: number; item: string }) => one.region_id === 1 && one.item === 'volume_types.standard',
      );
      return { ...body, prices: price };
    };
    expect(await prices(begin)).toMatchObject({
      client_id: tenant.clientId,
      discount_percent: 0,
      prices: { listed_per_hour: 0.000125, price_list_id: null },
    });
    expect(await prices(time(HOUR))).toMatchObject({
      currency: 'EUR',
      discount_percent: 7,
      tax_percent: 17,
      visible: true,
      trial: false,
      price_lists: [list.id, expect.any(Number), expect.any(Number)],
      prices: { listed_per_hour: 0.0002, per_hour: 0.00021762, per_month: 0.1566864, price_list_id: list.id },
    });
  });

  it('stays as it was when a client gets another reseller', async () => {
    await made({ scope: 'reseller', id: 1, discount_percent: 10 });
    await made({ scope: 'reseller', id: reseller.resellerId, discount_percent: 20 });
    const moved = time(HOUR);
    expect((await preview()).discount_percent).toBe(0.1);
    at += HOUR;
    const reach = { reseller: reseller.resellerId };
    const answer = await service.http.patch(`/iam/clients/${tenant.clientId}`, reach);
    expect(answer.status, answer.text).toBe(200);
    expect((await preview()).discount_percent).toBe(0.2);
    const percent = async (when: string) => (await tenant.http.get(`${PRICES}?at=${when}`)).body.discount_percent;
    expect(await percent(time(-1))).toBe(10);
    expect(await percent(moved)).toBe(20);
    await service.http.patch(`/iam/clients/${tenant.clientId}`, { reseller: 1 });
    expect((await preview()).discount_percent).toBe(0.1);
  });
});

describe('who', () => {
  it('sets prices: a reseller those of its clients', async () => {
    const list = await made(forTenant({ discount_percent: 5 }), own);
    expect((await preview()).discount_percent).toBe(0.05);
    const ofReseller = await made({ scope: 'reseller', id: 1, discount_percent: 1 });
    for (const wider of [{ scope: 'everyone' }, { scope: 'reseller', id: 1 }]) {
      expect((await own.post(LISTS, wider)).status).toBe(403);
    }
    expect((await own.get(`${LISTS}/${ofReseller.id}`)).status).toBe(200);
    const later = await made({ scope: 'reseller', id: 1, valid_from: time(HOUR) });
    expect((await own.delete(`${LISTS}/${later.id}`)).status).toBe(403);

    // One that is gone is none.
    const gone = await addReseller(service, 'Gone');
    await service.pool.query('update resellers set deleted_at = now() where id = $1', [gone.resellerId]);
    expect((await service.http.post(LISTS, { scope: 'reseller', id: gone.resellerId })).status).toBe(400);

    // Another reseller finds none of it.
    const { http } = reseller;
    const [foreign, unknown] = [
      await http.post(LISTS, forTenant({})),
      await http.post(LISTS, { scope: 'client', id: 999_999 }),
    ];
    expect([foreign.status, unknown.status]).toEqual([400, 400]);
    expect(foreign.body.errors).toEqual([{ field: 'id', detail: `Client ${tenant.clientId} not found.` }]);
    for (const { id } of [list, ofReseller, later]) {
      expect((await http.get(`${LISTS}/${id}`)).status).toBe(404);
      expect((await http.delete(`${LISTS}/${id}`)).status).toBe(404);
    }
    const theirs = (await http.get(LISTS)).body.results;
    expect(theirs.map((one: { reseller_id: number }) => one.reseller_id)).toEqual([reseller.resellerId]);
    const seen = (await own.get(LISTS)).body.results.map(({ scope }: { scope: string }) => scope);
    expect(new Set(seen)).toEqual(new Set(['client', 'reseller']));
    // Its own one is deleted by the reseller.
    const mine = await made(forTenant({ valid_from: time(HOUR) }), own);
    expect((await own.delete(`${LISTS}/${mine.id}`)).status).toBe(204);
  });

  it('sees prices: the account, its reseller and the platform', async () => {
    const of = `${PRICES}?client_id=${tenant.clientId}`;
    await made(forTenant({ visible: false }));
    const amounts = async (http: HttpClient) => {
      const { status, body } = await http.get(of);
      return [status, body.visible, (body.prices?.length ?? 0) > 0];
    };
    expect(await amounts(tenant.http)).toEqual([200, false, false]);
    expect(await amounts(own)).toEqual([200, false, true]);
    expect(await amounts(service.http)).toEqual([200, false, true]);
    expect((await reseller.http.get(of)).status).toBe(404);
    expect((await tenant.http.get(`${PRICES}?client_id=1`)).status).toBe(404);
    expect((await service.http.get(`${PRICES}?client_id=999999`)).status).toBe(404);
    expect((await tenant.http.get(LISTS)).status).toBe(403);
    expect((await tenant.http.post(LISTS, forTenant({}))).status).toBe(403);
  });

  it('is told: an event for the account, and a record of who did it', async () => {
    const { id } = await made(forTenant({ valid_from: time(HOUR) }));
    await service.http.delete(`${LISTS}/${id}`);
    await expect
      .poll(async () => {
        const { body } = await tenant.http.get(`/tradewind/v1/audit?type=tradewind.price_list.*&limit=2`);
        return body.records.map(({ type, subject }: Record<string, unknown>) => [type, subject]);
      })
      .toEqual([
        ['tradewind.price_list.deleted', `price_list/${id}`],
        ['tradewind.price_list.created', `price_list/${id}`],
      ]);
  });
});
