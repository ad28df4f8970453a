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
/** After the last step of the month, so that its invoices can be watched becoming final. */
const GRACE_HOURS = 240;
const OTHERS = 45;
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

const party = (country: string) => ({ company: `Company of ${country}`, address: 'Street 1', country });
const issuer = (invoice_prefix: string) => ({
  ...party('DE'),
  vat_rates: [
    { country: 'DE', percent: 19 },
    { country: 'FR', percent: 20 },
  ],
  reverse_charge: true,
  invoice_prefix,
});

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
  pool = new pg.Pool({ connectionString: database.url, max: 2 });
  await start();
  await foundResellers();
});
afterAll(async () => {
  await service?.end();
  await pool?.end();
  await database?.drop();
  fs.rmSync(dataDir, { recursive: true, force: true });
});

const another = (): Promise<ServeProcess> =>
  serve({
    DATABASE_URL: database.url,
    TRADEWIND_DATA_DIR: dataDir,
    TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
    TRADEWIND_SIMULATION_SPEED: '1000',
    TRADEWIND_TEST_API: 'true',
    TRADEWIND_TEST_CLOCK: new Date(now).toISOString(),
    TRADEWIND_INVOICE_GRACE: String(GRACE_HOURS),
  });

async function start(): Promise<void> {
  service = await another();
  http = createHttpClient(service.url, TOKEN);
}

let reseller = 0;
const others: { id: number; movedAt?: number }[] = [];

async function put(path: string, body: object): Promise<void> {
  const { status, text } = await http.request('PUT', path, { body });
  expect(status, text).toBe(200);
}

/** Lets the platform and two resellers issue invoices, and gives the first of these other accounts, with volumes. */
async function foundResellers(): Promise<void> {
  const made = await http.post('/tradewind/v1/resellers', { name: 'Next', email: 'next@example.com' });
  expect(made.status, made.text).toBe(201);
  reseller = made.body.id ?? made.body.reseller_id;
  await put('/tradewind/v1/issuer', issuer('PLAT'));
  await put('/tradewind/v1/issuer?reseller_id=1', issuer('ONE'));
  await put(`/tradewind/v1/issuer?reseller_id=${reseller}`, issuer('TWO'));
  for (let n = 0; n < OTHERS; n++) {
    const { body: client } = await http.post('/iam/clients/create', { company: `Other ${n}` });
    others.push({ id: client.id });
    const { body: token } = await http.post(`/iam/v2/clients/${client.id}/tokens`, {
      name: 'test',
      exp_date: null,
      client_user: { role: { name: 'Administrators' } },
    });
    const theirs = createHttpClient(service.url, token.token);
    const project = (await theirs.get('/cloud/v1/projects')).body.results[0].id;
    const volume = { source: 'new-volume', name: 'billed', size: random.whole(1, 500), type_name: 'standard' };
    const task = await theirs.post(`/cloud/v1/volumes/${project}/1`, volume);
    await theirs.task(String(task.body.tasks?.[0] ?? task.body[0]));
  }
}

/** Gives every third account another reseller, and some an address abroad. */
async function moveSome(): Promise<void> {
  for (const [n, one] of others.entries()) {
    if (n % 4 === 0) {
      const profile = { ...party('FR'), vat_confirmed: true, ...(n % 8 === 0 && { vat_id: 'FR123456789' }) };
      await put(`/tradewind/v1/billing_profile?client_id=${one.id}`, profile);
    }
    if (n % 3 !== 0) continue;
    const { status, text } = await http.patch(`/iam/clients/${one.id}`, { reseller });
    expect(status, text).toBe(200);
    one.movedAt = now;
  }
  // The platform gets its share of what the reseller gives away, and half of it from now on.
  const list = (body: object) => http.post('/tradewind/v1/price_lists', body);
  expect((await list({ scope: 'reseller', id: reseller, price: 'wholesale', discount_percent: 50 })).status).toBe(201);
  expect((await list({ scope: 'client', id: others[0]?.id, discount_percent: 100 })).status).toBe(201);
  expect((await list({ scope: 'client', id: others[3]?.id, visible: false })).status).toBe(201);
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
  await askAgain();
}

async function askAgain(): Promise<void> {
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
    if (n === 20) {
      await put('/tradewind/v1/billing_profile?client_id=1', party('DE'));
      await askAgain();
    }
    if (n === 30) await moveSome();
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

interface Billed {
  number: string;
  month: string;
  kind: string;
  client_id: number | null;
  reseller_id: number;
  issuer_id: number;
  gross: string;
}
const invoices = async (where = `state <> 'draft'`): Promise<Billed[]> =>
  (
    await pool.query(`
      select number, month, kind, client_id::int, reseller_id::int, issuer_id::int, gross from invoices
      where ${where} order by id`)
  ).rows;

async function statement(from: Date, to: Date, more = ''): Promise<Map<number, Decimal>> {
  const costs = new Map<number, Decimal>();
  for (let token = ''; ; ) {
    const path = `/tradewind/v1/costs?from=${from.toISOString()}&to=${to.toISOString()}&limit=1000${more}${token}`;
    const { status, text, body } = await http.get(path);
    expect(status, text).toBe(200);
    for (const { client_id, cost } of body.lines) {
      costs.set(client_id, (costs.get(client_id) ?? new Decimal(0)).plus(cost));
    }
    if (body.next_page_token === null) return costs;
    token = `&page_token=${body.next_page_token}`;
  }
}

const isDone = async (month: string) =>
  (await pool.query(`select from billed_months where month = $1 and stage = 'done'`, [month])).rowCount === 1;

async function killed(): Promise<void> {
  await service.end('SIGKILL');
  await takeForDead(pool, service);
}

/** Kills processes in the middle of making invoices final: before their numbers are written, and between accounts. */
async function killAmidst(time: number): Promise<void> {
  const before = (await invoices()).length;
  const holder = await pool.connect();
  await holder.query('begin; lock table invoice_counters in exclusive mode');
  await advanceTo(time);
  const waits = `select from pg_locks where relation = 'invoice_counters'::regclass and not granted`;
  await expect.poll(async () => (await holder.query(waits)).rowCount, { timeout: 60_000 }).toBeGreaterThan(0);
  await killed();
  // The database may notice a little later.
  await expect.poll(async () => (await holder.query(waits)).rowCount, { timeout: 60_000 }).toBe(0);
  expect(await invoices()).toHaveLength(before);
  await holder.query('rollback');
  holder.release();
  await start();
  await expect.poll(async () => (await invoices()).length, { timeout: 60_000, interval: 5 }).toBeGreaterThan(before);
  await killed();
  await start();
}

/** Each issuer's numbers of a year begin with 1 and have no gap. */
function requireNumbers(numbers: readonly string[]): void {
  const series = new Map<string, number[]>();
  for (const number of numbers) {
    const [, name = '', count = ''] = /^(.+)-(\d+)$/.exec(number) ?? [];
    series.set(name, [...(series.get(name) ?? []), Number(count)]);
  }
  for (const [name, counts] of series) {
    const sorted = [...counts].sort((a, b) => a - b);
    expect(sorted, name).toEqual(sorted.map((_, index) => index + 1));
  }
}

/** What a month's invoices say is what the statements say of it. */
async function requireMonth(month: string, billed: readonly Billed[]): Promise<void> {
  const from = new Date(`${month}-01T00:00:00Z`);
  const to = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1));
  const whole = await statement(from, to);
  const moved = others.find(({ movedAt = 0 }) => movedAt > +from && movedAt < +to)?.movedAt;
  const [before, after] = moved ? [await statement(from, new Date(moved)), await statement(new Date(moved), to)] : [];
  const expected = new Map<string, string>();
  const expectCost = (client: number, of: number, cost: Decimal | undefined) => {
    if (cost?.gte(0.005)) expected.set(`${client} ${of}`, cost.toFixed(2));
  };
  for (const client of [1, ...others.map(({ id }) => id)]) {
    const { movedAt } = others.find(({ id }) => id === client) ?? {};
    if (movedAt !== undefined && moved !== undefined) {
      expectCost(client, 1, before?.get(client));
      expectCost(client, reseller, after?.get(client));
    } else expectCost(client, movedAt === undefined ? 1 : reseller, whole.get(client));
  }
  const retail = billed.filter((one) => one.kind === 'retail');
  expect(new Map(retail.map((one) => [`${one.client_id} ${one.reseller_id}`, one.gross])), month).toEqual(expected);
  expect(retail.length).toBe(expected.size);

  const owed = await statement(from, to, `&price=wholesale&reseller_id=${reseller}`);
  const total = [...owed.values()].reduce((sum, one) => sum.plus(one), new Decimal(0));
  const wholesale = billed.filter((one) => one.kind === 'wholesale');
  expect(wholesale.map((one) => [one.reseller_id, one.gross])).toEqual([[reseller, total.toFixed(2)]]);
}

it('is on invoices to the cent, without gaps or doubles, whatever is killed or leaps', {
  timeout: 900_000,
}, async () => {
  await expect.poll(() => invoices(`state = 'draft' and month = '2031-03'`)).not.toEqual([]);
  expect(await invoices()).toEqual([]);
  const second = await another();
  await second.end('SIGKILL');
  await takeForDead(pool, second);
  await killAmidst(END + (GRACE_HOURS + 1) * HOUR);
  const beside = await another();
  await expect.poll(() => isDone('2031-03'), { timeout: 60_000 }).toBe(true);
  await beside.end();
  const march = await invoices();
  await requireMonth('2031-03', march);
  requireNumbers(march.map(({ number }) => number));
  const { rows } = await pool.query(`select id from invoices where state = 'open' limit 1`);
  const pdf = await http.request('GET', `/tradewind/v1/invoices/${rows[0].id}`, {
    headers: { accept: 'application/pdf' },
  });
  expect(pdf.text.slice(0, 5)).toBe('%PDF-');

  for (const { id } of (await pool.query(`select id from invoices where state = 'open' order by id limit 9`)).rows) {
    const path = `/tradewind/v1/invoices/${id}/credit_notes`;
    for (const body of [{ amount: 0.01 }, {}, {}]) await http.post(path, { reason: 'Test', ...body });
  }
  const credits = await pool.query(`
    select credit_notes.number, sum(credit_notes.gross) over (partition by invoice_id) as credited, invoices.gross, state
    from credit_notes join invoices on invoices.id = invoice_id`);
  requireNumbers(credits.rows.map(({ number }) => number));
  expect(credits.rowCount).toBe(18);
  for (const { credited, gross, state } of credits.rows) expect([credited, state]).toEqual([gross, 'credited']);

  // All months of a year end at once.
  await killAmidst(Date.UTC(2032, 2, 20));
  const two = await another();
  await expect.poll(() => isDone('2032-02'), { timeout: 120_000 }).toBe(true);
  await expect
    .poll(async () => (await pool.query(`select from billed_months where stage <> 'done'`)).rowCount, {
      timeout: 60_000,
    })
    .toBe(0);
  await two.end();
  const all = await invoices();
  const months = [...new Set(all.map(({ month }) => month))];
  expect(months).toHaveLength(12);
  for (const month of months) {
    await requireMonth(
      month,
      all.filter((one) => one.month === month),
    );
  }
  requireNumbers(all.map(({ number }) => number));
  // What is final stays.
  expect(all.slice(0, march.length)).toEqual(march);
});
