import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpClient } from '../../../../../test/support/http-client.ts';
import { platformOn } from '../../../../../test/support/platform.ts';
import { addReseller, asResellerOf, type TestReseller } from '../../../../../test/support/reseller.ts';
import { startService, type Tenant, type TestService } from '../../../../../test/support/service.ts';
import { openDatabase } from '../../../../db/database.ts';
import type { Principal } from '../../../../requests/principal.ts';
import type { Rates } from '../../../ground/prices/service.ts';
import { createReportTurns } from '../turns.ts';
import { exportUsage } from './service.ts';

const USAGE = '/tradewind/v1/usage';
const COSTS = '/tradewind/v1/costs';
const HOUR = 3_600_000;
const HOUR_S = 3_600;
const MARCH = 'from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z';

let at = Date.UTC(2026, 2, 10, 12);
let service: TestService;
let tenant: Tenant;
let reseller: TestReseller;
const volumes: Record<string, string> = {};

async function volume(name: string, size: number, http: HttpClient, projectId: number) {
  const body = { source: 'new-volume', name, size, type_name: 'standard' };
  const answer = await http.post(`/cloud/v1/volumes/${projectId}/1`, body);
  expect(answer.status, answer.text).toBe(200);
  const { created_resources } = await http.task(String(answer.body.tasks?.[0] ?? answer.body[0]));
  volumes[name] = created_resources.volumes[0];
}

const lines = async (path: string, http = service.http) => {
  const { status, text, body } = await http.get(path);
  expect(status, text).toBe(200);
  return body.lines;
};

async function halvePrices() {
  const list = { scope: 'client', id: 1, discount_percent: 50 };
  expect((await service.http.post('/tradewind/v1/price_lists', list)).status).toBe(201);
}

beforeAll(async () => {
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '1000' }, { clock: { now: () => new Date(at) } });
  tenant = await service.otherTenant();
  reseller = await addReseller(service, 'Elsewhere');
  // A day and a half of 10 and 20 GiB, which cost half as much for the second half of it.
  await volume('first', 10, service.http, 1);
  await volume('plain', 20, tenant.http, tenant.projectId);
  at += 18 * HOUR;
  await halvePrices();
  at += 18 * HOUR;
  await service.http.delete(`/cloud/v1/volumes/1/1/${volumes.first}`);
  await tenant.http.delete(`/cloud/v1/volumes/${tenant.projectId}/1/${volumes.plain}`);
  at = Date.UTC(2026, 3, 20);
});
afterAll(() => service.stop());

const gibHour = 0.000125 * 1.17;
const line = (clientId: number, size: number) => ({
  client_id: clientId,
  project_id: null,
  resource_id: null,
  name: null,
  day: null,
  region_id: 1,
  type: 'volume',
  kind: 'standard',
  quantity: size * 36 * HOUR_S,
  unit: 'gib_seconds',
});

it('has a line for each account and kind of resource', async () => {
  const own = line(1, 10);
  const theirs = line(tenant.clientId, 20);
  expect(await lines(`${USAGE}?${MARCH}`)).toEqual([own, theirs]);
  expect(await lines(`${COSTS}?${MARCH}`)).toEqual([
    { ...own, cost: expect.closeTo(gibHour * 10 * (18 + 9), 9), currency: 'EUR', err: null },
    { ...theirs, cost: expect.closeTo(gibHour * 20 * 36, 9), currency: 'EUR', err: null },
  ]);
  expect(await lines(`${USAGE}?${MARCH}&client_id=1&type=instance`)).toEqual([]);
  expect(await lines(`${USAGE}?${MARCH}&client_id=1&region_id=2`)).toEqual([]);
  expect(await lines(`${USAGE}?${MARCH}&project_id=${tenant.projectId}`)).toEqual([theirs]);
});

it('has lines of projects, resources and days, by page', async () => {
  expect(await lines(`${USAGE}?${MARCH}&client_id=1&by=project`)).toMatchObject([{ project_id: 1, name: null }]);
  const of = `${COSTS}?${MARCH}&by=resource&by=day`;
  const all = await lines(of);
  expect(all).toMatchObject([
    { client_id: 1, project_id: 1, resource_id: volumes.first, name: 'first', day: '2026-03-10' },
    { client_id: 1, day: '2026-03-11', quantity: 10 * 24 * HOUR_S },
    { client_id: tenant.clientId, name: 'plain', day: '2026-03-10', quantity: 20 * 12 * HOUR_S },
    { client_id: tenant.clientId, resource_id: volumes.plain, day: '2026-03-11' },
  ]);
  expect(all[1].cost).toBeCloseTo(gibHour * 10 * (6 + 9), 9);
  const paged = [];
  for (let token = ''; ; ) {
    const { body } = await service.http.get(`${of}&limit=1${token}`);
    paged.push(...body.lines);
    if (body.next_page_token === null) break;
    token = `&page_token=${body.next_page_token}`;
  }
  expect(paged).toEqual(all);
});

it('comes as CSV, which no spreadsheet runs', async () => {
  // No name of a volume begins so, but others may one day.
  await service.pool.query(`update usage_periods set name = '=cmd' where name = 'first'`);
  const get = (path: string) => service.http.request('GET', path, { headers: { accept: 'text/csv' } });
  const answer = await get(`${COSTS}?${MARCH}&client_id=1&by=resource`);
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const [head = '', first = '', ...rest] = answer.text.split('\r\n');
  expect(head).toBe('client_id,project_id,resource_id,name,day,region_id,type,kind,quantity,unit,cost,currency,err');
  expect(first).toMatch(
    new RegExp(`^1,1,${volumes.first},'=cmd,,1,volume,standard,1296000,gib_seconds,0\\.0394[0-9]+,EUR,$`),
  );
  expect(rest).toEqual(['']);
  expect((await get(`${USAGE}?${MARCH}&type=instance`)).text).toBe(
    'client_id,project_id,resource_id,name,day,region_id,type,kind,quantity,unit\r\n',
  );
});

it('refuses an export before it begins if too many reports wait, and lets one go on that has begun', async () => {
  const database = openDatabase(service.pool.options, 1);
  const clock = { now: () => new Date(at) };
  const rates = { between: async () => new Map() };
  const principal = { platformAdministrator: true, clientId: 1 } as Principal;
  const query = { from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z' };
  const inTurn = createReportTurns();
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = () => resolve();
  });
  const others: Promise<void>[] = [];
  while (others.length < 32) {
    others.push(inTurn(() => opened));
    await setImmediate();
  }
  const on = { ...platformOn(database, { clock }), rates: rates as unknown as Rates, inTurn };
  await expect(exportUsage(on, principal, query)).rejects.toThrow('Too many reports');
  const late = inTurn(async () => 'made', { begun: true });
  open();
  await Promise.all(others);
  expect(await late).toBe('made');
  const pages = await exportUsage(on, principal, query);
  expect((await pages.next()).value).toHaveLength(2);
  await database.close();
});

describe('the time', () => {
  it('is the month until now if nothing is said', async () => {
    expect(await lines(USAGE)).toEqual([]);
    expect(await lines(`${USAGE}?to=2026-04-01T00:00:00Z&client_id=1`)).toEqual([line(1, 10)]);
    expect(await lines(`${USAGE}?from=2026-03-20T00:00:00Z&to=2026-03-20T00:00:00Z`)).toEqual([]);
  });

  it.each([
    ['longer than 31 days', 'from=2026-01-01T00:00:00Z&to=2026-02-02T00:00:00Z'],
    ['backwards', 'from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z'],
    ['no time', 'from=2026-02-30T00:00:00Z'],
    ['after all years', 'from=9999-12-20T00:00:00Z&to=9999-12-31T23:59:59-12:00&client_id=1'],
    ['by something else', 'by=moon'],
    ['a strange page', 'page_token=WzFd'],
  ])('is refused: %s', async (_, query) => {
    for (const path of [USAGE, COSTS]) expect((await service.http.get(`${path}?${query}`)).status).toBe(400);
  });
});

it('is told to the account, its reseller and the platform', async () => {
  const own = await asResellerOf(service, 1);
  const clients = async (http: HttpClient) =>
    (await lines(`${COSTS}?${MARCH}`, http)).map(({ client_id }: { client_id: number }) => client_id);
  expect(await clients(service.http)).toEqual([1, tenant.clientId]);
  expect(await clients(own)).toEqual([1, tenant.clientId]);
  expect(await clients(tenant.http)).toEqual([tenant.clientId]);
  expect(await clients(reseller.http)).toEqual([]);
  for (const path of [USAGE, COSTS]) {
    expect((await tenant.http.get(`${path}?client_id=1`)).status).toBe(404);
    expect((await reseller.http.get(`${path}?client_id=1`)).status).toBe(404);
    expect((await service.http.get(`${path}?client_id=999999`)).status).toBe(404);
  }
});

it('shows costs that are hidden from the account to those who bill it', async () => {
  at += HOUR;
  const hidden = { scope: 'client', id: tenant.clientId, visible: false };
  expect((await service.http.post('/tradewind/v1/price_lists', hidden)).status).toBe(201);
  await volume('hidden', 1, tenant.http, tenant.projectId);
  at += HOUR;
  const path = `${COSTS}?client_id=${tenant.clientId}`;
  const own = await asResellerOf(service, 1);
  expect(await lines(path, tenant.http)).toMatchObject([{ quantity: HOUR_S, cost: null, currency: 'EUR' }]);
  for (const http of [own, service.http]) {
    expect(await lines(path, http)).toMatchObject([{ cost: expect.closeTo(gibHour, 9) }]);
  }
  const { text } = await service.http.request('GET', path, { headers: { accept: 'text/csv' } });
  expect(Number(text.split('\r\n')[1]?.split(',')[10])).toBeCloseTo(gibHour, 9);
});
