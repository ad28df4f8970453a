import fs from 'node:fs';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { simulated } from '../../../../simulation/maker.ts';
import { BOOT_VOLUME } from '../../../../test/support/boot-volume.ts';
import { changedCatalog } from '../../../../test/support/catalogs.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { type SendingMachine, Unavailable } from '../../../backends/contract/backend.ts';
import type { BackendMaker } from '../../../backends/maker.ts';
import { type Database, holds, openDatabase } from '../../../db/database.ts';
import { applyCatalog } from '../../ground/catalog/in-force.ts';
import { loadCatalog } from '../../ground/catalog/service.ts';
import { isAllTrafficKnown } from './store.ts';

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
/** What each port sends in an hour, whether the counters answer, and what they wait for. */
const counters = { gbPerHour: 0, answer: true, until: Promise.resolve() };
/** Makes the counters wait until they are let go on. */
function holdCounters(): () => void {
  let go = () => {};
  counters.until = new Promise((resolve) => {
    go = resolve;
  });
  return () => {
    counters.until = Promise.resolve();
    go();
  };
}

const counted: BackendMaker = {
  ...simulated,
  make: (given, host) => ({
    ...simulated.make(given, host),
    async sentBy(machines, { from, to }) {
      if (!counters.answer) throw new Unavailable('the counters are away');
      asked.push({ machines, from: from.toISOString(), to: to.toISOString() });
      await counters.until;
      const bytes = (counters.gbPerHour * GB * (to.getTime() - from.getTime())) / HOUR;
      return new Map(machines.flatMap(({ ports }) => ports.map(({ id }): [string, number] => [id, bytes])));
    },
  }),
};
const priced = changedCatalog('price-book.yaml', ({ prices = [], ...book }) => ({
  ...book,
  prices: prices.map((list) => ({ ...list, egress_traffic: { virtual: String(PRICE) } })),
}));

let at = Date.UTC(2026, 2, 10, 12, 20);
const now = (text: string) => {
  at = Date.parse(`2026-03-${text}Z`);
};
let service: TestService;
let database: Database;
let instance: { id: string; port: string };
let floating: { id: string; port: string };
beforeAll(async () => {
  const clock = { now: () => new Date(at) };
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '1000' }, { clock, makers: { simulated: counted } });
  database = openDatabase(service.pool.options, 1);
  instance = await machine('web', [{ type: 'external' }]);
  floating = await machine('behind', []);
  await machine('alone', []);
});
afterAll(async () => {
  await database.close();
  await service.stop();
  fs.rmSync(priced, { recursive: true });
});

async function apply(folder: string): Promise<void> {
  const catalog = await loadCatalog(folder);
  const nothing = async () => {};
  const clock = { now: () => new Date(at) };
  await applyCatalog({ database, catalog, folder, clock, origin: 'a test', prepare: nothing, record: nothing });
}

async function finished(answer: Awaited<ReturnType<typeof service.http.post>>) {
  expect(answer.status, answer.text).toBe(200);
  const task = await service.http.task(String(answer.body.tasks?.[0] ?? answer.body[0]));
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  return task.created_resources;
}

/** Creates an instance in a network of its own besides the interfaces. */
async function machine(name: string, interfaces: object[]) {
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
  const ports = await service.pool.query('select id from ports where instance_id = $1 order by position', [id]);
  return { id, port: ports.rows[0]?.id };
}

const meter = async () =>
  (await service.pool.query('select metered_until, hour_ends, after_id from traffic_meters where region_id = 1'))
    .rows[0];
const meteredUntil = (text: string) =>
  expect
    .poll(async () => (await meter())?.metered_until.toISOString(), SOON)
    .toBe(new Date(`2026-03-${text}Z`).toISOString());
const sum = async () =>
  (await service.pool.query(`select sum(amount)::float8 as sum from usage_periods where type = 'egress_traffic'`))
    .rows[0].sum;
const lines = async (query: string) => {
  const { status, text, body } = await service.http.get(`/tradewind/v1/costs?type=egress_traffic&${query}`);
  expect(status, text).toBe(200);
  return body.lines;
};

it('is metered from the hour on in which its price comes, of ports that lead outside, and costs from then on', async () => {
  counters.gbPerHour = 3;
  now('10T12:34:00');
  await apply(priced);
  await meteredUntil('10T12:00:00');
  now('10T13:05:00');
  await meteredUntil('10T13:00:00');
  const [first] = asked;
  expect(first).toMatchObject({ from: '2026-03-10T12:00:00.000Z', to: '2026-03-10T13:00:00.000Z' });
  expect(first?.machines).toMatchObject([
    { machineId: instance.id, ref: { kind: 'machine', id: instance.id }, ports: [{ id: instance.port }] },
  ]);
  const line = { client_id: 1, type: 'egress_traffic', kind: 'virtual', quantity: 3 * GB, unit: 'bytes' };
  // The instance was created at 12:20.
  const paid = (3 * 26) / 40;
  expect(await lines('from=2026-03-10T00:00:00Z&to=2026-03-11T00:00:00Z')).toMatchObject([
    { ...line, cost: expect.closeTo(paid * PRICE * TAX, 9), currency: 'EUR', err: null },
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
    { amount: (3 + 11) * GB, started_at: new Date('2026-03-10T12:20:00Z'), ended_at: new Date('2026-03-11T00:00:00Z') },
    { amount: 2 * GB, started_at: new Date('2026-03-11T00:00:00Z'), ended_at: new Date('2026-03-11T02:00:00Z') },
  ]);
  // Hours that nobody metered in time are asked for together.
  expect(asked.slice(1).map(({ from, to }) => [from, to])).toEqual([
    ['2026-03-10T13:00:00.000Z', '2026-03-11T00:00:00.000Z'],
    ['2026-03-11T00:00:00.000Z', '2026-03-11T02:00:00.000Z'],
  ]);
});

it('loses nothing where a worker dies between asking and noting', async () => {
  const before = await sum();
  counters.answer = false;
  now('11T03:06:00');
  await expect.poll(async () => (await meter()).hour_ends?.toISOString(), SOON).toBe('2026-03-11T03:00:00.000Z');
  // Another worker goes on when the time of the one that took it is over.
  now('11T03:10:00');
  counters.answer = true;
  await meteredUntil('11T03:00:00');
  expect((await sum()) - before).toBe(1 * GB);
});

it('counts nothing twice: what a worker says after another has gone on comes too late', async () => {
  const before = await sum();
  const release = holdCounters();
  const calls = asked.length;
  now('11T04:06:00');
  await expect.poll(() => asked.length, SOON).toBe(calls + 1);
  // What another worker does, without the bytes that it adds.
  await service.pool.query(
    `update traffic_meters set metered_until = '2026-03-11T04:00:00Z', hour_ends = null, taken_until = null`,
  );
  release();
  now('11T05:06:00');
  await meteredUntil('11T05:00:00');
  expect((await sum()) - before).toBe(1 * GB);
});

it('bills no count that is none', async () => {
  const before = await sum();
  let hour = 5;
  for (const wrong of [Number.NaN, -1]) {
    counters.gbPerHour = wrong;
    hour++;
    now(`11T0${hour}:06:00`);
    await meteredUntil(`11T0${hour}:00:00`);
  }
  counters.gbPerHour = 1;
  expect(await sum()).toBe(before);
});

it('is asked of many machines some at a time, each once', async () => {
  const before = await sum();
  await service.pool.query(
    `insert into instances select (jsonb_populate_record(web, jsonb_build_object('id', gen_random_uuid()))).*
     from instances as web, generate_series(1, 250) where web.name = 'alone'`,
  );
  now('11T08:06:00');
  await meteredUntil('11T08:00:00');
  expect((await sum()) - before).toBe(1 * GB);
  await service.pool.query(
    `delete from instances where name = 'alone' and id not in (select instance_id from ports where instance_id is not null)`,
  );
});

it('is metered again where a clock that was ahead has metered hours to come', async () => {
  const ofDay = async () =>
    (
      await service.pool.query(
        `select sum(amount)::float8 as sum, count(*)::int from usage_periods where type = 'egress_traffic' and started_at >= '2026-03-11'`,
      )
    ).rows[0];
  await service.pool.query(
    `insert into usage_periods (client_id, project_id, region_id, type, resource_id, sku, amount, started_at, ended_at)
     select client_id, project_id, 1, type, resource_id, sku, amount, '2026-04-19T00:00:00Z', '2026-04-20T00:00:00Z'
     from usage_periods where type = 'egress_traffic' limit 1`,
  );
  await service.pool.query(`update traffic_meters set metered_until = '2026-04-20T00:00:00Z'`);
  await meteredUntil('11T08:00:00');
  await expect.poll(ofDay, SOON).toEqual({ sum: 8 * GB, count: 1 });
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
  const known = (before: string) =>
    holds(database.sql, isAllTrafficKnown(sql`${`2026-03-${before}T00:00:00Z`}::timestamptz`, new Date(at)));
  counters.answer = false;
  now('13T00:30:00');
  await expect.poll(async () => (await meter()).hour_ends?.toISOString(), SOON).toBe('2026-03-13T00:00:00.000Z');
  expect([await known('12'), await known('13'), await closed()]).toEqual([true, false, '2026-03-11']);
  counters.answer = true;
  now('13T00:34:00');
  await meteredUntil('13T00:00:00');
  expect(await known('13')).toBe(true);
  await expect.poll(closed, SOON).toBe('2026-03-12');
  // An answer that takes too long would change a day that is closed.
  const release = holdCounters();
  const calls = asked.length;
  now('14T22:30:00');
  await expect.poll(() => asked.length, SOON).toBe(calls + 1);
  expect([asked.at(-1)?.from, await known('14')]).toEqual(['2026-03-13T00:00:00.000Z', false]);
  now('15T00:20:00');
  expect(await known('14')).toBe(true);
  await expect.poll(closed, SOON).toBe('2026-03-13');
  release();
  await meteredUntil('15T00:00:00');
  const { rows } = await service.pool.query(
    `select distinct started_at from usage_periods where type = 'egress_traffic' and started_at >= '2026-03-13'`,
  );
  expect(rows).toEqual([{ started_at: new Date('2026-03-14T00:00:00Z') }]);
});

it('counts of a floating IP', async () => {
  const [subnet] = (await service.pool.query(`select subnets.id, network_id from subnets where name = 'behind'`)).rows;
  const gateway = { external_gateway_info: { type: 'default', enable_snat: true } };
  const router = { name: 'out', interfaces: [{ type: 'subnet', subnet_id: subnet.id }], ...gateway };
  await finished(await service.http.post('/cloud/v1/routers/1/1', router));
  await finished(await service.http.post('/cloud/v1/floatingips/1/1', { port_id: floating.port }));
  counters.gbPerHour = 1;
  now('15T02:06:00');
  await meteredUntil('15T02:00:00');
  const { rows } = await service.pool.query(
    `select amount::float8 from usage_periods where type = 'egress_traffic' and resource_id = $1`,
    [floating.port],
  );
  expect(rows).toEqual([{ amount: 2 * GB }]);
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

it('is no longer metered where the price is gone, and costs nothing for that time', async () => {
  now('16T10:06:00');
  await meteredUntil('16T10:00:00');
  await apply('catalog');
  await expect.poll(meter, SOON).toBeUndefined();
  now('16T14:30:00');
  await apply(priced);
  await meteredUntil('16T14:00:00');
  now('16T15:06:00');
  await meteredUntil('16T15:00:00');
  const [day, ...others] = await lines('from=2026-03-16T00:00:00Z&to=2026-03-17T00:00:00Z');
  // 10 hours, and one after the gap, over 15 hours without the 4 hours and 24 minutes that had no price, for two ports.
  const parts = 2 * 11 * (1 - 4.4 / 15);
  expect([others, day.err]).toEqual([[], null]);
  expect(day.cost).toBeCloseTo(parts * 0.05 * TAX, 6);
});
