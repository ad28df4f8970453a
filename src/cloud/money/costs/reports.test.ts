import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type Tenant, type TestService } from '../../../../test/support/service.ts';
import { openDatabase } from '../../../db/database.ts';
import { recordPriceBook } from '../../ground/catalog/price-book.ts';
import { deleteOldUsage, resourcesOf } from './store.ts';

const HOUR = 3_600_000;
const TOTALS = '/cloud/v1/cost_report/totals';
const RESOURCES = '/cloud/v1/cost_report/resources';
const USAGE = '/cloud/v1/usage_report';
const MONTHLY = '/cloud/v1/reservation_cost_report/totals';
const march = { time_from: '2026-03-01T00:00:00Z', time_to: '2026-04-01T00:00:00Z' };

let at = new Date('2026-03-10T00:00:00Z');
let service: TestService;
let other: Tenant;
let catalog: string;
const ids: Record<string, string> = {};

async function done(method: 'delete' | 'post' | 'patch', url: string, body?: object) {
  const answer = await service.http[method](url, body as object);
  expect(answer.status, answer.text).toBe(200);
  return (await service.http.task(String(answer.body.tasks?.[0] ?? answer.body[0]))).created_resources;
}

async function asked(url: string, body: object) {
  const answer = await service.http.post(url, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

beforeAll(async () => {
  // The second account sees no prices.
  catalog = await mkdtemp(path.join(tmpdir(), 'tradewind-costs-'));
  await cp('catalog', catalog, { recursive: true });
  const file = path.join(catalog, 'price-book.yaml');
  const book = await readFile(file, 'utf8');
  await writeFile(file, book.replace(/^clients: .*$/m, 'clients:\n  - {client_id: 2, visibility: hide}\n'));
  service = await startService(
    { TRADEWIND_SIMULATION_SPEED: '1000', TRADEWIND_CATALOG_DIR: catalog },
    { clock: { now: () => at } },
  );
  other = await service.otherTenant();
  const volume = async (name: string, size: number, type_name: string, tags: object, region = 1) => {
    const body = { source: 'new-volume', name, size, type_name, tags };
    ids[name] = (await done('post', `/cloud/v1/volumes/1/${region}`, body)).volumes[0];
  };
  // A day each: 10 GiB, 40 GiB, and 10 GiB that have no price.
  await volume('small', 10, 'standard', { env: 'Production', tier: 'web' });
  await volume('large', 40, 'ssd_hiiops', { env: 'test' });
  await volume('elsewhere', 10, 'standard', {}, 2);
  ids.copy = (await done('post', '/cloud/v1/snapshots/1/1', { volume_id: ids.small, name: 'copy' })).snapshots[0];
  const address = await done('post', '/cloud/v1/reserved_fixed_ips/1/1', { type: 'external' });
  ids.port = address.ports[0];
  at = new Date('2026-03-11T00:00:00Z');
  await done('delete', `/cloud/v1/snapshots/1/1/${ids.copy}`);
  for (const [name, region] of [
    ['small', 1],
    ['large', 1],
    ['elsewhere', 2],
  ] as const)
    await done('delete', `/cloud/v1/volumes/1/${region}/${ids[name]}`);
  await done('delete', `/cloud/v1/reserved_fixed_ips/1/1/${ids.port}`);
  at = new Date('2026-03-20T00:00:00Z');
});
afterAll(async () => {
  await service.stop();
  await rm(catalog, { recursive: true });
});

const common = { currency: 'EUR', err: null };
// With 17 % tax.
const SMALL = {
  ...common,
  type: 'volume',
  region: 1,
  region_id: 1,
  volume_type: 'standard',
  billing_metric_name: 'volume_t_standard_gbm',
  billing_feature_name: 'Volume (standard), GiB',
  billing_value: 14_400,
  billing_value_unit: 'gbminutes',
  cost: 0.0351,
};

describe('totals', () => {
  it('are the sum of each kind in each region', async () => {
    expect(await asked(TOTALS, march)).toEqual({
      count: 5,
      price_status: 'show',
      results: [
        {
          ...common,
          type: 'external_ip',
          region: 1,
          region_id: 1,
          billing_metric_name: 'externalip_min',
          billing_feature_name: 'Public IP address',
          billing_value: 1_440,
          billing_value_unit: 'minutes',
          cost: 0.11232,
        },
        {
          ...SMALL,
          type: 'snapshot',
          billing_metric_name: 'snap_t_standard_gbm',
          billing_feature_name: 'Snapshot of a volume (standard), GiB',
        },
        {
          ...SMALL,
          volume_type: 'ssd_hiiops',
          billing_metric_name: 'volume_t_ssd_hiiops_gbm',
          billing_feature_name: 'Volume (ssd_hiiops), GiB',
          billing_value: 57_600,
          cost: 0.26957,
        },
        SMALL,
        { ...SMALL, region: 2, region_id: 2, cost: 0.0365 },
      ],
    });
  });

  it('have all digits on request', async () => {
    const { results } = await asked(TOTALS, { ...march, rounding: false, types: ['volume'], regions: [1] });
    expect(results.map(({ cost }: { cost: number }) => cost)).toEqual([0.269568, 0.0351]);
  });

  it('are of full days in UTC, the last one only on request', async () => {
    const day = { time_from: '2026-03-10T17:00:00+02:00', time_to: '2026-03-10T23:00:00Z', regions: [2] };
    const hours = await service.http.post(TOTALS, day);
    expect([hours.status, hours.text]).toEqual([400, expect.stringContaining('Send enable_last_day')]);
    expect((await asked(TOTALS, { ...day, enable_last_day: true })).results[0]).toMatchObject({
      cost: 0.0365,
    });
    const next = { time_from: '2026-03-11T00:00:00Z', time_to: '2026-03-12T00:00:00Z' };
    expect((await asked(TOTALS, next)).count).toBe(0);
  });

  it.each<[object, number]>([
    [{ projects: [1] }, 5],
    [{ projects: [999] }, 0],
    [{ regions: [2] }, 1],
    [{ types: ['volume', 'inference'] }, 3],
    [{ types: ['backup'] }, 0],
    [{ schema_filter: { type: 'volume', field: 'volume_type', values: ['ssd_hiiops'] } }, 1],
    [{ schema_filter: { type: 'volume', field: 'last_size', values: ['10'] } }, 2],
    [{ schema_filter: { type: 'volume', field: 'last_name', values: ['large', 'copy'] } }, 1],
    [{ schema_filter: { type: 'volume', field: 'attached_to_vm', values: ['anything'] } }, 0],
    [{ schema_filter: { type: 'instance', field: 'flavor', values: ['g1-standard-1-2'] } }, 0],
    [{ schema_filter: { type: 'egress_traffic', field: 'vm_id', values: ['anything'] } }, 0],
    [{ tags: { conditions: [{ key: 'env' }] } }, 2],
    [{ tags: { conditions: [{ key: 'env', value: 'production' }] } }, 0],
    [{ tags: { conditions: [{ key: 'env', value: 'PROD', strict: false }] } }, 1],
    [{ tags: { conditions: [{ value: 'web' }, { value: 'test' }] } }, 2],
    [{ tags: { condition_type: 'AND', conditions: [{ value: 'web' }, { value: 'test' }] } }, 0],
    [{ tags: { condition_type: 'AND', conditions: [{ value: 'web' }, { key: 'env' }] } }, 1],
  ])('with %j have %d results', async (filter, count) => {
    expect((await asked(TOTALS, { ...march, ...filter })).count).toBe(count);
  });

  it('come as CSV', async () => {
    const answer = await service.http.post(TOTALS, { ...march, regions: [2], response_format: 'csv_totals' });
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.text).toBe(
      'type,region,region_id,billing_metric_name,billing_value,billing_value_unit,flavor,volume_type,file_share_type,instance_type,' +
        'billing_feature_name,cost,currency,err\r\n' +
        'volume,2,2,volume_t_standard_gbm,14400,gbminutes,,standard,,,"Volume (standard), GiB",0.0365,EUR,\r\n',
    );
  });

  it('of a month are named by the month, or by its older names', async () => {
    const whole = await asked(TOTALS, march);
    for (const month of [
      { year_month: '2026-03' },
      { time_from: '2026-03', time_to: '2026-03' },
      { time_from: '2026-03-01T00:00:00+00:00', time_to: '2026-03-31T00:00:00Z' },
    ]) {
      expect(await asked(MONTHLY, month)).toEqual(whole);
    }
    const csv = { year_month: '2026-03', regions: [2], response_format: 'csv_totals' };
    expect((await service.http.post(MONTHLY, csv)).text.split('\r\n')).toHaveLength(3);
  });
});

describe('resources', () => {
  const names = async (more: object) => {
    const { results } = await asked(RESOURCES, { ...march, ...more });
    return results.map(({ last_name, type }: { last_name?: string; type: string }) => last_name ?? type);
  };

  it('have their own names, sizes, tags and times', async () => {
    const { count, results } = await asked(RESOURCES, march);
    expect(count).toBe(5);
    const seen = { project_id: 1, first_seen: '2026-03-10T00:00:00Z', last_seen: '2026-03-11T00:00:00Z' };
    expect(results).toContainEqual({
      ...SMALL,
      ...seen,
      uuid: ids.small,
      last_name: 'small',
      last_size: 10,
      size_unit: 'GiB',
      attached_to_vm: null,
      tags: expect.arrayContaining([{ env: 'Production' }, { tier: 'web' }]),
    });
    expect(results).toContainEqual(
      expect.objectContaining({
        ...seen,
        type: 'snapshot',
        source_volume_uuid: ids.small,
        last_name: 'copy',
      }),
    );
    const address = results.find(({ type }: { type: string }) => type === 'external_ip');
    expect(address).toMatchObject({ ...seen, port_id: ids.port, attached_to_vm: null });
    expect(address).not.toHaveProperty('uuid');
    expect(address.ip_address).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
  });

  it('come in any order, by page', async () => {
    expect(await names({ order_by: ['billing_value.desc', 'region.asc'], types: ['volume'] })).toEqual([
      'large',
      'small',
      'elsewhere',
    ]);
    expect(await names({ sorting: [{ region: 'desc' }, { last_name: 'desc' }], types: ['volume'] })).toEqual([
      'elsewhere',
      'small',
      'large',
    ]);
    const page = { ...march, order_by: ['last_name.asc'], types: ['volume'], limit: 1, offset: 1 };
    const { count, results } = await asked(RESOURCES, page);
    expect([count, results.map((one: { last_name: string }) => one.last_name)]).toEqual([3, ['large']]);
    expect(await asked(RESOURCES, { ...page, offset: 9 })).toEqual({
      count: 3,
      price_status: 'show',
      results: [],
    });
  });

  it('are found by what they are', async () => {
    const filter = (type: string, field: string, value = '') => ({
      schema_filter: { type, field, values: [value] },
    });
    expect(await names(filter('volume', 'uuid', ids.large))).toEqual(['large']);
    expect(await names(filter('snapshot', 'source_volume_uuid', ids.small))).toEqual(['copy']);
    expect(await names(filter('external_ip', 'port_id', ids.port))).toEqual(['external_ip']);
  });

  it('come as CSV', async () => {
    const body = { ...march, types: ['volume'], regions: [1], response_format: 'csv_records' };
    const [head = '', ...lines] = (await service.http.post(RESOURCES, body)).text.trim().split('\r\n');
    expect(head.split(',')).toContain('last_name');
    expect(lines).toHaveLength(2);
    expect(lines.join()).toContain('"[{""env"":""test""}]"');
  });
});

it('usage is the same without prices', async () => {
  const usage = await asked(USAGE, { ...march, projects: null, types: ['volume'], limit: 2 });
  const { cost: _, currency: __, err: ___, billing_feature_name: ____, ...small } = SMALL;
  expect(usage).toMatchObject({ count: 3, resources: [{}, {}] });
  expect(usage.totals).toContainEqual(small);
  expect(usage.resources[0]).not.toHaveProperty('cost');
  expect((await asked(USAGE, { ...march, time_to: '2027-03-01T00:00:00Z' })).count).toBe(5);
});

describe('prices that change', () => {
  it('change nothing of what was before', async () => {
    at = new Date('2026-05-10T00:00:00Z');
    const body = { source: 'new-volume', name: 'long', size: 100 };
    const id = (await done('post', '/cloud/v1/volumes/1/1', body)).volumes[0];
    const may = { time_from: '2026-05-01T00:00:00Z', time_to: '2026-05-31T00:00:00Z', rounding: false };
    const cost = async () => (await asked(TOTALS, may)).results[0].cost;
    at = new Date(at.getTime() + 10 * HOUR);
    expect(await cost()).toBe(0.14625);
    const database = openDatabase(service.pool.options, 1);
    const { rows } = await service.pool.query('select files from catalog');
    const files = JSON.parse(rows[0].files);
    for (const list of files['price-book.yaml'].prices) list.volume_types.standard = '0.00025';
    await database.transaction((tx) => recordPriceBook(tx, JSON.stringify(files), at));
    expect(await cost()).toBe(0.14625);
    at = new Date(at.getTime() + 10 * HOUR);
    expect(await cost()).toBe(0.43875);
    expect((await asked(TOTALS, march)).results.at(-2)).toEqual(SMALL);

    // Another currency has another sum.
    files['price-book.yaml'].default_terms.currency = 'USD';
    await database.transaction((tx) => recordPriceBook(tx, JSON.stringify(files), at));
    at = new Date(at.getTime() + HOUR);
    expect(await asked(TOTALS, may)).toMatchObject({
      price_status: 'error',
      results: [{ cost: null, currency: null, err: expect.stringContaining('currency') }],
    });
    await service.pool.query(`delete from price_books where valid_from >= '2026-05-10T00:00:00Z'`);
    await done('delete', `/cloud/v1/volumes/1/1/${id}`);
    await database.close();
  });
});

it('a price list that a clock kept ahead of its time gives way to the next one', async () => {
  at = new Date('2026-05-20T00:00:00Z');
  const body = { source: 'new-volume', name: 'ahead', size: 100 };
  const id = (await done('post', '/cloud/v1/volumes/1/1', body)).volumes[0];
  const { rows } = await service.pool.query('select files from catalog');
  const files = JSON.parse(rows[0].files);
  const database = openDatabase(service.pool.options, 1);
  const priced = async (price: string, when: Date) => {
    for (const list of files['price-book.yaml'].prices) list.volume_types.standard = price;
    await database.transaction((tx) => recordPriceBook(tx, JSON.stringify(files), when));
  };
  await priced('0.001', new Date(at.getTime() + HOUR));
  await priced('0.00025', at);
  at = new Date(at.getTime() + 10 * HOUR);
  const may = { time_from: '2026-05-20T00:00:00Z', time_to: '2026-05-31T00:00:00Z', rounding: false };
  expect((await asked(TOTALS, may)).results[0].cost).toBe(0.2925);
  await service.pool.query(`delete from price_books where valid_from >= '2026-05-20T00:00:00Z'`);
  await done('delete', `/cloud/v1/volumes/1/1/${id}`);
  await database.close();
});

it('what goes on counts until the second that has begun, as if it were deleted now', async () => {
  at = new Date('2026-05-25T00:00:00.300Z');
  const body = { source: 'new-volume', name: 'begun', size: 1 };
  const id = (await done('post', '/cloud/v1/volumes/1/1', body)).volumes[0];
  at = new Date('2026-05-25T00:02:00.900Z');
  const may = { time_from: '2026-05-25T00:00:00Z', time_to: '2026-05-31T00:00:00Z', rounding: false };
  const before = await asked(TOTALS, may);
  expect(before.results[0].billing_value).toBe(2);
  await done('delete', `/cloud/v1/volumes/1/1/${id}`);
  expect(await asked(TOTALS, may)).toEqual(before);
});

it('what was renamed counts as a whole, under its last name, and its periods are added up', async () => {
  at = new Date('2026-05-28T00:00:00Z');
  const body = { source: 'new-volume', name: 'former', size: 6 };
  const id = (await done('post', '/cloud/v1/volumes/1/1', body)).volumes[0];
  at = new Date('2026-05-28T01:00:00Z');
  expect((await service.http.patch(`/cloud/v1/volumes/1/1/${id}`, { name: 'latter' })).status).toBe(200);
  at = new Date('2026-05-28T02:00:00Z');
  await done('delete', `/cloud/v1/volumes/1/1/${id}`);
  const may = { time_from: '2026-05-28T00:00:00Z', time_to: '2026-05-29T00:00:00Z' };
  const named = (name: string) => ({
    ...may,
    schema_filter: { type: 'volume', field: 'last_name', values: [name] },
  });
  expect((await asked(TOTALS, named('latter'))).results).toMatchObject([{ billing_value: 720 }]);
  expect(await asked(RESOURCES, named('latter'))).toMatchObject({
    count: 1,
    results: [{ uuid: id, last_name: 'latter', billing_value: 720 }],
  });
  expect((await asked(TOTALS, named('former'))).count).toBe(0);
  const report = { clientId: 1, from: new Date(may.time_from), to: new Date(may.time_to), now: at };
  const database = openDatabase(service.pool.options, 1);
  const { rows } = await resourcesOf(
    database.sql,
    { ...report, bookStarts: [report.from], filter: { types: ['volume'] } },
    { orders: [] },
  );
  expect(rows).toMatchObject([{ resource_id: id, uses: [{ book: 0, amount: 6, units: 7_200 }] }]);
  await database.close();
});

it('what has no price has no cost', async () => {
  at = new Date('2026-06-10T00:00:00Z');
  const body = { source: 'new-volume', name: 'unpriced', size: 1, type_name: 'ultra' };
  await done('post', '/cloud/v1/volumes/1/1', body);
  const { rows } = await service.pool.query('select files from catalog');
  const files = JSON.parse(rows[0].files);
  for (const list of files['price-book.yaml'].prices) delete list.volume_types.ultra;
  const database = openDatabase(service.pool.options, 1);
  await database.transaction((tx) => recordPriceBook(tx, JSON.stringify(files), at));
  await database.close();
  at = new Date('2026-06-11T00:00:00Z');
  const june = { time_from: '2026-06-01T00:00:00Z', time_to: '2026-07-01T00:00:00Z', types: ['volume'] };
  const { price_status, results } = await asked(TOTALS, june);
  expect(price_status).toBe('error');
  expect(results.at(-1)).toMatchObject({
    cost: null,
    currency: 'EUR',
    err: expect.stringMatching(/no price/),
  });
});

it("is the account's own, and may hide its prices", async () => {
  expect((await other.http.post(TOTALS, march)).body).toEqual({
    count: 0,
    price_status: 'show',
    results: [],
  });
  const made = await other.http.post(`/cloud/v1/floatingips/${other.projectId}/1`, {});
  await other.http.task(String(made.body.tasks?.[0] ?? made.body[0]));
  at = new Date(at.getTime() + HOUR);
  const june = { time_from: '2026-06-01T00:00:00Z', time_to: '2026-07-01T00:00:00Z' };
  for (const url of [TOTALS, RESOURCES]) {
    expect((await other.http.post(url, { ...june, projects: [1, other.projectId] })).body).toMatchObject({
      count: 1,
      price_status: 'hide',
      results: [{ type: 'floatingip', billing_value: 60, cost: null, currency: 'EUR', err: null }],
    });
  }
  const user = await service.withRole('Users');
  expect((await user.post(TOTALS, march)).body.count).toBe(5);
});

it.each<[string, object, string]>([
  [TOTALS, {}, 'time_from'],
  [TOTALS, { ...march, time_to: '2026-04-02T00:00:00Z' }, 'time_to'],
  [TOTALS, { ...march, enable_last_day: true }, 'time_to'],
  [TOTALS, { ...march, time_to: '2026-02-01T00:00:00Z' }, 'time_to'],
  [TOTALS, { ...march, time_from: '2026-02-30T00:00:00Z' }, 'time_from'],
  [TOTALS, { ...march, types: ['castle'] }, 'types.0'],
  [TOTALS, { ...march, response_format: 'csv_records' }, 'response_format'],
  [TOTALS, { ...march, limit: 1 }, 'limit'],
  [TOTALS, { ...march, schema_filter: { type: 'castle', field: 'uuid', values: ['a'] } }, 'schema_filter.type'],
  [TOTALS, { ...march, schema_filter: { type: 'volume', field: 'flavor', values: ['a'] } }, 'schema_filter.field'],
  [TOTALS, { ...march, tags: { conditions: [] } }, 'tags.conditions'],
  [RESOURCES, { ...march, limit: 0 }, 'limit'],
  [RESOURCES, { ...march, order_by: ['cost.asc'] }, 'order_by.0'],
  [RESOURCES, { ...march, order_by: ['type.asc'], sorting: [{ type: 'asc' }] }, 'sorting'],
  [USAGE, { ...march, time_to: '2027-03-03T00:00:00Z' }, 'time_to'],
  [USAGE, { ...march, rounding: false }, 'rounding'],
  [MONTHLY, {}, 'year_month'],
  [MONTHLY, { year_month: '2026-13' }, 'year_month'],
  [MONTHLY, { year_month: '2026-03', time_from: '2026-03' }, 'time_from'],
  [MONTHLY, { time_from: '2026-03' }, 'time_to'],
  [MONTHLY, { time_from: '2026-03', time_to: '2026-04' }, 'time_to'],
])('%s refuses %j', async (url, body, field) => {
  const answer = await service.http.post(url, body);
  expect(answer.status, answer.text).toBe(400);
  expect(Object.keys(answer.body.invalid_fields)).toContain(field);
});

it('leaves connections to others while many ask', async () => {
  const lock = await service.pool.connect();
  await lock.query('begin; lock table usage_periods in access exclusive mode');
  const asking = Array.from({ length: 40 }, (_, index) =>
    service.http.post([TOTALS, RESOURCES, USAGE][index % 3] ?? '', march),
  );
  const refused: string[] = [];
  for (const one of asking) void one.then(({ status, text }) => status === 503 && refused.push(text));
  try {
    // All of them have come by then.
    await expect.poll(() => refused.length).toBe(8);
    for (const text of refused) expect(text).toContain('Too many reports');
    expect((await service.http.get('/cloud/v1/volumes/1/1')).status).toBe(200);
  } finally {
    await lock.query('commit');
    lock.release();
  }
  const statuses = (await Promise.all(asking)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(32);
  expect(statuses.filter((status) => status === 503)).toHaveLength(8);
});

it('old usage is deleted, what goes on is not', async () => {
  const database = openDatabase(service.pool.options, 1);
  const count = async () =>
    Number((await service.pool.query('select count(*) as count from usage_periods')).rows[0].count);
  const before = await count();
  expect(await deleteOldUsage(database, new Date('2026-03-10T00:00:00Z'))).toBe(0);
  // An issuer has not made the invoices of the month yet. Later, the service itself would make them meanwhile.
  at = new Date('2026-03-22T00:00:00Z');
  await service.pool.query(`
    insert into issuer_settings (reseller_id, valid_from, settings, created_by, created_at)
    values (999, '2026-03-05', '{}', 1, '2026-03-05')`);
  expect(await deleteOldUsage(database, new Date('2026-03-22T00:00:00Z'))).toBe(0);
  await service.pool.query(`insert into billed_months values ('2026-03', 'final_clients', 0)`);
  expect(await deleteOldUsage(database, new Date('2026-03-22T00:00:00Z'))).toBe(0);
  await service.pool.query(`update billed_months set stage = 'done'`);
  expect(await deleteOldUsage(database, new Date('2026-03-22T00:00:00Z'))).toBe(5);
  await service.pool.query('delete from issuer_settings');
  await service.pool.query('delete from billed_months');
  expect(await count()).toBe(before - 5);
  await deleteOldUsage(database, new Date('2029-12-31T00:00:00Z'));
  expect(await count()).toBeGreaterThan(0);
  await database.close();
});
