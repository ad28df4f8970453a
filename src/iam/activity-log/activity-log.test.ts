import { afterAll, beforeAll, expect, it } from 'vitest';
import { newPerson, type Person } from '../../../test/support/logins.ts';
import { addReseller, type TestReseller } from '../../../test/support/reseller.ts';
import { startService, type TestService } from '../../../test/support/service.ts';
import { openDatabase } from '../../db/database.ts';
import { setStatusOf } from '../clients/changes.ts';

const STATUSES = '/iam/activity_log/account_status_changes';
const REQUESTS = '/iam/activity_log/requests';
let service: TestService;
let reseller: TestReseller;
let client: Person;
beforeAll(async () => {
  service = await startService();
  reseller = await addReseller(service, 'Logging');
  client = await newPerson(reseller.http);
});
afterAll(() => service?.stop());

it('lists when an account was paused and opened, for the account, its reseller and the platform', async () => {
  const database = openDatabase({ connectionString: service.pool.options.connectionString ?? '' }, 1);
  for (const status of ['paused', 'paused', 'active'] as const) {
    await setStatusOf({ database }, client.clientId, status);
  }
  await database.close();
  const rival = await addReseller(service, 'Other');
  const change = (old_status: string, new_status: string) => ({
    id: expect.any(Number),
    status_change_at: expect.stringMatching(/Z$/),
    old_status,
    new_status,
    federation_id: 'TRADEWIND',
    client: client.clientId,
  });
  for (const http of [client.http, reseller.http, service.http]) {
    await expect.poll(async () => (await http.get(STATUSES)).status).toBe(200);
    expect((await http.get(STATUSES)).body).toEqual({
      count: 2,
      next: null,
      previous: null,
      result: [change('paused', 'active'), change('active', 'paused')],
    });
  }
  expect((await reseller.http.get(`${STATUSES}?limit=1`)).body.next).toBe(`${STATUSES}?offset=1&limit=1`);
  expect((await rival.http.get(STATUSES)).body.count).toBe(0);
});

it('lists the requests of the account, and reads one', async () => {
  const tokens = `/iam/v2/clients/${client.clientId}/tokens`;
  const made = await client.http.post(tokens, { name: 'x', exp_date: null, client_user: {} });
  expect((await client.http.post(tokens, { name: '' })).status).toBe(400);
  const { status, body } = await client.http.get(REQUESTS);
  expect([status, body.result[0].status_code]).toEqual([200, 400]);
  expect(body.result[1]).toEqual({
    id: expect.any(Number),
    actions: 'createApiToken',
    data: '',
    user_email: client.email,
    client: client.clientId,
    token: 0,
    requested_at: expect.stringMatching(/Z$/),
    path: tokens,
    remote_ip_address: '127.0.0.1',
    host: '',
    method: 'POST',
    query_params: '',
    status_code: made.status,
    reverted: false,
    user: client.userId,
  });
  const one = `${REQUESTS}/${body.result[1].id}`;
  expect((await client.http.get(one)).body).toEqual(body.result[1]);
  expect((await client.http.get(`${REQUESTS}?limit=1&offset=1`)).body.result).toEqual([body.result[1]]);
  expect((await client.http.get(`${REQUESTS}/999999`)).status).toBe(404);
  const stranger = await newPerson(service.http);
  expect((await stranger.http.get(one)).status).toBe(404);
  expect((await stranger.http.get(REQUESTS)).body.count).toBe(0);
});

it('is for administrators', async () => {
  const engineer = await service.withRole('Engineers');
  for (const path of [STATUSES, REQUESTS, `${REQUESTS}/1`]) {
    expect((await engineer.get(path)).status).toBe(403);
    expect((await service.anonymous.get(path)).status).toBe(401);
    if (!path.endsWith('1')) expect((await service.http.get(`${path}?limit=0`)).status).toBe(400);
  }
});

it('looks up nothing for the requests before a late page', async () => {
  const other = await newPerson(service.http);
  await service.pool.query(
    `insert into user_actions (client_id, user_id, request_id, operation, method, path, source_user_ip, outcome, status, "timestamp")
     select $1, $2, gen_random_uuid(), 'createNetwork', 'POST', '/', '127.0.0.1', 'refused', 400, now() - n * interval '1 min'
     from generate_series(1, 500) as n`,
    [other.clientId, other.userId],
  );
  const lookUps = async () => {
    const { rows } = await service.pool.query(`
      select sum(idx_scan) filter (where relname like 'user_actions%')::integer as actions,
        sum(idx_scan) filter (where relname = 'users')::integer as users
      from pg_stat_user_indexes`);
    return rows[0] as { actions: number; users: number };
  };
  const before = await lookUps();
  const { body } = await other.http.get(`${REQUESTS}?offset=480&limit=10`);
  expect(body.result).toHaveLength(10);
  expect(new Set(body.result.map((one: { user_email: string }) => one.user_email))).toEqual(new Set([other.email]));
  // PostgreSQL tells what it did some seconds later.
  await expect.poll(async () => (await lookUps()).actions).toBeGreaterThan(before.actions);
  expect((await lookUps()).users - before.users).toBeLessThan(200);
});
