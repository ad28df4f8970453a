import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { asResellerOf } from '../../../../test/support/reseller.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { openReceiver, type WebhookReceiver } from '../../../../test/support/webhook-receiver.ts';

const SOON = { timeout: 30_000 };
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let at = Date.UTC(2026, 2, 10, 12);
let service: TestService;
let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await openReceiver();
  service = await startService(
    { TRADEWIND_WEBHOOK_ALLOW_HOSTS: receiver.host },
    { clock: { now: () => new Date(at) } },
  );
});
afterAll(async () => {
  await service.stop();
  receiver.stop();
});

const closed = async (): Promise<{ day: string; next_id: number | null } | undefined> =>
  (await service.pool.query('select day, next_id from usage_closings')).rows[0];

it('tells accounts with a webhook for it of each day that is over, once, and where its usage is', async () => {
  const tenant = await service.otherTenant();
  const other = await service.otherTenant();
  const body = { source: 'new-volume', name: 'used', size: 10, type_name: 'standard' };
  expect((await tenant.http.post(`/cloud/v1/volumes/${tenant.projectId}/1`, body)).status).toBe(200);
  const reseller = await asResellerOf(service, 1);
  const wishes = [
    [tenant.http, ['tradewind.usage.*']],
    [reseller, ['tradewind.usage.closed']],
    [other.http, ['tradewind.volume.*']],
  ] as const;
  for (const [http, types] of wishes) {
    const made = await http.post('/tradewind/v1/webhooks', { url: receiver.url, types });
    expect(made.status, made.text).toBe(201);
  }
  // Days before the first look are told to nobody.
  await expect.poll(closed, SOON).toEqual({ day: '2026-03-09', next_id: null });
  // Two days pass without a look.
  at = Date.UTC(2026, 2, 12, 0, 20);
  await vi.waitFor(() => expect(receiver.received).toHaveLength(4), SOON);
  const told = receiver.received.map(({ event: { type, subject, data } }) => ({ type, subject, ...data }));
  const ofTenant = told.filter(({ client_id }) => client_id === tenant.clientId);
  expect(ofTenant).toMatchObject([
    {
      type: 'tradewind.usage.closed',
      subject: 'usage/2026-03-10',
      href: '/tradewind/v1/usage?from=2026-03-10T00:00:00Z&to=2026-03-11T00:00:00Z',
      resources: [{ type: 'usage', id: '2026-03-10', name: null }],
      actor: null,
    },
    { subject: 'usage/2026-03-11' },
  ]);
  expect(told.map(({ client_id }) => client_id)).not.toContain(other.clientId);
  // The reseller's administrator sees what all its clients used.
  const { href } = ofTenant[1] as unknown as { href: string };
  const lines = [{ client_id: tenant.clientId, type: 'volume', quantity: (10 * DAY) / 1_000 }];
  for (const http of [tenant.http, reseller]) expect((await http.get(href)).body.lines).toMatchObject(lines);
  await expect.poll(closed, SOON).toEqual({ day: '2026-03-11', next_id: null });
});

it('waits for a while after midnight, and goes on where a worker that died was', async () => {
  receiver.forget();
  at = Date.UTC(2026, 2, 13, 0, 20);
  await vi.waitFor(() => expect(receiver.received).toHaveLength(2), SOON);
  await expect.poll(closed, SOON).toEqual({ day: '2026-03-12', next_id: null });
  const [first, second] = receiver.received.map(({ event }) => event.data.client_id).sort((a, b) => a - b);
  receiver.forget();
  // As if it had told the first account only.
  await service.pool.query('update usage_closings set next_id = $1', [(first ?? 0) + 1]);
  await vi.waitFor(() => expect(receiver.received.map(({ event }) => event.data.client_id)).toEqual([second]), SOON);
  receiver.forget();
  at = Date.UTC(2026, 2, 14, 0, 14);
  // What comes later is told later.
  await service.http.post('/tradewind/v1/webhooks', { url: receiver.url, types: ['tradewind.usage.closed'] });
  expect(await closed()).toEqual({ day: '2026-03-12', next_id: null });
  at = Date.UTC(2026, 2, 14, 0, 16);
  await vi.waitFor(
    () => expect(new Set(receiver.received.map(({ event }) => event.subject))).toEqual(new Set(['usage/2026-03-13'])),
    SOON,
  );
});
