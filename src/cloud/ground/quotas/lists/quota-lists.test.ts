import { afterAll, beforeAll, expect, it } from 'vitest';
import { addReseller, asResellerOf } from '../../../../../test/support/reseller.ts';
import { startService, type Tenant, type TestService } from '../../../../../test/support/service.ts';

const LISTS = '/tradewind/v1/quota_lists';
const HOUR = 3_600_000;

let at = Date.UTC(2026, 2, 10);
let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  service = await startService({}, { clock: { now: () => new Date(at) } });
  tenant = await service.otherTenant();
});
afterAll(() => service.stop());

async function made(list: object) {
  const answer = await service.http.post(LISTS, list);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}
const groups = (limit: number, more: object = {}) => ({
  limits: [{ quota: 'servergroup_count', limit, ...more }],
});
const forTenant = (list: object) => ({ scope: 'client', id: tenant.clientId, ...list });
const limit = async (region = 1) =>
  (await tenant.http.get(`/cloud/v2/regional_quotas/${tenant.clientId}/${region}`)).body.servergroup_count_limit;
let madeGroups = 0;
/** Returns the limit that a placement group too many is refused by; undefined if there may be one more. */
async function refusedBy(region = 1): Promise<number | undefined> {
  const body = { name: `group-${madeGroups++}`, policy: 'affinity' };
  const answer = await tenant.http.post(`/cloud/v1/servergroups/${tenant.projectId}/${region}`, body);
  expect([200, 403]).toContain(answer.status);
  return answer.body.info?.limit;
}

it('holds at once, the narrower before the wider, and after the own limits of an account', async () => {
  expect(await limit()).toBe(1000);
  await made({ scope: 'everyone', ...groups(0) });
  expect([await limit(), await refusedBy()]).toEqual([0, 0]);
  await made({ scope: 'reseller', id: 1, limits: [{ quota: 'vm_count', limit: 7 }] });
  expect([await limit(), await refusedBy()]).toEqual([0, 0]);
  await made(forTenant(groups(1)));
  expect([await limit(), await refusedBy(), await refusedBy()]).toEqual([1, undefined, 1]);
  await made(
    forTenant({
      limits: [
        { quota: 'servergroup_count', limit: 0 },
        { quota: 'servergroup_count', region_id: 2, limit: 5 },
      ],
    }),
  );
  expect([await limit(1), await limit(2), await refusedBy(2), await refusedBy(1)]).toEqual([0, 5, undefined, 0]);
  const own = `/cloud/v2/regional_quotas/${tenant.clientId}/1`;
  await service.http.patch(own, { servergroup_count_limit: 2 });
  expect([await limit(), await refusedBy(), await refusedBy()]).toEqual([2, undefined, 2]);
  await service.http.patch(own, { servergroup_count_limit: null });
  expect(await limit()).toBe(0);
});

it('begins at its time, and ends with the next one', async () => {
  const future = await made(forTenant({ ...groups(50), valid_from: new Date(at + HOUR).toISOString() }));
  expect(future).toMatchObject({
    scope: 'client',
    client_id: tenant.clientId,
    limits: [{ quota: 'servergroup_count', limit: 50 }],
  });
  expect([await limit(), await refusedBy()]).toEqual([0, 0]);
  at += HOUR;
  expect([await limit(), await refusedBy()]).toEqual([50, undefined]);
  await made(forTenant({ limits: [] }));
  await made({ scope: 'everyone', limits: [] });
  expect([await limit(), await refusedBy()]).toEqual([1000, undefined]);
  expect((await service.http.delete(`${LISTS}/${future.id}`)).status).toBe(409);
  const next = await made(forTenant({ ...groups(0), valid_from: new Date(at + HOUR).toISOString() }));
  expect((await service.http.delete(`${LISTS}/${next.id}`)).status).toBe(204);
  const { body } = await service.http.get(`${LISTS}?scope=client&id=${tenant.clientId}&limit=2`);
  expect(body.results.map(({ limits }: { limits: object[] }) => limits.length)).toEqual([0, 1]);
  expect(body.next_page_token).not.toBeNull();
});

it('limits what has no region', async () => {
  await made(forTenant({ limits: [{ quota: 'project_count', limit: 1 }] }));
  const refused = await tenant.http.post('/cloud/v1/projects', { name: 'another' });
  expect([refused.status, refused.body.info?.limit]).toEqual([403, 1]);
  await made(forTenant({ limits: [] }));
  expect((await tenant.http.post('/cloud/v1/projects', { name: 'another' })).status).toBe(201);
});

it.each([
  [{ quota: 'moons', limit: 1 }, 'limits'],
  [{ quota: 'vm_count', limit: -1 }, 'limits'],
  [{ quota: 'vm_count', limit: 1, region_id: 99 }, 'limits.0.region_id'],
  [{ quota: 'project_count', limit: 1, region_id: 1 }, 'limits.0.region_id'],
])('is refused with %j', async (one, field) => {
  const answer = await service.http.post(LISTS, forTenant({ limits: [one] }));
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(field)]);
});

it('is made by the platform, and read by the reseller', async () => {
  const own = await asResellerOf(service, 1);
  const { id } = await made(forTenant({ limits: [], valid_from: new Date(at + HOUR).toISOString() }));
  expect((await own.get(`${LISTS}/${id}`)).status).toBe(200);
  expect((await own.post(LISTS, forTenant({ limits: [] }))).status).toBe(403);
  expect((await own.delete(`${LISTS}/${id}`)).status).toBe(403);
  const { http } = await addReseller(service, 'Elsewhere');
  expect((await http.get(`${LISTS}/${id}`)).status).toBe(404);
  expect((await http.delete(`${LISTS}/${id}`)).status).toBe(404);
  expect((await http.get(LISTS)).body.results).toEqual([]);
  expect((await tenant.http.get(LISTS)).status).toBe(403);
});
