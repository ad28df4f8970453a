import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const V1 = '/cloud/v1/pricing/1/1/loadbalancers';
const V2 = '/cloud/v2/pricing/1/1/loadbalancers';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

const asked = async (path: string, body: object) => (await service.http.post(path, body)).body;

it('is that of the flavor, by the older operation', async () => {
  const [listed] = (await service.http.get('/cloud/v1/lbflavors/1/1?include_prices=true')).body.results;
  const price = await asked(V1, { flavor: 'lb1-1-2' });
  expect(price).toMatchObject({
    price_status: 'show',
    price_per_hour: listed.price_per_hour,
    price_per_month: listed.price_per_month,
    currency_code: listed.currency_code,
  });
});

it('is that of the flavor and of each public address', async () => {
  const { price_per_hour: flavor } = await asked(V1, { flavor: 'lb1-1-2' });
  const outside = await asked(V2, { flavor: 'lb1-1-2' });
  const address = outside.per_hour.external_ip;
  expect(address).toBeGreaterThan(0);
  expect(outside).toMatchObject({
    per_hour: { flavor, external_ip: address, floating_ip: null },
    per_month: { external_ip: expect.closeTo(address * 720, 9) },
    total_price_per_hour: expect.closeTo(flavor + address, 9),
    price_status: 'show',
  });
  const inside = await asked(V2, {
    flavor: 'lb1-1-2',
    vip_network_id: randomUUID(),
    floating_ip: { source: 'new' },
  });
  expect(inside.per_hour).toEqual({ flavor, external_ip: null, floating_ip: address });
  const six = await asked(V2, { flavor: 'lb1-1-2', vip_ip_family: 'ipv6' });
  expect(six.per_hour).toEqual({ flavor, external_ip: null, floating_ip: null });
  const reserved = await asked(V2, { flavor: 'lb1-1-2', vip_port_id: randomUUID(), vip_network_id: null });
  expect(reserved.total_price_per_hour).toBe(flavor);
});

it.each<[string, object, string]>([
  [V1, { flavor: 'lb9' }, 'flavor'],
  [V1, { flavor: 'lb1-1-2', vip_ip_family: 'ipv4' }, 'vip_ip_family'],
  [V2, { flavor: 'g1-standard-1-2' }, 'flavor'],
  [V2, { flavor: 'lb1-1-2', vip_port_id: randomUUID(), vip_network_id: randomUUID() }, 'vip_port_id'],
])('%s refuses %j', async (path, body, field) => {
  const answer = await service.http.post(path, body);
  expect(answer.status).toBe(400);
  expect(Object.keys(answer.body.invalid_fields)).toEqual([field]);
});
