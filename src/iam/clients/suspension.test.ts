import { afterAll, beforeAll, expect, it } from 'vitest';
import { addReseller } from '../../../test/support/reseller.ts';
import { startService, type TestService } from '../../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const CLIENTS = '/tradewind/v1/clients';

it('shuts an account at once, lets its work go on, and opens it again', async () => {
  const tenant = await service.otherTenant();
  const body = { source: 'new-volume', name: 'data', size: 1 };
  const [task] = (await tenant.http.post(`/cloud/v1/volumes/${tenant.projectId}/1`, body)).body;
  const suspended = await service.http.post(`${CLIENTS}/${tenant.clientId}/suspend`);
  expect(suspended.status, suspended.text).toBe(200);
  expect(suspended.body).toMatchObject({ id: tenant.clientId, status: 'paused' });
  const refused = await tenant.http.get('/tradewind/v1/webhooks');
  expect([refused.status, refused.text]).toEqual([401, expect.stringContaining('suspended')]);
  // Twice is as good as once.
  expect((await service.http.post(`${CLIENTS}/${tenant.clientId}/suspend`)).status).toBe(200);
  expect(await service.http.task(task)).toMatchObject({ state: 'FINISHED' });
  const used = await service.pool.query('select from usage_periods where client_id = $1 and ended_at is null', [
    tenant.clientId,
  ]);
  expect(used.rows).not.toEqual([]);

  const resumed = await service.http.post(`${CLIENTS}/${tenant.clientId}/resume`);
  expect(resumed.body).toMatchObject({ status: 'active' });
  expect((await tenant.http.get('/cloud/v1/projects')).status).toBe(200);
  const events = await service.pool.query(
    `select type from events where subject = $1 and type like 'tradewind.client.%' order by position`,
    [`client/${tenant.clientId}`],
  );
  expect(events.rows.map(({ type }) => type)).toEqual([
    'tradewind.client.created',
    'tradewind.client.paused',
    'tradewind.client.paused',
    'tradewind.client.resumed',
  ]);
});

it("is for the account's reseller and the platform, and for other accounts than their own", async () => {
  const reseller = await addReseller(service, 'Suspending');
  const own = (await reseller.http.post('/iam/clients/create', { company: 'Mine' })).body.id;
  const tenant = await service.otherTenant();
  for (const what of ['suspend', 'resume']) {
    const status = async (id: number, http = reseller.http) => (await http.post(`${CLIENTS}/${id}/${what}`)).status;
    expect(await status(own)).toBe(200);
    expect(await status(tenant.clientId)).toBe(404);
    expect(await status(999_999, service.http)).toBe(404);
    expect(await status(reseller.clientId)).toBe(409);
    expect(await status(1, service.http)).toBe(409);
    expect(await status(tenant.clientId, tenant.http)).toBe(403);
  }
});
