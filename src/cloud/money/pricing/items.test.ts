import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const IMAGE = 'd30931af-8845-4913-a690-021a990a917f';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

const path = (what: string, region = 1, version = 'v1') => `/cloud/${version}/pricing/1/${region}/${what}`;
const asked = async (url: string, body: object) => {
  const answer = await service.http.post(url, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
// The book's price of an hour in EUR, with 17 % tax.
const shown = (hour: number) => ({
  price_status: 'show',
  currency_code: 'EUR',
  price_per_hour: hour,
  price_per_month: expect.closeTo(hour * 720, 9),
  price_without_discount_per_month: expect.closeTo(hour * 720, 9),
  discount_percent: 0,
  tax_percent: 17,
});
const address = 0.00468;

async function made(url: string, body: object, kind: string): Promise<string> {
  const answer = await service.http.post(url, body);
  expect(answer.status, answer.text).toBe(200);
  const [id] = Array.isArray(answer.body) ? answer.body : answer.body.tasks;
  return (await service.http.task(id)).created_resources[kind][0];
}

it.each<[string, object, number]>([
  ['file_shares', { source: 'new-file-share', size: 20, type_name: 'vast' }, 0.00936],
  ['floating_ips', { count: 3 }, 0.01404],
  ['images', { size: 10 }, 0.000702],
  ['reserved_fixed_ips', { type: 'external' }, address],
  ['reserved_fixed_ips', { type: 'external', ip_family: 'dual', is_vip: true }, address],
  ['reserved_fixed_ips', { type: 'external', ip_family: 'ipv6' }, 0],
  ['reserved_fixed_ips', { type: 'any_subnet', network_id: randomUUID() }, 0],
])('%s: %j costs %d an hour', async (what, body, hour) => {
  expect(await asked(path(what), body)).toEqual(shown(hour));
});

it('tells addresses of the external network by subnet, address and port', async () => {
  const { rows } = await service.pool.query(
    `select networks.id as network, subnets.id as subnet, host(first_address) as address from subnets
     join networks on networks.id = network_id where external and region_id = 1 and family(cidr) = 4 limit 1`,
  );
  const { network: network_id, subnet: subnet_id, address: ip_address } = rows[0];
  for (const body of [
    { type: 'subnet', subnet_id },
    { type: 'any_subnet', network_id },
    { type: 'ip_address', network_id, ip_address },
  ]) {
    expect(await asked(path('reserved_fixed_ips'), body)).toEqual(shown(address));
  }
  const own = (await service.http.get('/cloud/v1/networks/1/1')).body.results[0].subnets[0];
  expect(await asked(path('reserved_fixed_ips'), { type: 'subnet', subnet_id: own })).toEqual(shown(0));
  const port_id = await made('/cloud/v1/reserved_fixed_ips/1/1', { type: 'external' }, 'ports');
  expect(await asked(path('reserved_fixed_ips'), { type: 'port', port_id })).toEqual(shown(address));
});

it('has no price where the region has none', async () => {
  const share = await asked(path('file_shares'), { source: 'new-file-share', size: 1 });
  expect(share).toMatchObject({ price_status: 'error', price_per_hour: null, discount_percent: null });
});

it('logging costs so much for each GiB', async () => {
  expect((await service.http.get('/cloud/v1/pricing/1/laas')).body).toEqual(shown(0.000585));
  expect((await service.http.get('/cloud/v1/pricing/3/laas')).body.price_status).toBe('error');
});

it('DDoS protection costs the same every day', async () => {
  const { body } = await service.http.get('/cloud/v1/pricing/1/ddos');
  expect(body.price).toEqual({
    feature_name: 'DDoS protection',
    period: 'hour',
    price_currency: 'EUR',
    price_per_30d: 210.6,
    price_per_day: 7.02,
    price_per_hour: 0.2925,
    unit_name: 'profile',
    unit_size: 1,
  });
  const now = new Date();
  const days = (later: number) => new Date(now.getUTCFullYear(), now.getUTCMonth() + 1 + later, 0).getDate();
  expect(body).toMatchObject({ current_month_days: days(0), next_month_days: days(1) });
  expect(body.current_month_days_last).toBeLessThanOrEqual(body.current_month_days);
  expect((await service.http.get('/cloud/v1/pricing/3/ddos')).body.price).toMatchObject({
    price_currency: 'EUR',
    price_per_day: null,
    price_per_hour: null,
  });
});

describe('instances', () => {
  const url = path('instances', 1, 'v2');
  const flavor = 0.01404;

  it('cost by part what their parts cost', async () => {
    const price = await asked(url, {
      flavor: 'g1-standard-1-2',
      names: ['a', 'b'],
      interfaces: [
        { type: 'external' },
        { type: 'external', ip_family: 'ipv6' },
        { type: 'any_subnet', network_id: randomUUID(), floating_ip: { source: 'new' } },
      ],
      volumes: [
        { source: 'image', image_id: IMAGE, size: 20, type_name: 'ssd_hiiops' },
        { source: 'new-volume', size: 5 },
        { source: 'new-volume', size: 7, type_name: 'standard' },
        { source: 'existing-volume', volume_id: randomUUID() },
      ],
    });
    const each = {
      flavor: 2 * flavor,
      external_ip: 2 * address,
      floating_ip: 2 * address,
      volumes: { ssd_hiiops: 0.011232, standard: 0.00351 },
    };
    expect(price).toMatchObject({
      vm_count: 2,
      per_gb: null,
      per_hour: each,
      total_price_per_hour: 0.061542,
      total_price_per_month: 44.31024,
      discount_percent: '0',
      discount_details: ['flavor', 'external_ip', 'floating_ip', 'ssd_hiiops', 'standard'].map((resource) => ({
        resource,
        discount: '0',
      })),
      price_status: 'show',
    });
  });

  it('that are there cost what they would cost', async () => {
    const body = {
      flavor: 'g1-standard-1-2',
      interfaces: [{ type: 'external' }],
      volumes: [{ source: 'image', image_id: IMAGE, size: 20, type_name: 'ssd_hiiops' }],
    };
    const id = await made('/cloud/v2/instances/1/1', { ...body, name: 'priced' }, 'instances');
    const { total_price_per_hour } = await asked(url, body);
    expect((await service.http.get(path(`instances/${id}`))).body).toEqual(shown(total_price_per_hour));
    const other = await service.otherTenant();
    const foreign = await other.http.get(`/cloud/v1/pricing/${other.projectId}/1/instances/${id}`);
    expect(foreign.status).toBe(404);
  });

  it('take the size and type of a snapshot', async () => {
    const volume_id = await made(
      '/cloud/v1/volumes/1/1',
      { source: 'new-volume', name: 'disk', size: 4, type_name: 'ssd_hiiops' },
      'volumes',
    );
    const snapshot_id = await made('/cloud/v1/snapshots/1/1', { volume_id, name: 'copy' }, 'snapshots');
    const { per_hour } = await asked(url, {
      flavor: 'g1-standard-1-2',
      interfaces: [],
      volumes: [
        { source: 'snapshot', snapshot_id },
        { source: 'snapshot', snapshot_id, size: 10 },
      ],
    });
    expect(per_hour).toEqual({
      flavor,
      external_ip: null,
      floating_ip: null,
      volumes: { ssd_hiiops: expect.closeTo(0.0039312, 10) },
    });
  });
});

it.each<[string, object, string]>([
  [path('file_shares'), { source: 'new-file-share', size: 0 }, 'size'],
  [path('file_shares'), { source: 'share', size: 1 }, 'source'],
  [path('floating_ips'), { count: 0 }, 'count'],
  [path('images'), {}, 'size'],
  [path('reserved_fixed_ips'), { type: 'subnet', subnet_id: randomUUID() }, 'subnet_id'],
  [path('reserved_fixed_ips'), { type: 'port', port_id: randomUUID() }, 'port_id'],
  [path('instances', 1, 'v2'), { flavor: 'lb1-1-2', interfaces: [] }, 'flavor'],
  [
    path('instances', 1, 'v2'),
    { flavor: 'g1-standard-1-2', interfaces: [], volumes: [{ source: 'new-volume' }] },
    'volumes.0.size',
  ],
  [
    path('instances', 1, 'v2'),
    { flavor: 'g1-standard-1-2', interfaces: [], names: ['a'], name_templates: ['b'] },
    'name_templates',
  ],
])('%s refuses %j', async (url, body, field) => {
  const answer = await service.http.post(url, body);
  expect(answer.status, answer.text).toBe(400);
  expect(Object.keys(answer.body.invalid_fields)).toEqual([field]);
});

it('answers 404 for a region, an instance or a snapshot that is not there', async () => {
  const body = { flavor: 'g1-standard-1-2', interfaces: [] };
  const volumes = [{ source: 'snapshot', snapshot_id: randomUUID() }];
  for (const answer of await Promise.all([
    service.http.get('/cloud/v1/pricing/99/laas'),
    service.http.get('/cloud/v1/pricing/99/ddos'),
    service.http.get(path(`instances/${randomUUID()}`)),
    service.http.post(path('instances', 1, 'v2'), { ...body, volumes }),
  ])) {
    expect(answer.status).toBe(404);
  }
});
