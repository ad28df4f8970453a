import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../../../../test/support/service.ts';

const FAULTS = '/tradewind/v1/test/faults';

let service: TestService;
let subnet_id: string;
beforeAll(async () => {
  service = await startService({ TRADEWIND_TEST_API: 'true' });
  const network_id = await make('v1/networks', { name: 'office' }, 'networks');
  subnet_id = await make('v1/subnets', { name: 'office', network_id, cidr: '10.81.0.0/24' }, 'subnets');
});
afterAll(() => service.stop());
afterEach(() => service.http.delete(FAULTS));

async function make(family: string, body: object, kind: string): Promise<string> {
  const { status, text, body: answer } = await service.http.post(`/cloud/${family}/1/1`, body);
  expect(status, text).toBe(200);
  const task = await service.http.task(answer[0]);
  expect(task.state, task.error).toBe('FINISHED');
  return task.created_resources[kind][0];
}

const IMAGE = { source: 'image', image_id: 'd30931af-8845-4913-a690-021a990a917f', size: 20 };
const web = (parts: object) => ({ name: 'web', flavor: 'g1-standard-1-2', volumes: [IMAGE], ...parts });
const reserved = () => make('v1/reserved_fixed_ips', { type: 'subnet', subnet_id }, 'ports');
const floatingOn = (port_id: string) => make('v1/floatingips', { port_id }, 'floatingips');
const portOf = async (id: string) => (await service.http.get(`/cloud/v1/floatingips/1/1/${id}`)).body;
const existing = (port_id: string, id: string) => ({
  type: 'reserved_fixed_ip',
  port_id,
  floating_ip: { source: 'existing', existing_floating_id: id },
});

it('a floating IP that is on the port of a new interface already stays there', async () => {
  const port = await reserved();
  const floating = await floatingOn(port);
  const id = await make('v2/instances', web({ interfaces: [existing(port, floating)] }), 'instances');
  expect(await portOf(floating)).toMatchObject({ port_id: port, status: 'ACTIVE', task_id: null });
  // The same for an interface that is attached later.
  const second = await reserved();
  const other = await floatingOn(second);
  const attached = await service.http.post(`/cloud/v1/instances/1/1/${id}/attach_interface`, existing(second, other));
  expect(attached.status, attached.text).toBe(200);
  expect((await service.http.task(attached.body[0])).state).toBe('FINISHED');
  expect(await portOf(other)).toMatchObject({ port_id: second, task_id: null });
});

it('a floating IP on another port is refused as before', async () => {
  const [port, other] = [await reserved(), await reserved()];
  const floating = await floatingOn(other);
  const answer = await service.http.post('/cloud/v2/instances/1/1', web({ interfaces: [existing(port, floating)] }));
  expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('is already assigned to port')]);
});

it('stays there as well if the instance can not be made', async () => {
  const port = await reserved();
  const floating = await floatingOn(port);
  await service.http.post(FAULTS, { task: 'create_vm', do: { fail: 'no host' } });
  const answer = await service.http.post('/cloud/v2/instances/1/1', web({ interfaces: [existing(port, floating)] }));
  expect((await service.http.task(answer.body[0])).state).toBe('ERROR');
  expect(await portOf(floating)).toMatchObject({ port_id: port, task_id: null });
});

it.each([
  [
    'attach_vm_interface',
    async (port: string, floating: string) => {
      const id = await make('v2/instances', web({ interfaces: [{ type: 'external' }] }), 'instances');
      return service.http.post(`/cloud/v1/instances/1/1/${id}/attach_interface`, existing(port, floating));
    },
  ],
  [
    'create_loadbalancer',
    (port: string, floating: string) =>
      service.http.post('/cloud/v1/loadbalancers/1/1', {
        name: 'front',
        flavor: 'lb1-1-2',
        vip_port_id: port,
        floating_ip: { source: 'existing', existing_floating_id: floating },
      }),
  ],
])('stays there as well if %s fails', async (type, begin) => {
  const port = await reserved();
  const floating = await floatingOn(port);
  await service.http.post(FAULTS, { task: type, do: { fail: 'no host' } });
  const answer = await begin(port, floating);
  expect(answer.status, answer.text).toBe(200);
  expect((await service.http.task(answer.body[0])).state).toBe('ERROR');
  expect(await portOf(floating)).toMatchObject({ port_id: port, task_id: null });
});

it('a load balancer may name the floating IP on its port', async () => {
  const port = await reserved();
  const floating = await floatingOn(port);
  await make(
    'v1/loadbalancers',
    {
      name: 'front',
      flavor: 'lb1-1-2',
      vip_port_id: port,
      floating_ip: { source: 'existing', existing_floating_id: floating },
    },
    'loadbalancers',
  );
  expect(await portOf(floating)).toMatchObject({ port_id: port, task_id: null });
});

it('settings of an application are taken within bounds, and kept nowhere: they may have passwords', async () => {
  const configuration = { domain: 'shop.example', replicas: 2, admin: { password: 'Gull-Anchor-47' } };
  const interfaces = [{ type: 'external' }];
  const made = await service.http.post('/cloud/v2/instances/1/1', web({ interfaces, configuration }));
  expect(made.status, made.text).toBe(200);
  const task = await service.http.task(made.body[0]);
  expect(task).toMatchObject({ state: 'FINISHED', data: { name: 'web' } });
  expect(JSON.stringify(task)).not.toContain('Gull-Anchor-47');
  const large = { text: 'x'.repeat(70_000) };
  const refused = await service.http.post('/cloud/v2/instances/1/1', web({ interfaces, configuration: large }));
  expect([refused.status, Object.keys(refused.body.invalid_fields ?? {})]).toEqual([400, ['configuration']]);
});

it('official clients may send what they know of an instance along with its name', async () => {
  const interfaces = [{ type: 'external' }];
  const created = await service.http.post('/gcore/cloud/v2/instances/1/1', web({ interfaces, vm_state: 'active' }));
  expect(created.status, created.text).toBe(200);
  expect(created.headers.get('tradewind-ignored')).toContain('vm_state');
  const id = (await service.http.task(created.body.tasks[0])).created_resources.instances[0];
  const answer = await service.http.patch(`/gcore/cloud/v1/instances/1/1/${id}`, {
    name: 'renamed',
    tags: { tier: 'front' },
    flavor: 'g1-standard-2-4',
    interfaces,
    volumes: [IMAGE],
    vm_state: 'active',
  });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers.get('tradewind-ignored')).toMatch(/flavor.*interfaces.*volumes|vm_state/);
  const { body } = await service.http.get(`/gcore/cloud/v1/instances/1/1/${id}`);
  expect(body).toMatchObject({ name: 'renamed', flavor: { flavor_id: 'g1-standard-1-2' } });
});
