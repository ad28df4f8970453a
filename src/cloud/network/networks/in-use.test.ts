import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../../../../test/support/service.ts';

const FAULTS = '/tradewind/v1/test/faults';

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_TEST_API: 'true' });
});
afterAll(() => service.stop());

async function make(family: string, body: object): Promise<string> {
  const { status, text, body: answer } = await service.http.post(`/cloud/v1/${family}/1/1`, body);
  expect(status, text).toBe(200);
  const task = await service.http.task(answer[0]);
  expect(task.state, task.error).toBe('FINISHED');
  return String(Object.values(task.created_resources).flat()[0]);
}

it('while a load balancer is being deleted, its network may wait for it, but not if its port is reserved and stays', async () => {
  const network_id = await make('networks', { name: 'office' });
  const subnet_id = await make('subnets', { name: 'office', network_id, cidr: '10.83.0.0/24' });
  const port = await make('reserved_fixed_ips', { type: 'subnet', subnet_id });
  const balancer = await make('loadbalancers', { name: 'front', flavor: 'lb1-1-2', vip_port_id: port });
  await service.http.post(FAULTS, { task: 'delete_loadbalancer', do: { hold: true } });
  const going = await service.http.delete(`/cloud/v1/loadbalancers/1/1/${balancer}`);
  expect(going.status, going.text).toBe(200);
  for (const path of [`subnets/1/1/${subnet_id}`, `networks/1/1/${network_id}`]) {
    const refused = await service.http.delete(`/cloud/v1/${path}`);
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(`port ${port}`)]);
  }
  const reserved = await service.http.delete(`/cloud/v1/reserved_fixed_ips/1/1/${port}`);
  expect(reserved.status, reserved.text).toBe(200);
  await service.http.delete(FAULTS);
  const ended = await Promise.all([going, reserved].map(async ({ body }) => (await service.http.task(body[0])).state));
  expect(ended).toEqual(['FINISHED', 'FINISHED']);
  const last = await service.http.delete(`/cloud/v1/networks/1/1/${network_id}`);
  expect(last.status, last.text).toBe(200);
  expect((await service.http.task(last.body[0])).state).toBe('FINISHED');
});
