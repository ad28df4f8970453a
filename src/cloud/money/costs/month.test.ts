import { Decimal } from 'decimal.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../../../../test/support/service.ts';

/*
 * A month of random changes, and what it costs by another way: the preview of each thing, asked over HTTP, times the
 * hours that the test counted itself.
 */

const BEGIN = Date.UTC(2026, 2, 1);
const END = Date.UTC(2026, 3, 1);
const STEPS = 70;
const SEED = 20260301;
const IMAGE = 'd30931af-8845-4913-a690-021a990a917f';

let at = BEGIN;
let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '1000' }, { clock: { now: () => new Date(at) } });
});
afterAll(() => service.stop());

/** The same numbers at every run: mulberry32. */
function randomNumbers(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

type Asked = [path: string, body: object];

/** What is used since when, by a name of the test. */
const going = new Map<string, { asked: Asked; since: number }>();
let expected = new Decimal(0);
const byType = new Map<string, Decimal>();

const hours = (since: number) => new Decimal(Math.floor(at / 1_000)).minus(Math.floor(since / 1_000)).div(3_600);
const previews = new Map<string, Decimal>();
async function hourOf(asked: Asked): Promise<Decimal> {
  const key = JSON.stringify(asked);
  const known = previews.get(key);
  if (known) return known;
  const [path, body] = asked;
  const answer = await service.http.post(`/cloud/${path.replace('pricing', 'pricing/1/1')}`, body);
  expect(answer.status, answer.text).toBe(200);
  const hour = new Decimal(answer.body.price_per_hour ?? answer.body.total_price_per_hour);
  previews.set(key, hour);
  return hour;
}

function begins(name: string, asked: Asked): void {
  going.set(name, { asked, since: at });
}

async function ends(name: string): Promise<void> {
  const use = going.get(name);
  if (!use) throw new Error(`${name} is not used`);
  going.delete(name);
  const cost = (await hourOf(use.asked)).times(hours(use.since));
  expected = expected.plus(cost);
  const type = name.split(' ')[0] ?? '';
  byType.set(type, (byType.get(type) ?? new Decimal(0)).plus(cost));
}

async function done(method: 'delete' | 'post', path: string, body?: object) {
  const answer = await service.http[method](`/cloud/${path}`, body as object);
  expect(answer.status, `${method} ${path}: ${answer.text}`).toBe(200);
  const task = await service.http.task(String(answer.body.tasks?.[0] ?? answer.body[0]));
  expect(task.state, task.error).toBe('FINISHED');
  return task.created_resources;
}

const ofVolume = (size: number, type_name: string): Asked => [
  'v1/pricing/volumes',
  { source: 'new-volume', size, type_name },
];
const ofMachine = (flavor: string): Asked => ['v2/pricing/instances', { flavor, interfaces: [] }];
const ADDRESS: Asked = ['v1/pricing/floating_ips', { count: 1 }];
const ofShare = (size: number): Asked => [
  'v1/pricing/file_shares',
  { source: 'new-file-share', size, type_name: 'vast' },
];
const ofBalancer = (flavor: string): Asked => ['v1/pricing/loadbalancers', { flavor }];

interface Thing {
  kind: string;
  id: string;
  size: number;
  type: string;
}
const things: Thing[] = [];
const FLAVORS = ['g1-standard-1-2', 'g1-standard-2-4', 'g1-standard-4-8'];
const BALANCERS = ['lb1-1-2', 'lb1-2-4', 'lb1-4-8'];
const TYPES = ['standard', 'ssd_hiiops'];

const random = randomNumbers(SEED);
const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;

const MAKERS: Record<string, () => Promise<Thing>> = {
  async volume() {
    const [size, type] = [1 + random(500), pick(TYPES)];
    const body = { source: 'new-volume', name: 'disk', size, type_name: type };
    const { volumes } = await done('post', 'v1/volumes/1/1', body);
    begins(`volume ${volumes[0]}`, ofVolume(size, type));
    return { kind: 'volume', id: volumes[0], size, type };
  },
  async instance() {
    const [flavor, size] = [pick(FLAVORS), 10 + random(50)];
    const { instances, volumes } = await done('post', 'v2/instances/1/1', {
      flavor,
      name: 'machine',
      interfaces: [{ type: 'external', ip_family: pick(['ipv4', 'dual']) }],
      volumes: [{ source: 'image', image_id: IMAGE, size, type_name: 'ssd_hiiops', delete_on_termination: true }],
    });
    begins(`instance ${instances[0]}`, ofMachine(flavor));
    begins(`volume of ${instances[0]}`, ofVolume(size, 'ssd_hiiops'));
    begins(`external_ip of ${instances[0]}`, ADDRESS);
    expect(volumes).toHaveLength(1);
    return { kind: 'instance', id: instances[0], size, type: flavor };
  },
  async floatingip() {
    const { floatingips } = await done('post', 'v1/floatingips/1/1', {});
    begins(`floatingip ${floatingips[0]}`, ADDRESS);
    return { kind: 'floatingip', id: floatingips[0], size: 1, type: '' };
  },
  async file_share() {
    const size = 10 + random(100);
    const body = { name: 'share', protocol: 'NFS', size, type_name: 'vast' };
    const { file_shares } = await done('post', 'v1/file_shares/1/1', body);
    begins(`file_share ${file_shares[0]}`, ofShare(size));
    return { kind: 'file_share', id: file_shares[0], size, type: 'vast' };
  },
  async load_balancer() {
    const flavor = pick(BALANCERS);
    const { loadbalancers } = await done('post', 'v1/loadbalancers/1/1', { name: 'balancer', flavor });
    begins(`load_balancer ${loadbalancers[0]}`, ofBalancer(flavor));
    begins(`external_ip of ${loadbalancers[0]}`, ADDRESS);
    return { kind: 'load_balancer', id: loadbalancers[0], size: 1, type: flavor };
  },
};

const CHANGES: Record<string, (thing: Thing) => Promise<void>> = {
  async volume(thing) {
    thing.size += 1 + random(100);
    await done('post', `v1/volumes/1/1/${thing.id}/extend`, { size: thing.size });
    await ends(`volume ${thing.id}`);
    begins(`volume ${thing.id}`, ofVolume(thing.size, thing.type));
  },
  async instance(thing) {
    thing.type = pick(FLAVORS.filter((flavor) => flavor !== thing.type));
    await done('post', `v1/instances/1/1/${thing.id}/changeflavor`, { flavor_id: thing.type });
    await ends(`instance ${thing.id}`);
    begins(`instance ${thing.id}`, ofMachine(thing.type));
  },
  async floatingip(thing) {
    const answer = await service.http.patch(`/cloud/v2/floatingips/1/1/${thing.id}`, {
      tags: { at: `${at}` },
    });
    expect(answer.status, answer.text).toBe(200);
    await service.http.task(String(answer.body.tasks?.[0] ?? answer.body[0]));
  },
  async file_share(thing) {
    thing.size += 1 + random(20);
    await done('post', `v1/file_shares/1/1/${thing.id}/extend`, { size: thing.size });
    await ends(`file_share ${thing.id}`);
    begins(`file_share ${thing.id}`, ofShare(thing.size));
  },
  async load_balancer(thing) {
    thing.type = pick(BALANCERS.filter((flavor) => flavor !== thing.type));
    await done('post', `v1/loadbalancers/1/1/${thing.id}/resize`, { flavor: thing.type });
    await ends(`load_balancer ${thing.id}`);
    begins(`load_balancer ${thing.id}`, ofBalancer(thing.type));
  },
};

const PATHS: Record<string, string> = {
  volume: 'v1/volumes/1/1',
  instance: 'v1/instances/1/1',
  floatingip: 'v1/floatingips/1/1',
  file_share: 'v1/file_shares/1/1',
  load_balancer: 'v1/loadbalancers/1/1',
};

async function remove({ kind, id }: Thing): Promise<void> {
  await done('delete', `${PATHS[kind]}/${id}`);
  for (const name of [`${kind} ${id}`, `volume of ${id}`, `external_ip of ${id}`]) {
    if (going.has(name)) await ends(name);
  }
}

it('costs what the previews say, to the cent', async () => {
  for (let step = 0; step < STEPS; step++) {
    at += Math.min(random(Math.floor((2 * (END - BEGIN)) / STEPS)), END - at - 1_000);
    const thing = things.length > 0 ? pick(things) : undefined;
    const what = random(10);
    if (!thing || what < 5) things.push(await (MAKERS[pick(Object.keys(MAKERS))] as () => Promise<Thing>)());
    else if (what < 8) await CHANGES[thing.kind]?.(thing);
    else {
      await remove(thing);
      things.splice(things.indexOf(thing), 1);
    }
  }
  expect(things.length).toBeGreaterThan(5);
  at = END;
  for (const name of [...going.keys()]) await ends(name);
  // The next month is none of its business.
  at = END + 9 * 86_400_000;

  const period = { time_from: '2026-03-01T00:00:00Z', time_to: '2026-04-01T00:00:00Z' };
  const report = async (what: string, body: object) => {
    const answer = await service.http.post(`/cloud/v1/${what}`, body);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const sum = (list: { cost: number }[]) => list.reduce((total, { cost }) => total.plus(cost), new Decimal(0));
  const exact = { ...period, rounding: false };
  const totals = await report('cost_report/totals', exact);
  expect(totals.price_status).toBe('show');
  // The report adds up before it divides. JSON has 16 digits of each result.
  expect(sum(totals.results).minus(expected).abs().lt('0.0000001')).toBe(true);
  expect(expected.gt(100)).toBe(true);
  for (const [type, cost] of byType) {
    const ofType = totals.results.filter((one: { type: string }) => one.type === type);
    expect(sum(ofType).toFixed(2), type).toBe(cost.toFixed(2));
  }

  const resources = await report('cost_report/resources', { ...exact, limit: 1000 });
  expect(resources.count).toBe(resources.results.length);
  expect(sum(resources.results).toFixed(6)).toBe(expected.toFixed(6));
  const shown = await report('cost_report/totals', period);
  expect(sum(shown.results).toFixed(2)).toBe(expected.toFixed(2));
  for (const { cost } of shown.results) expect(new Decimal(cost).decimalPlaces()).toBeLessThanOrEqual(5);
  expect(await report('reservation_cost_report/totals', { year_month: '2026-03' })).toEqual(shown);

  // Days of the month add up to the month.
  let days = new Decimal(0);
  for (let day = BEGIN; day < END; day += 86_400_000) {
    const time_from = new Date(day).toISOString();
    const one = await report('cost_report/totals', {
      time_from,
      time_to: time_from,
      enable_last_day: true,
      rounding: false,
    });
    days = days.plus(sum(one.results));
  }
  expect(days.toFixed(6)).toBe(expected.toFixed(6));

  // So do lines of resources and days, by page.
  let lines = new Decimal(0);
  for (let token = ''; ; ) {
    const query = `from=${period.time_from}&to=${period.time_to}&by=resource&by=day&limit=1000${token}`;
    const { body } = await service.http.get(`/tradewind/v1/costs?${query}`);
    lines = lines.plus(sum(body.lines));
    if (body.next_page_token === null) break;
    token = `&page_token=${body.next_page_token}`;
  }
  expect(lines.toFixed(6)).toBe(expected.toFixed(6));

  // Later changes leave the month as it was.
  for (const { kind, id } of things) await done('delete', `${PATHS[kind]}/${id}`);
  expect(await report('cost_report/totals', exact)).toEqual(totals);
});
