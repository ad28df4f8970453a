import fs from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { simulated } from '../../../../simulation/maker.ts';
import { BOOT_VOLUME } from '../../../../test/support/boot-volume.ts';
import { changedCatalog } from '../../../../test/support/catalogs.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { type SendingMachine, Unavailable } from '../../../backends/contract/backend.ts';
import type { BackendMaker } from '../../../backends/maker.ts';

const SOON = { timeout: 30_000 };
const HOUR = 3_600_000;
const GB = 1_000_000_000;
const PRICE = 0.02;
const TAX = 1.17;

interface Asked {
  machines: readonly SendingMachine[];
  from: string;
  to: string;
}
const asked: Asked[] = [];
/** What each port sends in an hour, and whether the counters answer. */
const counters = { gbPerHour: 0, answer: true };

const counted: BackendMaker = {
  ...simulated,
  make: (given, host) => ({
    ...simulated.make(given, host),
    async sentBy(machines, { from, to }) {
      if (!counters.answer) throw new Unavailable('the counters are away');
      asked.push({ machines, from: from.toISOString(), to: to.toISOString() });
      const bytes = (counters.gbPerHour * GB * (to.getTime() - from.getTime())) / HOUR;
      return new Map(machines.flatMap(({ ports }) => ports.map(({ id }): [string, number] => [id, bytes])));
    },
  }),
};
const folder = changedCatalog('price-book.yaml', ({ prices = [], ...book }) => ({
  ...book,
  prices: prices.map((list) => ({ ...list, egress_traffic: { virtual: String(PRICE) } })),
}));

let at = Date.UTC(2026, 2, 10, 12);
const now = (text: string) => {
  at = Date.parse(`2026-03-${text}Z`);
};
let service: TestService;
let instance: { id: string; port: string };
beforeAll(async () => {
  service = await startService(
    { TRADEWIND_CATALOG_DIR: folder, TRADEWIND_SIMULATION_SPEED: '1000' },
    { clock: { now: () => new Date(at) }, makers: { simulated: counted } },
  );
  instance = await machine('web', [{ type: 'external' }]);
  await machine('alone', []);
});
afterAll(async () => {
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

/** Creates an instance in a network of its own besides the interfaces. */
async function machine(name: string, interfaces: object[]) {
  const finished = async (answer: Awaited<ReturnType<typeof service.http.post>>) => {
    expect(answer.status, answer.text).toBe(200);
    const task = await service.http.task(String(answer.body.tasks?.[0] ?? answer.body[0]));
    expect(task).toMatchObject({ state: 'FINISHED', error: null });
    return task.created_resources;
  };
  const net = await finished(await service.http.post('/cloud/v1/networks/1/1', { name }));
  const network_id = net.networks[0];
  await finished(await service.http.post('/cloud/v1/subnets/1/1', { name, cidr: '10.0.0.0/24', network_id }));
  const made = await finished(
    await service.http.post('/cloud/v2/instances/1/1', {
      name,
      flavor: 'g1-standard-2-4',
      volumes: [BOOT_VOLUME],
      interfaces: [...interfaces, { type: 'any_subnet', network_id }],
    }),
  );
  const id = made.instances[0];
  const ports = await service.pool.query(
    `select ports.id from ports join networks on networks.id = network_id where instance_id = $1 and external`,
    [id],
  );
  return { id, port: ports.rows[0]?.id };
}

const meter = async () =>
  (await service.pool.query('select metered_until, hour_ends, after_id from traffic_meters where region_id = 1'))
    .rows[0];
const meteredUntil = (text: string) =>
  expect
    .poll(async () => (await meter())?.metered_until.toISOString(), SOON)
    .toBe(new Date(`2026-03-${text}Z`).toISOString());
const lines = async (query: string) => {
  const { status, text, body } = await service.http.get(`/tradewind/v1/costs?type=egress_traffic&${query}`);
  expect(status, text).toBe(200);
  return body.lines;
};

it('counts an hour once it is over, of ports that lead outside', async () => {
  counters.gbPerHour = 3;
  await meteredUntil('10T12:00:00');
  now('10T13:05:00');
  await meteredUntil('10T13:00:00');
  const [first] = asked;
  expect(first).toMatchObject({ from: '2026-03-10T12:00:00.000Z', to: '2026-03-10T13:00:00.000Z' });
  expect(first?.machines).toMatchObject([
    { machineId: instance.id, ref: { kind: 'machine', id: instance.id }, ports: [{ id: instance.port }] },
  ]);
  const line = { client_id: 1, type: 'egress_traffic', kind: 'virtual', quantity: 3 * GB, unit: 'bytes' };
  expect(await lines('from=2026-03-10T00:00:00Z&to=2026-03-11T00:00:00Z')).toMatchObject([
    { ...line, cost: expect.closeTo(3 * PRICE * TAX, 9), currency: 'EUR', err: null },
  ]);
  const report = await service.http.post('/cloud/v1/usage_report', {
    time_from: '2026-03-10T00:00:00Z',
    time_to: '2026-03-11T00:00:00Z',
    schema_filter: { type: 'egress_traffic', field: 'vm_id', values: [instance.id] },
  });
  expect(report.status, report.text).toBe(200);
  expect(report.body).toMatchObject({
    count: 1,
    resources: [
      {
        type: 'egress_traffic',
        instance_type: 'vm',
        instance_name: 'web',
        vm_id: instance.id,
        port_id: instance.port,
        billing_metric_name: 'egress_traffic_virtual_gbs',
        billing_value: 3 * GB,
        billing_value_unit: 'bytes',
        size_unit: 'bytes',
        tags: expect.any(Array),
      },
    ],
  });
});

it('adds the hours of a day to one row of each port, and begins another at midnight in UTC', async () => {
  counters.gbPerHour = 1;
  now('11T02:06:00');
  await meteredUntil('11T02:00:00');
  const { rows } = await service.pool.query(
    `select amount::float8, started_at, ended_at from usage_periods where type = 'egress_traffic' order by id`,
  );
  expect(rows).toEqual([
    { amount: (3 + 11) * GB, started_at: new Date('2026-03-10T12:00:00Z'), ended_at: new Date('2026-03-11T00:00:00Z') },
    { amount: 2 * GB, started_at: new Date('2026-03-11T00:00:00Z'), ended_at: new Date('2026-03-11T02:00:00Z') },
  ]);
  // Hours that nobody metered in time are asked for together.
  expect(asked.slice(1).map(({ from, to }) => [from, to])).toEqual([
    ['2026-03-10T13:00:00.000Z', '2026-03-11T00:00:00.000Z'],
    ['2026-03-11T00:00:00.000Z', '2026-03-11T02:00:00.000Z'],
  ]);
});

it('counts no byte twice and loses none where a worker dies between asking and noting', async () => {
  const before = (
    await service.pool.query(`select sum(amount)::float8 as sum from usage_periods where type = 'egress_traffic'`)
  ).rows[0].sum;
  counters.answer = false;
  now('11T03:06:00');
  await expect.poll(async () => (await meter()).hour_ends?.toISOString(), SOON).toBe('2026-03-11T03:00:00.000Z');
  // Another worker goes on when the time of the one that took it is over. Its own notice comes too late then.
  now('11T03:09:00');
  counters.answer = true;
  await meteredUntil('11T03:00:00');
  const { rows } = await service.pool.query(
    `select sum(amount)::float8 as sum from usage_periods where type = 'egress_traffic'`,
  );
  expect(rows[0].sum - before).toBe(1 * GB);
});

it('costs what it cost at the time, in parts that add up to the byte', async () => {
  counters.gbPerHour = 1 / 3;
  now('11T12:00:00');
  const list = { scope: 'client', id: 1, prices: [{ item: 'egress_traffic.virtual', currency: 'EUR', per_gb: 0.05 }] };
  const made = await service.http.post('/tradewind/v1/price_lists', list);
  expect(made.status, made.text).toBe(201);
  now('12T00:06:00');
  await meteredUntil('12T00:00:00');
  const day = (from: string, to: string) => lines(`from=2026-03-11T${from}Z&to=${to}Z`);
  const [whole] = await day('00:00:00', '2026-03-12T00:00:00');
  const parts = [
    ...(await day('00:00:00', '2026-03-11T07:31:07')),
    ...(await day('07:31:07', '2026-03-11T17:00:01')),
    ...(await day('17:00:01', '2026-03-12T00:00:00')),
  ];
  const total = (field: 'quantity' | 'cost') => parts.reduce((sum, part) => sum + part[field], 0);
  expect(total('quantity')).toBe(whole.quantity);
  expect(total('cost')).toBeCloseTo(whole.cost, 9);
  // The traffic of a day counts as if it went evenly.
  expect(whole.cost).toBeCloseTo((whole.quantity / GB / 2) * (PRICE + 0.05) * TAX, 6);
  const { body } = await service.http.get('/tradewind/v1/prices');
  expect(body.prices.filter(({ item }: { item: string }) => item.startsWith('egress'))).toContainEqual({
    region_id: 1,
    item: 'egress_traffic.virtual',
    listed_per_hour: null,
    per_hour: null,
    per_month: null,
    listed_per_gb: 0.05,
    per_gb: 0.0585,
    price_list_id: made.body.id,
  });
});

it('is awaited before a day is told as closed, for a day at most', async () => {
  await service.pool.query(`update usage_closings set day = '2026-03-11', next_id = null`);
  const closed = async () => (await service.pool.query('select day from usage_closings')).rows[0].day;
  counters.answer = false;
  now('13T00:30:00');
  await expect.poll(async () => (await meter()).hour_ends?.toISOString(), SOON).toBe('2026-03-13T00:00:00.000Z');
  expect(await closed()).toBe('2026-03-11');
  counters.answer = true;
  now('13T00:33:00');
  await meteredUntil('13T00:00:00');
  await expect.poll(closed, SOON).toBe('2026-03-12');
  counters.answer = false;
  now('15T00:01:00');
  await expect.poll(closed, SOON).toBe('2026-03-13');
  // What comes now would change a day that is closed.
  counters.answer = true;
  now('15T00:20:00');
  await meteredUntil('15T00:00:00');
  const { rows } = await service.pool.query(
    `select started_at from usage_periods where type = 'egress_traffic' and started_at >= '2026-03-13'`,
  );
  expect(rows).toEqual([{ started_at: new Date('2026-03-14T00:00:00Z') }]);
});

it('is priced in the previews of instances', async () => {
  const { status, text, body } = await service.http.post('/cloud/v2/pricing/1/1/instances', {
    flavor: 'g1-standard-2-4',
    interfaces: [{ type: 'external' }],
  });
  expect(status, text).toBe(200);
  expect(body.per_gb).toEqual({ egress_traffic_virtual: 0.0585 });
});

it('has prices of its own kind', async () => {
  const list = (price: object) =>
    service.http.post('/tradewind/v1/price_lists', { scope: 'client', id: 1, currency: 'EUR', prices: [price] });
  for (const [price, field, message] of [
    [{ item: 'egress_traffic.virtual', per_hour: 1 }, 'per_gb', 'Send only per_gb for egress_traffic.virtual.'],
    [{ item: 'volume_types.standard', per_gb: 1 }, 'per_gb', 'Is for traffic only.'],
    // Nobody meters it, since the catalogue has no price.
    [{ item: 'egress_traffic.baremetal', per_gb: 1 }, 'item', 'egress_traffic.baremetal is not offered anywhere.'],
  ] as const) {
    const { status, body } = await list(price);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(message)]);
    expect(JSON.stringify(body)).toContain(`prices.0.${field}`);
  }
});

it('is no longer metered where the price is gone', async () => {
  await vi.waitFor(async () => expect(await meter()).toBeDefined(), SOON);
  await service.pool.query(`insert into traffic_meters (region_id, metered_until) values (999, now())`);
  await expect
    .poll(async () => (await service.pool.query('select from traffic_meters where region_id = 999')).rowCount, SOON)
    .toBe(0);
});
