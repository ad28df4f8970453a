import { afterAll, beforeAll, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

async function make(family: string, body: object): Promise<string> {
  const { status, text, body: answer } = await service.http.post(`/cloud/v1/${family}/1/1`, body);
  expect(status, text).toBe(200);
  const task = await service.http.task(answer[0]);
  expect(task.state, task.error).toBe('FINISHED');
  return String(Object.values(task.created_resources).flat()[0]);
}

const subnet = async (cidr: string) =>
  make('subnets', { name: 'shared', network_id: await make('networks', { name: 'shared' }), cidr });

const addressOf = async (id: string) => {
  const { body } = await service.http.get(`/cloud/v1/routers/1/1/${id}`);
  return body.interfaces.map(
    ({ ip_assignments: [one] }: { ip_assignments: { ip_address: string }[] }) => one?.ip_address,
  );
};

it('a router takes a free address where another one has that of the gateway', async () => {
  const subnet_id = await subnet('10.66.0.0/29');
  const first = await make('routers', { name: 'second', interfaces: [{ type: 'subnet', subnet_id }] });
  const [address] = await addressOf(first);
  expect(address).toMatch(/^10\.66\.0\.[2-6]$/);
  const attached = await service.http.post(`/cloud/v1/routers/1/1/${await make('routers', { name: 'third' })}/attach`, {
    subnet_id,
  });
  expect(attached.status, attached.text).toBe(200);
  const [other] = await addressOf(attached.body.id);
  expect(other).toMatch(/^10\.66\.0\.[2-6]$/);
  expect(other).not.toBe(address);
  const named = await service.http.post(`/cloud/v1/routers/1/1/${await make('routers', { name: 'fourth' })}/attach`, {
    subnet_id,
    ip_address: '10.66.0.1',
  });
  expect([named.status, named.text]).toEqual([409, expect.stringContaining('Another router has the address')]);
  // The address is free again once the router is gone.
  const free = async () => (await service.http.get(`/cloud/v1/subnets/1/1/${subnet_id}`)).body.available_ips;
  const before = await free();
  const removed = await service.http.delete(`/cloud/v1/routers/1/1/${first}`);
  await service.http.task(removed.body[0]);
  expect(await free()).toBe(before + 1);
});

it('a subnet without a gateway needs an address', async () => {
  const network_id = await make('networks', { name: 'closed', create_router: false });
  const subnet_id = await make('subnets', {
    name: 'closed',
    network_id,
    cidr: '10.67.0.0/24',
    gateway_ip: null,
    connect_to_network_router: false,
  });
  const answer = await service.http.post('/cloud/v1/routers/1/1', {
    name: 'none',
    interfaces: [{ type: 'subnet', subnet_id }],
  });
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('has no gateway address')]);
});
