import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DRY_RUN } from '../../../test/support/dry-runs.ts';
import { type HttpClient, SOON } from '../../../test/support/http-client.ts';
import { startService, type Tenant, type TestService } from '../../../test/support/service.ts';
import { openReceiver, type Received, type WebhookReceiver } from '../../../test/support/webhook-receiver.ts';
import { newSecret } from './service.ts';

const BASE = '/tradewind/v1/webhooks';

let receiver: WebhookReceiver;
let service: TestService;
let tenant: Tenant;
let base: string;
beforeAll(async () => {
  receiver = await openReceiver();
  base = receiver.url;
  service = await startService({
    TRADEWIND_WEBHOOK_ALLOW_HOSTS: receiver.host,
    TRADEWIND_LOG_LEVEL: 'error',
  });
});
afterAll(async () => {
  await service.stop();
  receiver.stop();
});
beforeEach(async () => {
  receiver.forget();
  tenant = await service.otherTenant();
});
// What is left over would be sent to the next test.
afterEach(() => service.pool.query('delete from webhooks'));

const make = async (body: object = {}, by = tenant.http) => {
  const made = await by.post(BASE, { url: `${base}/in`, types: ['tradewind.ssh_key.*'], ...body });
  expect(made.status, made.text).toBe(201);
  return made.body;
};
const makeKey = async (name: string, by: Pick<Tenant, 'http' | 'projectId'> = tenant): Promise<string> => {
  const made = await by.http.post(`/cloud/v1/ssh_keys/${by.projectId}`, { name });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
};
const share = (id: string, shared: boolean) =>
  tenant.http.patch(`/cloud/v1/ssh_keys/${tenant.projectId}/${id}`, { shared_in_project: shared });
const deliveries = async (id: string, query = '') =>
  (await tenant.http.get(`${BASE}/${id}/deliveries?${query}`)).body.results;
const settled = (id: string) =>
  vi.waitFor(async () => {
    const all = await deliveries(id);
    expect(all.length).toBeGreaterThan(0);
    expect(all.filter((one: { state: string }) => one.state === 'pending')).toEqual([]);
    return all;
  }, SOON);
const hurry = () =>
  service.pool.query(
    `with due as (update webhook_deliveries set due_at = now() where due_at is not null)
     update webhook_sending set next_at = now()`,
  );
const nameOf = ({ event }: Received) => event.data.resources[0]?.name;
const names = () => receiver.received.map(nameOf);
/** Waits for the message about that key: one of an earlier test may still be on its way. */
const receivedOf = (name: string) =>
  vi.waitFor(() => {
    const found = receiver.received.find((one) => nameOf(one) === name);
    if (!found) throw new Error(`Nothing was received about ${name}`);
    return found;
  }, SOON);

describe('an event', () => {
  it('is sent as it is on the stream, signed so that the published library verifies it', async () => {
    const webhook = await make();
    await makeKey('signed');
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), SOON);
    const [one] = receiver.received as [Received];
    const verified = new Webhook(webhook.secret).verify(one.body, one.headers);
    const { body: told } = await tenant.http.get('/tradewind/v1/events?cursor=oldest&type=tradewind.ssh_key.created');
    expect(verified).toEqual(told.events[0]);
    expect(one.headers).toMatchObject({
      'webhook-id': one.event.id,
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'user-agent': 'tradewind',
    });
    expect(await settled(webhook.id)).toMatchObject([
      { state: 'delivered', attempts: 1, response_status: 200, error: null, next_attempt_at: null },
    ]);
  });

  it('is sent if it happens from then on, is of a type that is wanted, and of the own account', async () => {
    const other = await service.otherTenant();
    await makeKey('before');
    await make({ types: ['tradewind.ssh_key.created', 'tradewind.security_group.*'] });
    const id = await makeKey('first');
    await makeKey('of another account', other);
    await share(id, true);
    await tenant.http.post(`/cloud/v1/securitygroups/${tenant.projectId}/1`, {
      security_group: { name: 'second' },
    });
    // What is about different things is sent at once.
    await vi.waitFor(() => expect(new Set(names())).toEqual(new Set(['first', 'second'])), SOON);
    expect(receiver.received).toHaveLength(2);
  });

  it('of any account is sent to the platform administrator, as long as that is one', async () => {
    await make({ url: `${base}/all` }, service.http);
    await makeKey('everywhere');
    await vi.waitFor(() => expect(names()).toEqual(['everywhere']), SOON);
    await service.pool.query('update users set platform_administrator = false where id = 1 or platform_administrator');
    try {
      const own = await make({ url: `${base}/own` });
      await makeKey('only here');
      await settled(own.id);
      expect(receiver.received.map(({ path }) => path)).toEqual(['/all', '/own']);
    } finally {
      await service.pool.query(
        'update users set platform_administrator = true where id in (select created_by from webhooks where all_accounts)',
      );
    }
  });

  it('is not sent while the account is paused, and then it is', async () => {
    await make();
    const pause = (status: string) =>
      service.pool.query('update clients set status = $1 where id = $2', [status, tenant.clientId]);
    const { rows } = await service.pool.query('select status from clients where id = $1', [tenant.clientId]);
    // One more attempt may be on its way while the account is paused.
    receiver.replyTo = ({ path }) => ({ status: path === '/other' ? 200 : 500 });
    await makeKey('waits');
    await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(0), SOON);
    await pause('paused');
    await hurry();
    // Another account's events show that workers have looked meanwhile.
    const other = await service.otherTenant();
    receiver.received = [];
    await make({ url: `${base}/other` }, other.http);
    await makeKey('meanwhile', other);
    await vi.waitFor(() => expect(names()).toContain('meanwhile'), SOON);
    expect(names()).not.toContain('waits');
    receiver.replyTo = () => ({ status: 200 });
    await pause(rows[0].status);
    await hurry();
    await vi.waitFor(() => expect(names()).toContain('waits'), SOON);
  });

  it('of one subject waits for those before it; others do not', async () => {
    const webhook = await make();
    const [slow, fast] = [await makeKey('slow'), await makeKey('fast')];
    await vi.waitFor(async () => expect(await deliveries(webhook.id, 'state=delivered')).toHaveLength(2), SOON);
    receiver.received = [];
    let failures = 0;
    receiver.replyTo = ({ event }) => ({
      status: event.subject === `ssh_key/${slow}` && failures++ < 2 ? 500 : 200,
    });
    for (const shared of [true, false, true]) {
      await share(slow, shared);
      await share(fast, shared);
    }
    await vi.waitFor(async () => expect(await deliveries(webhook.id, 'state=delivered')).toHaveLength(8), SOON);
    const sentOf = (id: string) =>
      receiver.received.filter(({ event }) => event.subject === `ssh_key/${id}`).map(({ event }) => event.id);
    const [first, , , second, third] = sentOf(slow);
    expect(sentOf(slow)).toEqual([first, first, first, second, third]);
    expect(new Set(sentOf(slow)).size).toBe(3);
    expect(new Set(sentOf(fast)).size).toBe(3);
  });

  it.each([302, 404, 500])('that is answered %i is sent again with the same ID', async (status) => {
    const webhook = await make();
    const text = `No\0 ${'x'.repeat(5_000)}`;
    // It is sent again by itself as well, so that it has to fail until it was seen to.
    receiver.replyTo = () => ({ status, headers: { location: `${base}/elsewhere` }, body: text });
    await makeKey('again');
    const [delivery] = await vi.waitFor(async () => {
      const found = await deliveries(webhook.id);
      expect(found).toMatchObject([
        { state: 'pending', response_status: status, error: `The receiver answered ${status}` },
      ]);
      return found;
    }, SOON);
    expect(delivery.response_text).toBe(text.replace('\0', '').slice(0, 1_000));
    receiver.replyTo = () => ({ status: 200 });
    await hurry();
    expect(await settled(webhook.id)).toMatchObject([
      {
        state: 'delivered',
        attempts: receiver.received.length,
        response_status: 200,
        response_text: null,
        error: null,
      },
    ]);
    expect(receiver.received.length).toBeGreaterThan(1);
    expect(new Set(receiver.received.map(({ path }) => path))).toEqual(new Set(['/in']));
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('is given up after a day; what waited for it is sent then', async () => {
    const webhook = await make();
    receiver.replyTo = ({ event }) => ({ status: event.type.endsWith('created') ? 500 : 200 });
    const id = await makeKey('never taken');
    await share(id, true);
    await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(0), SOON);
    await service.pool.query(
      `update webhook_deliveries set expires_at = now() where webhook_id = $1 and type like '%.created'`,
      [webhook.id],
    );
    await vi.waitFor(async () => {
      expect(await deliveries(webhook.id)).toMatchObject([{ state: 'delivered' }, { state: 'failed' }]);
    }, SOON);
  });

  it('is not sent to an address that is not public, whatever name leads there', async () => {
    const webhook = await make();
    // Names are looked up only when something is sent; this one would be refused before.
    const url = base.replace('127.0.0.1', 'localhost');
    await service.pool.query('update webhooks set url = $1 where id = $2', [url, webhook.id]);
    await makeKey('not sent');
    await vi.waitFor(async () => {
      expect(await deliveries(webhook.id)).toMatchObject([
        { state: 'pending', error: 'The host is not on the public internet', response_status: null },
      ]);
    }, SOON);
    expect(receiver.received).toEqual([]);
  });
});

it('sends at most ten at a time for an account, however many webhooks and workers', async () => {
  let [now, most] = [0, 0];
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  receiver.replyTo = () => {
    most = Math.max(most, ++now);
    return { status: 200, after: released.then(() => now--) };
  };
  const webhooks = [];
  for (const path of ['a', 'b', 'c']) webhooks.push(await make({ url: `${base}/${path}` }));
  for (let count = 0; count < 8; count++) await makeKey(`key ${count}`);
  await vi.waitFor(() => expect(now).toBe(10), SOON);
  // A slow webhook leaves room for the others.
  expect(new Set(receiver.received.map(({ path }) => path)).size).toBeGreaterThan(1);
  release();
  for (const { id } of webhooks)
    await vi.waitFor(async () => expect(await deliveries(id, 'state=delivered')).toHaveLength(8), SOON);
  expect(most).toBe(10);
});

describe('a receiver that fails', () => {
  it('by silence is named so', async () => {
    const { timeout } = AbortSignal;
    const sooner = vi
      .spyOn(AbortSignal, 'timeout')
      .mockImplementation((ms) => timeout.call(AbortSignal, ms === 10_000 ? 300 : ms));
    let resolve = () => {};
    const after = new Promise<void>((done) => {
      resolve = done;
    });
    receiver.replyTo = () => ({ status: 200, after });
    try {
      const { id } = await make();
      await makeKey('unheard');
      await vi.waitFor(async () => {
        const [one] = await deliveries(id);
        expect(one).toMatchObject({ state: 'pending', error: 'No answer within 10 seconds' });
      }, SOON);
    } finally {
      sooner.mockRestore();
      resolve();
    }
  });

  it('is left alone for as long as it asks, also by what happens meanwhile', async () => {
    const webhook = await make();
    receiver.replyTo = () => ({ status: 429, headers: { 'retry-after': '1800' } });
    await makeKey('too much');
    const next = async () => {
      const { rows } = await service.pool.query(
        `select next_at > now() + interval '20 minutes' as later from webhook_sending where webhook_id = $1`,
        [webhook.id],
      );
      return rows[0].later;
    };
    await vi.waitFor(async () => expect(await next()).toBe(true), SOON);
    await makeKey('even more');
    await vi.waitFor(async () => expect(await deliveries(webhook.id)).toHaveLength(2), SOON);
    expect(await next()).toBe(true);
    expect(names()).toEqual(['too much']);
  });

  it('is tried with one attempt at a time, and gets everything soon after it is back', async () => {
    const webhook = await make();
    receiver.replyTo = () => ({ status: 503 });
    for (let count = 0; count < 6; count++) await makeKey(`key ${count}`);
    await vi.waitFor(async () => {
      const { rows } = await service.pool.query('select failures from webhook_sending where webhook_id = $1', [
        webhook.id,
      ]);
      expect(rows[0].failures).toBeGreaterThanOrEqual(3);
    }, SOON);
    const shown = await tenant.http.get(`${BASE}/${webhook.id}`);
    expect(shown.body.failing_since).toEqual(expect.any(String));
    receiver.replyTo = () => ({ status: 200 });
    await service.pool.query(
      `with later as (update webhook_deliveries set due_at = now() + interval '30 minutes' where due_at is not null)
       update webhook_sending set next_at = now() + interval '30 minutes'`,
    );
    const tested = await tenant.http.post(`${BASE}/${webhook.id}/test`);
    expect(tested.status).toBe(201);
    await settled(webhook.id);
    expect((await tenant.http.get(`${BASE}/${webhook.id}`)).body.failing_since).toBeNull();
  });

  it.each([
    ['failing', 500],
    ['gone', 410],
  ])('is disabled when it is %s, and an event says so', async (reason, status) => {
    const webhook = await make();
    const watcher = await make({ url: `${base}/watcher`, types: ['tradewind.webhook.*'] });
    receiver.replyTo = ({ path }) => ({ status: path === '/watcher' ? 200 : status });
    if (reason === 'failing') {
      await makeKey('first');
      await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(0), SOON);
      await vi.waitFor(async () => {
        const { rowCount } = await service.pool.query(
          `update webhook_sending set failing_since = now() - interval '5 days' where webhook_id = $1 and failures > 0`,
          [webhook.id],
        );
        expect(rowCount).toBe(1);
      }, SOON);
      await hurry();
    }
    if (reason === 'gone') await makeKey('last');
    await vi.waitFor(
      () => expect(receiver.received.map(({ event }) => event.type)).toContain('tradewind.webhook.disabled'),
      SOON,
    );
    const told = receiver.received.find(({ event }) => event.type === 'tradewind.webhook.disabled');
    expect(told?.event).toMatchObject({
      subject: `webhook/${webhook.id}`,
      data: { client_id: tenant.clientId, reason, actor: null, revision: { before: 1, after: 2 } },
    });
    expect((await tenant.http.get(`${BASE}/${webhook.id}`)).body).toMatchObject({
      enabled: false,
      disabled_reason: reason,
    });
    // What happens meanwhile is not sent, and it begins anew when it is switched on.
    await makeKey('meanwhile');
    receiver.received = [];
    receiver.replyTo = () => ({ status: 200 });
    const again = await tenant.http.patch(`${BASE}/${webhook.id}`, { enabled: true });
    expect(again.body).toMatchObject({ enabled: true, disabled_reason: null, failing_since: null });
    await makeKey('afterwards');
    await vi.waitFor(() => expect(names()).toContain('afterwards'), SOON);
    await settled(webhook.id);
    expect(names()).not.toContain('meanwhile');
    expect(names()).toContain(reason === 'gone' ? 'last' : 'first');
    await tenant.http.delete(`${BASE}/${watcher.id}`);
  });
});

it('is looked at again after the clock was set back', async () => {
  const webhook = await make();
  receiver.replyTo = () => ({ status: 500 });
  await makeKey('of the future');
  await vi.waitFor(async () => expect((await deliveries(webhook.id))[0]?.attempts).toBeGreaterThan(0), SOON);
  // No attempt is on its way that would say when the next one is.
  await vi.waitFor(async () => {
    const { rowCount } = await service.pool.query(
      `update webhook_deliveries set due_at = now() + interval '1 year'
       where webhook_id = $1 and due_at is not null and worker_id is null`,
      [webhook.id],
    );
    expect(rowCount).toBe(1);
  }, SOON);
  await service.pool.query(`update webhook_sending set next_at = now() + interval '1 year'`);
  receiver.replyTo = () => ({ status: 200 });
  expect(await settled(webhook.id)).toMatchObject([{ state: 'delivered', attempts: receiver.received.length }]);
});

describe('a secret', () => {
  const own = newSecret();

  it('is shown once, encrypted in the database, and told to nobody', async () => {
    const webhook = await make({ secret: own, types: ['*'] });
    expect(webhook.secret).toBe(own);
    const rotated = await tenant.http.post(`${BASE}/${webhook.id}/rotate_secret`, {});
    expect(rotated.headers.get('cache-control')).toBe('no-store');
    const former = own.slice(6);
    const present = rotated.body.secret.slice(6);
    const texts = [];
    for (const path of ['', `/${webhook.id}`, `/${webhook.id}/deliveries`])
      texts.push((await tenant.http.get(`${BASE}${path}`)).text);
    texts.push((await tenant.http.get('/tradewind/v1/events?cursor=oldest')).text);
    const { rows } = await service.pool.query('select row_to_json(webhooks)::text as text from webhooks');
    texts.push(...rows.map(({ text }) => text));
    const log = await service.pool.query('select row_to_json(user_actions)::text as text from user_actions');
    texts.push(...log.rows.map(({ text }) => text));
    expect(texts.join()).toContain(webhook.id);
    expect(texts.join()).toContain('sealed:1:');
    for (const secret of [former, present]) expect(texts.join()).not.toContain(secret);
  });

  it('that is rotated signs for a while beside its successor', async () => {
    const webhook = await make({ secret: own });
    const path = `${BASE}/${webhook.id}/rotate_secret`;
    const { body: rotated } = await tenant.http.post(path, { overlap_s: 3_600 });
    expect(rotated.secret).not.toBe(own);
    expect(Date.parse(rotated.previous_secret_until)).toBeGreaterThan(Date.now() + 3_000_000);
    await makeKey('signed twice');
    const one = await receivedOf('signed twice');
    for (const secret of [own, rotated.secret]) new Webhook(secret).verify(one.body, one.headers);
    const { body: last } = await tenant.http.post(path, { overlap_s: 0, secret: newSecret() });
    expect(last.previous_secret_until).toBeNull();
    await makeKey('signed once');
    const two = await receivedOf('signed once');
    new Webhook(last.secret).verify(two.body, two.headers);
    for (const secret of [own, rotated.secret])
      expect(() => new Webhook(secret).verify(two.body, two.headers)).toThrow('No matching signature');
  });

  it('that is lost can be rotated', async () => {
    const webhook = await make();
    await service.pool.query('update webhooks set secret = null where id = $1', [webhook.id]);
    await makeKey('unsigned');
    await vi.waitFor(async () => {
      expect(await deliveries(webhook.id)).toMatchObject([{ error: 'The secret is lost; rotate it' }]);
    }, SOON);
    const { body: rotated } = await tenant.http.post(`${BASE}/${webhook.id}/rotate_secret`, {});
    await hurry();
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), SOON);
    new Webhook(rotated.secret).verify(receiver.received[0]?.body ?? '', receiver.received[0]?.headers ?? {});
  });
});

it('is received by what the document shows', async () => {
  const [, text = ''] = /^```js\n(.*?)^```/ms.exec(readFileSync('docs/events.md', 'utf8')) ?? [];
  const own = newSecret();
  const program = text.replace('3000', `0, '127.0.0.1', function () { console.log('at', this.address().port); }`);
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, WEBHOOK_SECRET: own },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  try {
    await vi.waitFor(() => expect(said).toContain('at '), SOON);
    const address = `http://127.0.0.1:${/at (\d+)/.exec(said)?.[1]}`;
    // The other receiver passes on what it gets, since only that one may be called.
    receiver.replyTo = ({ headers, body }) => {
      const own = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
      const passed = Object.fromEntries(own.map((name) => [name, headers[name] ?? '']));
      const answer = fetch(address, { method: 'POST', headers: passed, body });
      const after = answer.then(({ status }) => {
        said += `${status} `;
      });
      return { status: 200, after };
    };
    const webhook = await make({ secret: own });
    const id = await makeKey('documented');
    await settled(webhook.id);
    await vi.waitFor(() => expect(said).toContain(`tradewind.ssh_key.created ssh_key/${id}`), SOON);
    expect(said).toContain('204 ');
    await tenant.http.post(`${BASE}/${webhook.id}/rotate_secret`, { overlap_s: 0 });
    await share(id, true);
    await vi.waitFor(() => expect(said).toContain('400 '), SOON);
    expect(said).not.toContain('updated');
  } finally {
    child.kill();
  }
});

describe('a delivery', () => {
  it('is sent again on request, with the same ID, before what waits', async () => {
    const webhook = await make();
    await makeKey('repeated');
    const [first] = await settled(webhook.id);
    const path = `${BASE}/${webhook.id}/deliveries/${first.id}`;
    expect((await tenant.http.get(path)).body.event).toEqual(receiver.received[0]?.event);
    const again = await tenant.http.post(`${path}/redeliver`);
    expect([again.status, again.body.state]).toEqual([200, 'pending']);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2), SOON);
    expect(receiver.received[0]?.body).toBe(receiver.received[1]?.body);
    expect(receiver.received[0]?.headers['webhook-id']).toBe(receiver.received[1]?.headers['webhook-id']);
    expect(await settled(webhook.id)).toMatchObject([{ attempts: 2, state: 'delivered' }]);
  });

  it('that waits for another one is not sent before it', async () => {
    const webhook = await make();
    receiver.replyTo = () => ({ status: 500 });
    const id = await makeKey('head');
    await share(id, true);
    await vi.waitFor(async () => expect(await deliveries(webhook.id)).toHaveLength(2), SOON);
    const [behind] = await deliveries(webhook.id);
    const refused = await tenant.http.post(`${BASE}/${webhook.id}/deliveries/${behind.id}/redeliver`);
    expect(refused.status).toBe(409);
  });

  it('of a test is sent also if the webhook is disabled', async () => {
    const webhook = await make();
    await tenant.http.patch(`${BASE}/${webhook.id}`, { enabled: false });
    const { body: test } = await tenant.http.post(`${BASE}/${webhook.id}/test`);
    expect(test).toMatchObject({ type: 'tradewind.webhook.test', state: 'pending', attempts: 0 });
    await settled(webhook.id);
    expect(receiver.received[0]?.event).toMatchObject({ id: test.event_id, type: 'tradewind.webhook.test' });
    new Webhook(webhook.secret).verify(receiver.received[0]?.body ?? '', receiver.received[0]?.headers ?? {});
  });

  it('is listed in pages, the newest first', async () => {
    const webhook = await make();
    for (const name of ['one', 'two', 'three']) await makeKey(name);
    const all = await vi.waitFor(async () => {
      const found = await deliveries(webhook.id, 'state=delivered');
      expect(found).toHaveLength(3);
      return found;
    }, SOON);
    const path = `${BASE}/${webhook.id}/deliveries?limit=2`;
    const { body: first } = await tenant.http.get(path);
    const { body: second } = await tenant.http.get(`${path}&page_token=${first.next_page_token}`);
    expect([...first.results, ...second.results]).toEqual(all);
    expect(second.next_page_token).toBeNull();
  });

  it('is forgotten after seven days', async () => {
    const webhook = await make();
    await makeKey('old');
    await settled(webhook.id);
    await makeKey('new');
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2), SOON);
    await service.pool.query(
      `update webhook_deliveries set created_at = now() - interval '8 days'
       where id = (select min(id) from webhook_deliveries where webhook_id = $1)`,
      [webhook.id],
    );
    const { forgetOldDeliveries } = await import('./sending/figures.ts');
    const { openDatabase } = await import('../../db/database.ts');
    const database = openDatabase({ connectionString: service.pool.options.connectionString ?? '' }, 1);
    // Deliveries of the tests before are older.
    await service.pool.query('delete from webhook_deliveries where webhook_id <> $1', [webhook.id]);
    await forgetOldDeliveries(database, { now: () => new Date() });
    await database.close();
    expect(await deliveries(webhook.id)).toHaveLength(1);
  });
});

describe('a webhook', () => {
  it('is listed, read, changed and deleted', async () => {
    const webhook = await make({ description: 'first' });
    const { secret: _, ...shown } = webhook;
    expect(shown).toMatchObject({ enabled: true, all_accounts: false, client_id: tenant.clientId });
    expect((await tenant.http.get(`${BASE}/${webhook.id}`)).body).toEqual(shown);
    const second = await make({ description: 'second' });
    const { body: list } = await tenant.http.get(`${BASE}?limit=1`);
    expect(list.results).toEqual([shown]);
    const { body: rest } = await tenant.http.get(`${BASE}?limit=1&page_token=${list.next_page_token}`);
    expect(rest).toMatchObject({ results: [{ id: second.id }], next_page_token: null });
    const { headers } = await tenant.http.get(`${BASE}/${webhook.id}`);
    const version = { headers: { 'if-match': headers.get('etag') ?? '' }, body: { types: ['*'] } };
    const changed = await tenant.http.request('PATCH', `${BASE}/${webhook.id}`, version);
    expect(changed.body).toMatchObject({ types: ['*'], description: 'first' });
    const outdated = await tenant.http.request('PATCH', `${BASE}/${webhook.id}`, version);
    expect(outdated.status).toBe(412);
    expect((await tenant.http.delete(`${BASE}/${webhook.id}`)).status).toBe(204);
    expect((await tenant.http.get(`${BASE}/${webhook.id}`)).status).toBe(404);
    await makeKey('not sent to it');
    await settled(second.id);
    expect(receiver.received.every(({ event }) => event.data.client_id === tenant.clientId)).toBe(true);
  });

  it('is only tried out by a dry run', async () => {
    const webhook = await make();
    const of = (method: string, path: string, body?: object) =>
      tenant.http.request(method, `${BASE}${path}`, { headers: DRY_RUN, ...(body && { body }) });
    const made = await of('POST', '', { url: `${base}/dry`, types: ['*'], secret: newSecret() });
    expect(made.body.changes).toMatchObject([{ op: 'add', value: { url: `${base}/dry` } }]);
    expect(made.text).not.toContain('whsec_');
    const changed = await of('PATCH', `/${webhook.id}`, { description: 'other' });
    expect(changed.body.changes).toContainEqual({ op: 'replace', path: '/description', value: 'other' });
    const rotated = await of('POST', `/${webhook.id}/rotate_secret`, {});
    expect([rotated.status, rotated.text.includes('whsec_')]).toEqual([200, false]);
    expect((await of('POST', `/${webhook.id}/test`)).status).toBe(200);
    expect((await of('DELETE', `/${webhook.id}`)).body.changes).toEqual([{ op: 'remove', path: '' }]);
    expect((await tenant.http.get(BASE)).body.results).toHaveLength(1);
    await makeKey('real');
    await settled(webhook.id);
    new Webhook(webhook.secret).verify(receiver.received[0]?.body ?? '', receiver.received[0]?.headers ?? {});
    expect(receiver.received).toHaveLength(1);
  });

  it('is for administrators of its account', async () => {
    const webhook = await make();
    const { id: delivery } = (await tenant.http.post(`${BASE}/${webhook.id}/test`)).body;
    const own = await make({}, service.http);
    const other = await service.otherTenant();
    const engineer = await service.withRole('Engineers');
    const one = `${BASE}/${webhook.id}`;
    const calls: [string, string, object?][] = [
      ['GET', one],
      ['PATCH', one, { enabled: false }],
      ['DELETE', one],
      ['POST', `${one}/rotate_secret`, {}],
      ['POST', `${one}/test`],
      ['GET', `${one}/deliveries`],
      ['GET', `${one}/deliveries/${delivery}`],
      ['POST', `${one}/deliveries/${delivery}/redeliver`],
    ];
    const status = async (by: HttpClient, [method, path, body]: (typeof calls)[number], more = {}) =>
      (await by.request(method, path, { ...(body && { body }), ...more })).status;
    for (const call of calls) {
      expect(await status(other.http, call), call[1]).toBe(404);
      expect(await status(other.http, call, { headers: { 'if-match': '"7"' } }), call[1]).toBe(404);
      expect(await status(engineer, call), call[1]).toBe(403);
      expect(await status(service.anonymous, call), call[1]).toBe(401);
    }
    for (const by of [engineer, service.anonymous]) {
      expect([401, 403]).toContain(await status(by, ['GET', BASE]));
      expect([401, 403]).toContain(await status(by, ['POST', BASE, { url: `${base}/in`, types: ['*'] }]));
    }
    expect((await other.http.get(BASE)).body.results).toEqual([]);
    const { body: all } = await service.http.get(BASE);
    expect(all.results.map((row: { id: string }) => row.id)).toEqual([webhook.id, own.id]);
    // What the platform administrator made tells more than other administrators of the account may know.
    await service.pool.query('update webhooks set client_id = $1 where id = $2', [tenant.clientId, own.id]);
    expect((await tenant.http.get(`${BASE}/${own.id}`)).status).toBe(404);
    expect((await tenant.http.get(BASE)).body.results).toHaveLength(1);
  });

  it('is one of at most twenty of an account, also for those who ask at the same time', async () => {
    await make();
    await service.pool.query(
      `insert into webhooks (id, client_id, created_by, all_accounts, url, types, description, enabled, after_position,
         created_at, updated_at)
       select gen_random_uuid(), client_id, created_by, all_accounts, url, types, description, enabled, after_position,
         created_at, updated_at
       from webhooks, generate_series(1, 18) where client_id = $1`,
      [tenant.clientId],
    );
    const body = { url: `${base}/in`, types: ['tradewind.ssh_key.*'] };
    const both = await Promise.all([tenant.http.post(BASE, body), tenant.http.post(BASE, body)]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([201, 409]));
  });

  it.each([
    [{ url: 'ftp://example.com/' }, 'url'],
    [{ url: 'https://user:secret@example.com/' }, 'url'],
    [{ url: 'http://10.0.0.1/in' }, 'url'],
    [{ url: 'http://0x7f.1/in' }, 'url'],
    [{ url: 'http://[::1]:8080/in' }, 'url'],
    [{ url: 'http://169.254.169.254/latest' }, 'url'],
    [{ url: 'http://localhost:9/in' }, 'url'],
    [{ url: 'http://LOCALHOST./in' }, 'url'],
    [{ url: 'https://hooks.localhost/in' }, 'url'],
    [{ types: [] }, 'types'],
    [{ types: ['cluster'] }, 'types'],
    [{ types: ['tradewind.c*r.updated'] }, 'types'],
    [{ types: ['*', 'tradewind.clusters.*'] }, 'types.1'],
    [{ types: ['tradewind.cluster.update'] }, 'types.0'],
    [{ secret: 'sesame' }, 'secret'],
    [{ secret: `whsec_${'!'.repeat(40)}` }, 'secret'],
    [{ secret: `whsec_${'A'.repeat(33)}` }, 'secret'],
    [{ enabled: false }, 'enabled'],
  ])('is refused with %j', async (change, field) => {
    const refused = await tenant.http.post(BASE, { url: `${base}/in`, types: ['*'], ...change });
    expect([refused.status, refused.headers.get('content-type')]).toEqual([
      400,
      'application/problem+json; charset=utf-8',
    ]);
    expect(refused.body.errors[0].field).toContain(field);
  });

  it('is not moved to this machine', async () => {
    const { id } = (await tenant.http.post(BASE, { url: `${base}/in`, types: ['*'] })).body;
    const refused = await tenant.http.patch(`${BASE}/${id}`, { url: 'http://localhost/in' });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('not on the public internet')]);
    const elsewhere = await tenant.http.patch(`${BASE}/${id}`, { url: 'https://localhost.example.com/in' });
    expect(elsewhere.status, elsewhere.text).toBe(200);
    await tenant.http.delete(`${BASE}/${id}`);
  });

  it('is not found by what is no ID', async () => {
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { body: { enabled: true } } : {};
      expect((await tenant.http.request(method, `${BASE}/no-uuid`, body)).status).toBe(404);
    }
    expect((await tenant.http.get(`${BASE}/no-uuid/deliveries`)).status).toBe(404);
  });

  it.each(['page_token=x', 'limit=0', 'page_token=NQ'])('is not listed with %s', async (query) => {
    expect((await tenant.http.get(`${BASE}?${query}`)).status).toBe(400);
  });
});
