import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { SOON } from '../../../../../test/support/http-client.ts';
import { startService, type Tenant, type TestService } from '../../../../../test/support/service.ts';

const BASE = '/cloud/v1/user_actions';
interface Received {
  method: string | undefined;
  header: string | string[] | undefined;
  body: { id: string; client_id: number; resources: { search_field: string }[] };
}
let received: Received[] = [];
let statusOf: (received: Received) => number = () => 200;
const receiver = http.createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { method, headers } = request;
    const one = { method, header: headers['x-audit'], body: JSON.parse(Buffer.concat(chunks).toString()) };
    const status = statusOf(one);
    if (status < 300) received.push(one);
    response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
  });
});

let service: TestService;
let subscription: { url: string; auth_header_name: string; auth_header_value: string };
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  subscription = {
    url: `http://127.0.0.1:${port}/in`,
    auth_header_name: 'X-Audit',
    auth_header_value: 'Bearer it',
  };
  service = await startService({
    TRADEWIND_WEBHOOK_ALLOW_HOSTS: `127.0.0.1:${port}`,
    TRADEWIND_LOG_LEVEL: 'error',
  });
});
afterAll(async () => {
  await service.stop();
  receiver.close();
});
beforeEach(() => {
  received = [];
  statusOf = () => 200;
});

const names = () => received.map(({ body }) => body.resources[0]?.search_field);
const makeKey = async (tenant: Tenant, name: string) => {
  const made = await tenant.http.post(`/cloud/v1/ssh_keys/${tenant.projectId}`, { name });
  expect(made.status, made.text).toBe(201);
};
const listed = async (tenant: Tenant) => (await tenant.http.get(BASE)).body.results;

describe('a subscription', () => {
  let tenant: Tenant;
  beforeEach(async () => {
    tenant = await service.otherTenant();
  });
  afterEach(() => tenant.http.post(`${BASE}/unsubscribe`));
  const failures = async () => {
    const { rows } = await service.pool.query('select failures from user_action_subscriptions where client_id = $1', [
      tenant.clientId,
    ]);
    return rows[0]?.failures;
  };

  it('is sent what is done from then on, in order, and the log says so', async () => {
    await makeKey(tenant, 'before');
    expect((await tenant.http.post(`${BASE}/subscribe`, subscription)).status).toBe(204);
    for (const name of ['first', 'second', 'third']) await makeKey(tenant, name);
    await vi.waitFor(() => expect(names()).toEqual(['first', 'second', 'third']), SOON);
    expect(received[0]).toMatchObject({
      method: 'POST',
      header: 'Bearer it',
      body: { client_id: tenant.clientId },
    });
    await vi.waitFor(async () => {
      const actions = await listed(tenant);
      expect(actions.map((one: { acknowledged: boolean }) => one.acknowledged)).toEqual([true, true, true, false]);
      // The same as in the list, except that they were not sent yet.
      expect(received.map(({ body }) => body)).toEqual(
        actions
          .slice(0, 3)
          .toReversed()
          .map((one: object) => ({ ...one, acknowledged: false })),
      );
    }, SOON);
  });

  it('is sent nothing from before it, however long it lasts', async () => {
    await makeKey(tenant, 'before');
    await tenant.http.post(`${BASE}/subscribe`, subscription);
    for (const name of ['first', 'second']) {
      await makeKey(tenant, name);
      await vi.waitFor(() => expect(names()).toContain(name), SOON);
      // A round ends by recording what was sent.
      await vi.waitFor(async () => expect((await listed(tenant))[0].acknowledged).toBe(true), SOON);
    }
    expect(names()).toEqual(['first', 'second']);
  });

  it.each([500, 302])('is sent again what was answered %i', async (status) => {
    await tenant.http.post(`${BASE}/subscribe`, subscription);
    let refusals = 0;
    statusOf = () => (refusals++ === 0 ? status : 204);
    await makeKey(tenant, 'refused once');
    await makeKey(tenant, 'after it');
    await vi.waitFor(() => expect(refusals).toBe(1), SOON);
    expect(await listed(tenant)).toMatchObject([{ acknowledged: false }, { acknowledged: false }]);
    await vi.waitFor(async () => expect(await failures()).toBe(1), SOON);
    await service.pool.query('update user_action_subscriptions set due_at = now()');
    await vi.waitFor(() => expect(names()).toEqual(['refused once', 'after it']), SOON);
  });

  it('is sent although the header of another account can not be read', async () => {
    const other = await service.otherTenant();
    const setAll = (column: string, value: string) =>
      service.pool.query(`update user_action_subscriptions set ${column} = ${value}`);
    for (const { http: by } of [tenant, other]) await by.post(`${BASE}/subscribe`, subscription);
    await setAll('due_at', `now() + interval '1 hour'`);
    await service.pool.query(
      `update user_action_subscriptions set auth_header_value = 'sealed:1:99:' || repeat('A', 40) where client_id = $1`,
      [other.clientId],
    );
    await makeKey(other, 'with a header that is lost');
    await makeKey(tenant, 'sent all the same');
    await setAll('due_at', 'now()');
    await vi.waitFor(() => expect(names()).toEqual(['sent all the same']), SOON);
    expect((await other.http.post(`${BASE}/unsubscribe`)).status).toBe(204);
  });

  it('is shown to its account alone, and only one for each', async () => {
    await tenant.http.post(`${BASE}/subscribe`, subscription);
    const shown = await tenant.http.get(`${BASE}/subscriptions_list`);
    expect(shown.body).toEqual({ count: 1, results: [{ id: expect.any(Number), ...subscription }] });
    expect(shown.headers.get('cache-control')).toBe('no-store');
    const again = await tenant.http.post(`${BASE}/subscribe`, {
      ...subscription,
      url: 'https://example.com/',
    });
    expect(again.status).toBe(409);
    const none = { count: 0, results: [] };
    expect((await service.http.get(`${BASE}/subscriptions_list`)).body).toEqual(none);
    expect((await service.http.post(`${BASE}/unsubscribe`)).status).toBe(204);
    expect((await tenant.http.get(`${BASE}/subscriptions_list`)).body.count).toBe(1);
    expect((await tenant.http.post(`${BASE}/unsubscribe`)).status).toBe(204);
    expect((await tenant.http.get(`${BASE}/subscriptions_list`)).body).toEqual(none);
    await makeKey(tenant, 'not sent');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(received).toEqual([]);
  });

  it('is not sent to an address that is not public, whatever name leads there', async () => {
    let asked = 0;
    statusOf = () => ++asked && 200;
    const url = subscription.url.replace('127.0.0.1', 'localhost');
    expect((await tenant.http.post(`${BASE}/subscribe`, { ...subscription, url })).status).toBe(400);
    expect((await tenant.http.post(`${BASE}/subscribe`, subscription)).status).toBe(204);
    // Like any other name that leads to this machine.
    const ours = tenant.clientId;
    await service.pool.query('update user_action_subscriptions set url = $1 where client_id = $2', [url, ours]);
    await makeKey(tenant, 'not sent');
    await vi.waitFor(async () => expect(await failures()).toBe(1), SOON);
    expect(asked).toBe(0);
  });

  it('gives up what could not be sent for a day', async () => {
    await tenant.http.post(`${BASE}/subscribe`, subscription);
    statusOf = () => 503;
    await makeKey(tenant, 'of yesterday');
    await vi.waitFor(async () => expect(await failures()).toBe(1), SOON);
    await service.pool.query(`update user_actions set "timestamp" = now() - interval '25 hours' where client_id = $1`, [
      tenant.clientId,
    ]);
    await service.pool.query(
      `update user_action_subscriptions set due_at = now(), sent_until = now() - interval '26 hours'`,
    );
    await vi.waitFor(async () => expect(await failures()).toBe(2), SOON);
    statusOf = () => 200;
    await service.pool.query('update user_action_subscriptions set due_at = now()');
    await makeKey(tenant, 'of today');
    await vi.waitFor(() => expect(names()).toEqual(['of today']), SOON);
  });
});

it.each([
  [{ url: 'ftp://example.com/' }, 'url'],
  [{ url: 'https://user:secret@example.com/' }, 'url'],
  [{ url: 'example.com' }, 'url'],
  [{ url: 'http:\\\\example.com' }, 'url'],
  [{ url: 'http://10.0.0.1/in' }, 'url'],
  [{ url: 'http://0x7f.1/in' }, 'url'],
  [{ url: 'http://[::1]:8080/in' }, 'url'],
  [{ url: 'http://169.254.169.254/latest' }, 'url'],
  [{ auth_header_name: 'Content-Length' }, 'auth_header_name'],
  [{ auth_header_name: 'X Audit' }, 'auth_header_name'],
  [{ auth_header_value: 'a\r\nb: c' }, 'auth_header_value'],
  [{ auth_header_value: undefined }, 'auth_header_value'],
])('refuses %j', async (change, field) => {
  const refused = await service.http.post(`${BASE}/subscribe`, { ...subscription, ...change });
  expect([refused.status, Object.keys(refused.body.invalid_fields)]).toEqual([400, [field]]);
});

it('says of AMQP that it is not supported', async () => {
  const connection_string = 'amqps://guest:guest@192.168.123.20:5671/user_action_events';
  for (const call of ['subscribe_amqp', 'subscribe_amqp_test']) {
    const refused = await service.http.post(`${BASE}/${call}`, { connection_string });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('AMQP is not supported')]);
  }
  expect((await service.http.get(`${BASE}/amqp_subscriptions_list`)).body).toEqual({ count: 0, results: [] });
  expect((await service.http.get(`${BASE}/amqp_subscriptions/17`)).status).toBe(404);
  const patched = await service.http.request('PATCH', `${BASE}/amqp_subscriptions/17`, {
    body: { exchange: 'x' },
  });
  expect(patched.status).toBe(404);
  expect((await service.http.post(`${BASE}/unsubscribe_amqp`)).status).toBe(204);
});

it('is for administrators', async () => {
  const user = await service.withRole('Engineers');
  for (const [method, call] of [
    ['POST', 'subscribe'],
    ['POST', 'unsubscribe'],
    ['GET', 'subscriptions_list'],
    ['POST', 'subscribe_amqp'],
    ['POST', 'subscribe_amqp_test'],
    ['POST', 'unsubscribe_amqp'],
    ['GET', 'amqp_subscriptions_list'],
    ['GET', 'amqp_subscriptions/17'],
    ['PATCH', 'amqp_subscriptions/17'],
  ] as const) {
    const body = call === 'subscribe' ? { body: subscription } : {};
    expect((await user.request(method, `${BASE}/${call}`, body)).status, call).toBe(403);
    expect((await service.anonymous.request(method, `${BASE}/${call}`, body)).status, call).toBe(401);
  }
});
