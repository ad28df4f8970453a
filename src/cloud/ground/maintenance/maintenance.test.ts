import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startService, type Tenant, type TestService } from '../../../../test/support/service.ts';

const MAINTENANCES = '/tradewind/v1/platform/maintenances';
const SOON = { timeout: 20_000 };
const REASON = 'New switches, until 14:00 UTC';

let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  service = await startService();
  tenant = await service.otherTenant();
});
afterAll(() => service?.stop());

const newVolume = (region: number) =>
  tenant.http.post(`/cloud/v1/volumes/${tenant.projectId}/${region}`, { source: 'new-volume', name: 'quiet', size: 1 });
async function made(region: number): Promise<string> {
  const answer = await newVolume(region);
  expect(answer.status, answer.text).toBe(200);
  return (await tenant.http.task(answer.body[0])).created_resources.volumes[0];
}
async function begin(body: object) {
  const answer = await service.http.post(MAINTENANCES, { reason: REASON, ...body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}
const end = async ({ id }: { id: number }) =>
  expect((await service.http.delete(`${MAINTENANCES}/${id}`)).status).toBe(204);
const stateOf = async (region: number) => (await tenant.http.get(`/cloud/v1/regions/${region}`)).body.state;

it('lets a region take in nothing new or changed, says why, and lets go what goes', async () => {
  const volume = await made(2);
  const one = await begin({ region_id: 2 });
  expect(one).toMatchObject({ region_id: 2, backend: null, reason: REASON, created_by: expect.any(Number) });
  for (const refused of [
    await newVolume(2),
    await tenant.http.post(`/cloud/v1/volumes/${tenant.projectId}/2/${volume}/extend`, { size: 2 }),
    await tenant.http.post(`/cloud/v1/securitygroups/${tenant.projectId}/2`, { security_group: { name: 'quiet' } }),
  ])
    expect([refused.status, refused.headers.get('retry-after'), refused.text]).toEqual([
      503,
      '300',
      expect.stringContaining(REASON),
    ]);
  expect([await stateOf(2), await stateOf(1)]).toEqual(['MAINTENANCE', 'ACTIVE']);
  const { body } = await tenant.http.get('/cloud/v1/regions');
  expect(body.results.find(({ id }: { id: number }) => id === 2).state).toBe('MAINTENANCE');
  await made(1);
  const deleted = await tenant.http.delete(`/cloud/v1/volumes/${tenant.projectId}/2/${volume}`);
  expect(deleted.status, deleted.text).toBe(200);
  await end(one);
  expect(await stateOf(2)).toBe('ACTIVE');
  await made(2);
});

it('lets go what others were connected to', async () => {
  const place = `${tenant.projectId}/2`;
  const done = async (path: string, body: object) => {
    const answer = await tenant.http.post(`/cloud/v1/${path}/${place}`, body);
    expect(answer.status, answer.text).toBe(200);
    return (await tenant.http.task(answer.body.tasks?.[0] ?? answer.body[0])).created_resources;
  };
  const [network] = (await done('networks', { name: 'quiet' })).networks;
  const subnet = { name: 'quiet', network_id: network, cidr: '10.20.0.0/24' };
  const [id] = (await done('subnets', subnet)).subnets;
  const one = await begin({ region_id: 2 });
  // Its router stays, without an interface in it.
  const deleted = await tenant.http.delete(`/cloud/v1/subnets/${place}/${id}`);
  expect(deleted.status, deleted.text).toBe(200);
  expect(await tenant.http.task(deleted.body.tasks?.[0] ?? deleted.body[0])).toMatchObject({ state: 'FINISHED' });
  await end(one);
});

it('says when a region is drained', async () => {
  const answer = await newVolume(3);
  const one = await begin({ region_id: 3 });
  // Others may not know of it yet.
  expect(one.drained).toBe(false);
  await tenant.http.task(answer.body[0]);
  await vi.waitFor(async () => {
    const { results } = (await service.http.get(MAINTENANCES)).body;
    expect(results).toEqual([{ ...one, unfinished: 0, failing: 0, drained: true }]);
  }, SOON);
  await end(one);
  expect((await service.http.get(MAINTENANCES)).body.results).toEqual([]);
});

it('may be of a backend, in all of its regions', async () => {
  const one = await begin({ backend: 'simulated' });
  const refused = await newVolume(1);
  expect([refused.status, refused.text]).toEqual([
    503,
    expect.stringContaining('A part of the infrastructure of region'),
  ]);
  expect(await stateOf(1)).toBe('ACTIVE');
  await end(one);
  await made(1);
});

it('is for the platform administrator, once for each, of what the catalogue has', async () => {
  expect((await tenant.http.get(MAINTENANCES)).status).toBe(403);
  expect((await tenant.http.post(MAINTENANCES, { region_id: 2, reason: REASON })).status).toBe(403);
  const one = await begin({ region_id: 2 });
  const again = await service.http.post(MAINTENANCES, { region_id: 2, reason: REASON });
  expect(again.status).toBe(409);
  await end(one);
  for (const body of [{}, { region_id: 2, backend: 'simulated' }, { region_id: 999 }, { backend: 'nowhere' }])
    expect((await service.http.post(MAINTENANCES, { reason: REASON, ...body })).status).toBe(400);
  expect((await service.http.delete(`${MAINTENANCES}/999999`)).status).toBe(404);
});
