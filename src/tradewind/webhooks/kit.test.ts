import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { SOON } from '../../../test/support/http-client.ts';
import { startService, type TestService } from '../../../test/support/service.ts';
import { openReceiver, type WebhookReceiver } from '../../../test/support/webhook-receiver.ts';

const BASE = '/tradewind/v1/webhooks';
const KIT = '/tradewind/v1/test';

let receiver: WebhookReceiver;
let service: TestService;
beforeAll(async () => {
  receiver = await openReceiver();
  service = await startService({
    TRADEWIND_TEST_API: 'true',
    TRADEWIND_WEBHOOK_ALLOW_HOSTS: receiver.host,
    TRADEWIND_LOG_LEVEL: 'error',
  });
});
afterAll(async () => {
  await service.stop();
  receiver.stop();
});
const kit = async (path: string, body: object) => {
  const { status, text } = await service.http.post(`${KIT}/${path}`, body);
  expect(status, text).toBeLessThan(300);
};
beforeEach(() => receiver.forget());
afterEach(() => kit('reset', { scope: 'all' }));

const make = async () => {
  const made = await service.http.post(BASE, { url: receiver.url, types: ['tradewind.ssh_key.created'] });
  expect(made.status, made.text).toBe(201);
  return made.body;
};
const makeKey = async (name: string) => {
  expect((await service.http.post('/cloud/v1/ssh_keys/1', { name })).status).toBe(201);
};
const names = () => receiver.received.map(({ event }) => event.data.resources[0]?.name);

it('tries again when the clock says so, and signs with the real time', async () => {
  const webhook = await make();
  await kit('clock', { running: false });
  await kit('clock', { at: '2031-01-01T00:00:00Z' });
  receiver.replyTo = () => ({ status: receiver.received.length === 1 ? 500 : 200 });
  await makeKey('of the future');
  const path = `${BASE}/${webhook.id}/deliveries`;
  await vi.waitFor(async () => {
    const { body } = await service.http.get(path);
    expect(body.results).toMatchObject([{ response_status: 500, state: 'pending' }]);
  }, SOON);
  await kit('clock', { advance_s: 60 });
  await vi.waitFor(() => expect(receiver.received).toHaveLength(2), SOON);
  const [one] = receiver.received;
  expect(new Webhook(webhook.secret).verify(one?.body ?? '', one?.headers ?? {})).toMatchObject({
    time: '2031-01-01T00:00:00.000Z',
  });
});

it('sends nothing of what a reset takes back, and to those of a snapshot what happens from then on', async () => {
  await make();
  await makeKey('before');
  await vi.waitFor(() => expect(names()).toEqual(['before']), SOON);
  await kit('snapshots', { name: 'with-webhook' });
  await kit('reset', { scope: 'all' });
  expect((await service.http.get(BASE)).body.results).toEqual([]);
  await makeKey('without it');
  await kit('snapshots/with-webhook/restore', {});
  await makeKey('again');
  await vi.waitFor(() => expect(names()).toContain('again'), SOON);
  expect(names().filter((name) => name === 'without it')).toEqual([]);
});
