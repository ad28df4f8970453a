import { afterAll, beforeAll, expect, it } from 'vitest';
import { hurried, hurry, specOf } from '../../../../test/support/infrastructure.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const PORTS = '/cloud/v1/ports/1/1';
const GROUPS = '/cloud/v1/securitygroups/1/1';

// The simulation is so slow that no task ends unless the test makes it end.
let service: TestService;
let port: string;
beforeAll(async () => {
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '0.01' });
  const reserved = await service.http.post('/cloud/v1/reserved_fixed_ips/1/1', { type: 'external' });
  port = (await finished(reserved.body[0])).ports[0];
});
afterAll(() => service.stop());

async function finished(taskId: string) {
  const task = await hurried(service.pool, service.http.task(taskId));
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  return task.created_resources;
}
async function group(name: string): Promise<string> {
  const made = await service.http.post(GROUPS, { security_group: { name } });
  expect(made.status, made.text).toBe(200);
  return made.body.id;
}
async function change(wish: object): Promise<string> {
  const answer = await service.http.patch(`${PORTS}/${port}`, wish);
  expect(answer.status, answer.text).toBe(200);
  return answer.body[0];
}
const shown = async () => (await service.http.get(`${PORTS}/${port}`)).body;
const spec = () => specOf(service.pool, 'port', port);
const gone = async (id: string) => {
  await hurry(service.pool);
  return specOf(service.pool, 'security_group', id);
};

it('wants what a port becomes while the port is shown as it was', async () => {
  const id = await group('wished');
  const pairs = [{ ip_address: '10.9.9.9' }];
  const taskId = await change({ security_group_ids: [id], allowed_address_pairs: pairs, tags: { a: 'b' } });
  expect(await shown()).toMatchObject({ security_group_ids: [], allowed_address_pairs: [], tags: {} });
  const wished = { groups: { [id]: true }, addressPairs: [{ ipAddress: '10.9.9.9' }], metadata: { a: 'b' } };
  expect((await spec()).wanted).toMatchObject(wished);
  await finished(taskId);
  expect(await shown()).toMatchObject({ security_group_ids: [id], allowed_address_pairs: pairs });
  expect((await spec()).there).toMatchObject(wished);
});

it('wants what was when the change fails', async () => {
  const before = await shown();
  const taskId = await change({ security_group_ids: [], allowed_address_pairs: [], tags: { a: 'c' } });
  expect((await spec()).wanted).toMatchObject({ groups: {}, addressPairs: [], metadata: { a: 'c' } });
  await service.pool.query(`update tasks set deadline_at = now() - interval '1 second' where id = $1`, [taskId]);
  expect(await service.http.task(taskId)).toMatchObject({ state: 'ERROR' });
  expect(await shown()).toEqual(before);
  const groups = Object.fromEntries(before.security_group_ids.map((id: string) => [id, true]));
  expect((await spec()).wanted).toMatchObject({ groups, metadata: { a: 'b' } });
});

it('does without a group that is deleted meanwhile, which goes', async () => {
  const [kept] = (await shown()).security_group_ids;
  const id = await group('short-lived');
  const taskId = await change({ security_group_ids: [kept, id] });
  expect((await service.http.delete(`${GROUPS}/${id}`)).status).toBe(204);
  await finished(taskId);
  expect((await shown()).security_group_ids).toEqual([kept]);
  expect((await spec()).there?.groups).toEqual({ [kept]: true });
  await expect.poll(() => gone(id)).toEqual({ wanted: undefined, there: undefined });
});

it('goes although a floating IP leads to it, which leads nowhere then', async () => {
  const { results } = (await service.http.get('/cloud/v1/networks/1/1')).body;
  const inside = { type: 'any_subnet', network_id: results[0].id };
  const reserved = await service.http.post('/cloud/v1/reserved_fixed_ips/1/1', inside);
  const [port_id] = (await finished(reserved.body[0])).ports;
  const made = await service.http.post('/cloud/v1/floatingips/1/1', { port_id });
  const [id] = (await finished(made.body[0])).floatingips;
  const url = `/cloud/v1/floatingips/1/1/${id}`;
  expect((await specOf(service.pool, 'floating_ip', id)).there).toHaveProperty('target.portId', port_id);
  const removal = await service.http.delete(`/cloud/v1/reserved_fixed_ips/1/1/${port_id}`);
  expect((await service.http.get(url)).body.port_id).toBe(port_id);
  // A change of the floating IP doesn't keep its port.
  expect((await service.http.put(`${url}/metadata`, { a: 'b' })).status).toBe(204);
  await finished(removal.body[0]);
  expect((await service.http.get(url)).body.port_id).toBeNull();
  const floating = async () => {
    await hurry(service.pool);
    return (await specOf(service.pool, 'floating_ip', id)).there;
  };
  await expect.poll(floating).toEqual({ address: expect.any(String), metadata: { a: 'b' } });
  expect(await specOf(service.pool, 'port', port_id)).toEqual({ wanted: undefined, there: undefined });
});
