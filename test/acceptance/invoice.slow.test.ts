import fs from 'node:fs';
import { Decimal } from 'decimal.js';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../support/boot-volume.ts';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { createHttpClient, type HttpClient } from '../support/http-client.ts';
import { createRandom } from './concurrency/random.ts';
import { build, type ServeProcess, serve, takeForDead, temporaryFolder } from './processes.ts';

/**
 * A month of an account, made up at random, with kills and changes of prices: what the reports say it costs is what the
 * previews said, for as long as each of them was true.
 */
const TOKEN = '7_acceptance-secret';
const HOUR = 3_600_000;
const BEGIN = Date.UTC(2031, 2, 1);
const END = Date.UTC(2031, 3, 1);
const STEPS = 70;
const KILLS = 6;
/** What accounts pay, by the step after which that changes: at once, or with an hour's notice. */
const PRICE_LISTS: Record<number, object> = {
  12: { scope: 'everyone', discount_percent: 10, prices: [volumes({ per_hour: 0.00021 })] },
  27: { scope: 'reseller', id: 1, tax_percent: 19 },
  34: { scope: 'client', id: 1, discount_percent: 33.3, prices: [volumes({ per_month: 0.1 })], notice: true },
  50: { scope: 'client', id: 1, discount_percent: 5, notice: true },
};
function volumes(price: object) {
  return { item: 'volume_types.standard', currency: 'EUR', ...price };
}
const SEED = Number(process.env.TEST_INVOICE_SEED ?? 2031);

/** What the account was told a resource costs, and since when. It costs nothing from its removal on. */
interface Paid {
  kind: string;
  id: string;
  rates: { since: number; perHour: Decimal }[];
  size: number;
  type: string;
  /** The volume of a snapshot. */
  source?: string;
  /** Nothing can be changed that something else was made from. */
  isSource: boolean;
}

const random = createRandom(SEED);

const dataDir = temporaryFolder();
let database: TestDatabase;
let pool: pg.Pool;
let service: ServeProcess;
let http: HttpClient;
let now = BEGIN;
/** Steps that change nothing kill nothing. */
let kills = 0;
const paid: Paid[] = [];
const there: Paid[] = [];

beforeAll(async () => {
  build();
  database = await createDatabase({ empty: true });
  pool = new pg.Pool({ connectionString: database.url, max: 1 });
  await start();
});
afterAll(async () => {
  await service?.end();
  await pool?.end();
  await database?.drop();
  fs.rmSync(dataDir, { recursive: true, force: true });
});

async function start(): Promise<void> {
  service = await serve({
    DATABASE_URL: database.url,
    TRADEWIND_DATA_DIR: dataDir,
    TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
    TRADEWIND_SIMULATION_SPEED: '1000',
    TRADEWIND_TEST_API: 'true',
    TRADEWIND_TEST_CLOCK: new Date(now).toISOString(),
  });
  http = createHttpClient(service.url, TOKEN);
}

async function advanceTo(time: number): Promise<void> {
  now = time;
  const { status, text } = await http.post('/tradewind/v1/test/clock', { at: new Date(now).toISOString() });
  expect(status, text).toBe(200);
}

/** Sends a change. Returns what its task made, if the process is killed in between, too. */
async function done(method: 'POST' | 'DELETE', path: string, body?: object, killed = false) {
  const answer = await http.request(method, path, body ? { body } : {});
  expect([200, 204], answer.text).toContain(answer.status);
  if (killed) {
    await service.end('SIGKILL');
    await takeForDead(pool, service);
    kills++;
    await start();
  }
  const [task] = Array.isArray(answer.body) ? answer.body : (answer.body?.tasks ?? []);
  if (task === undefined) return {};
  const ended = await http.task(task);
  expect(ended).toMatchObject({ state: 'FINISHED', error: null });
  return ended.created_resources ?? {};
}

async function preview(what: string, body: object, version = 'v1'): Promise<Decimal> {
  const { status, text, body: price } = await http.post(`/cloud/${version}/pricing/1/1/${what}`, body);
  expect(status, text).toBe(200);
  return new Decimal(price.price_per_hour ?? price.total_price_per_hour);
}

const volumePrice = (size: number, type_name: string) => preview('volumes', { source: 'new-volume', size, type_name });

function machine(flavor: string) {
  const volumes = [{ ...BOOT_VOLUME, size: 10, type_name: 'standard', delete_on_termination: true }];
  return { flavor, interfaces: [{ type: 'external' }], volumes };
}
const machinePrice = (flavor: string) => {
  const { volumes, ...rest } = machine(flavor);
  const priced = volumes.map(({ source, size, type_name }) => ({ source, size, type_name }));
  return preview('instances', { ...rest, volumes: priced, names: ['priced'] }, 'v2');
};

function begins(kind: string, id: string, perHour: Decimal, more: Partial<Paid> = {}): void {
  const one = { kind, id, rates: [{ since: now, perHour }], size: 0, type: '', isSource: false, ...more };
  paid.push(one);
  there.push(one);
}

const MAKERS: Record<string, (killed: boolean) => Promise<void>> = {
  async volume(killed) {
    const [size, type] = [random.whole(1, 200), random.one(['standard', 'ssd_hiiops'])];
    const price = await volumePrice(size, type);
    const body = { source: 'new-volume', name: 'billed', size, type_name: type };
    const { volumes } = await done('POST', '/cloud/v1/volumes/1/1', body, killed);
    begins('volume', volumes[0], price, { size, type });
  },
  async snapshot(killed) {
    const of = there.find(({ kind }) => kind === 'volume');
    if (!of) return MAKERS.volume?.(killed);
    const price = await preview('snapshots', { volume_id: of.id });
    const body = { name: 'billed', volume_id: of.id };
    const { snapshots } = await done('POST', '/cloud/v1/snapshots/1/1', body, killed);
    of.isSource = true;
    begins('snapshot', snapshots[0], price, { source: of.id });
  },
  async floatingIp(killed) {
    const price = await preview('floating_ips', { count: 1 });
    const { floatingips } = await done('POST', '/cloud/v1/floatingips/1/1', {}, killed);
    begins('floatingIp', floatingips[0], price);
  },
  async machine(killed) {
    const flavor = random.one(['g1-standard-1-2', 'g1-standard-2-4']);
    const price = await machinePrice(flavor);
    const body = { name: 'billed', ...machine(flavor) };
    const { instances } = await done('POST', '/cloud/v2/instances/1/1', body, killed);
    begins('machine', instances[0], price, { type: flavor });
  },
};

const CHANGES: Record<string, (of: Paid, killed: boolean) => Promise<Decimal | undefined>> = {
  async volume(of, killed) {
    if (of.isSource) return undefined;
    of.size += random.whole(1, 50);
    await done('POST', `/cloud/v1/volumes/1/1/${of.id}/extend`, { size: of.size }, killed);
    return volumePrice(of.size, of.type);
  },
  async machine(of, killed) {
    of.type = of.type === 'g1-standard-1-2' ? 'g1-standard-2-4' : 'g1-standard-1-2';
    const body = { flavor_id: of.type };
    await done('POST', `/cloud/v1/instances/1/1/${of.id}/changeflavor`, body, killed);
    return machinePrice(of.type);
  },
};

const PATHS: Record<string, string> = {
  volume: '/cloud/v1/volumes/1/1',
  snapshot: '/cloud/v1/snapshots/1/1',
  floatingIp: '/cloud/v1/floatingips/1/1',
  machine: '/cloud/v1/instances/1/1',
};

async function remove(one: Paid, killed: boolean): Promise<void> {
  await done('DELETE', `${PATHS[one.kind]}/${one.id}`, undefined, killed);
  there.splice(there.indexOf(one), 1);
  one.rates.push({ since: now, perHour: new Decimal(0) });
}

/** Makes, changes or removes something. */
async function step(killed: boolean): Promise<void> {
  const one = random.pick(there);
  if (!one || random.chance(0.5)) return MAKERS[random.pick(Object.keys(MAKERS)) ?? '']?.(killed);
  if (random.chance(0.4) && one.kind in CHANGES) {
    const perHour = await CHANGES[one.kind]?.(one, killed);
    if (perHour) one.rates.push({ since: now, perHour });
    return;
  }
  if (!one.isSource) await remove(one, killed);
}

const PREVIEWS: Record<string, (of: Paid) => Promise<Decimal>> = {
  volume: ({ size, type }) => volumePrice(size, type),
  snapshot: ({ source }) => preview('snapshots', { volume_id: source }),
  floatingIp: () => preview('floating_ips', { count: 1 }),
  machine: ({ type }) => machinePrice(type),
};

/** Puts a price list in force, and asks what everything costs from then on. */
async function changePrices({ notice, ...list }: { notice?: boolean }): Promise<void> {
  const from = notice ? now + HOUR : now;
  const valid_from = new Date(from).toISOString();
  const { status, text } = await http.post('/tradewind/v1/price_lists', { ...list, valid_from });
  expect(status, text).toBe(201);
  if (notice) await advanceTo(from);
  for (const one of there) {
    const perHour = await PREVIEWS[one.kind]?.(one);
    if (perHour) one.rates.push({ since: now, perHour });
  }
}

/** What it costs in the month, by its previews. */
function costOf({ rates }: Paid): Decimal {
  const parts = rates.map(({ since, perHour }, index) => {
    const until = Math.min(rates[index + 1]?.since ?? END, END);
    return perHour.times(Math.max(0, until - since)).dividedBy(HOUR);
  });
  return parts.reduce((sum, part) => sum.plus(part), new Decimal(0));
}

async function invoice(rounding: boolean): Promise<Decimal> {
  const month = { time_from: new Date(BEGIN).toISOString(), time_to: new Date(END).toISOString(), rounding };
  const { status, text, body } = await http.post('/cloud/v1/cost_report/totals', month);
  expect(status, text).toBe(200);
  expect(body.price_status).toBe('show');
  return body.results.reduce((sum: Decimal, { cost }: { cost: number }) => sum.plus(cost), new Decimal(0));
}

it('a month costs what the previews said, whatever was killed', async () => {
  const killed = new Set(Array.from({ length: KILLS }, (_, n) => 5 + Math.floor((n * (STEPS - 10)) / KILLS)));
  for (let n = 0; n < STEPS; n++) {
    await step(killed.has(n));
    const list = PRICE_LISTS[n];
    if (list) await changePrices(list);
    // Whole seconds, so that each step counts from its own.
    await advanceTo(now + random.whole(1, (2 * (END - now)) / 1_000 / (STEPS - n)) * 1_000);
    if (now >= END) break;
  }
  await advanceTo(Math.max(now, END + 3 * 24 * HOUR));
  const expected = paid.reduce((sum, one) => sum.plus(costOf(one)), new Decimal(0));
  const charged = await invoice(false);
  process.stderr.write(
    `invoice: ${paid.length} resources, ${paid.flatMap(({ rates }) => rates).length} prices, ${kills} kills: ${charged.toFixed(2)}\n`,
  );
  expect(paid.length, `seed ${SEED}`).toBeGreaterThan(10);
  expect(kills, `seed ${SEED}`).toBeGreaterThan(KILLS / 2);
  expect(charged.toFixed(2), `seed ${SEED}`).toBe(expected.toFixed(2));
  expect(charged.minus(expected).abs().toNumber(), `seed ${SEED}`).toBeLessThan(1e-6);
  expect((await invoice(true)).minus(expected).abs().toNumber()).toBeLessThan(0.005);

  // The month is closed, also for other prices.
  await changePrices({ ...PRICE_LISTS[50] });
  for (const one of [...there].filter(({ kind }) => kind !== 'volume')) await remove(one, false);
  for (const one of [...there]) await remove(one, false);
  expect(await invoice(false)).toEqual(charged);
});
