import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../../test/support/boot-volume.ts';
import type { HttpClient } from '../../../../../test/support/http-client.ts';
import { borrowService, type TestService } from '../../../../../test/support/service.ts';

const I = '/cloud/v1/instances/1/1';

let service: TestService;
let http: HttpClient;
let id: string;
let network: string;
let subnet: string;
beforeAll(async () => {
  service = await borrowService();
  http = service.http;
  const networks = await http.get('/cloud/v1/networks/1/1');
  network = networks.body.results[0].id;
  subnet = networks.body.results[0].subnets[0];
  const accepted = await http.post('/cloud/v2/instances/1/1', {
    name: 'web-1',
    flavor: 'g1-standard-1-2',
    interfaces: [{ type: 'any_subnet', network_id: network, interface_name: 'eth0' }],
    volumes: [{ ...BOOT_VOLUME, delete_on_termination: true }],
  });
  id = (await http.task(accepted.body[0])).created_resources.instances[0];
});
afterAll(() => service.stop());

/** The field takes a whole number. */
const webProfile = (value: unknown) => ({
  ddos_profile: { profile_template: 65, fields: [{ base_field: 272, value }] },
});
const list = async () => (await http.get(`${I}/${id}/interfaces`)).body;
const attach = (body: object) => http.post(`${I}/${id}/attach_interface`, body);
const detach = (body: object) => http.post(`${I}/${id}/detach_interface`, body);

async function done(answer: { status: number; body: string[]; text: string }) {
  expect(answer.status, answer.text).toBe(200);
  const task = await http.task(String(answer.body[0]));
  expect(task.state, task.error).toBe('FINISHED');
  return task;
}

it('lists interfaces with their networks and whole subnets', async () => {
  const { count, results } = await list();
  expect(count).toBe(1);
  expect(results[0]).toMatchObject({
    network_id: network,
    interface_name: 'eth0',
    port_security_enabled: true,
    ip_assignments: [{ subnet_id: subnet }],
    network_details: { id: network, subnets: [{ id: subnet, network_id: network }] },
  });
  const past = await http.get(`${I}/${id}/interfaces?offset=1`);
  expect(past.body).toEqual({ count: 1, results: [] });
});

it('attaches an interface and detaches it again, and its address is free again', async () => {
  const free = async () => (await http.get(`/cloud/v1/subnets/1/1/${subnet}`)).body.available_ips;
  const before = await free();
  const task = await done(
    await attach({ type: 'subnet', network_id: network, subnet_id: subnet, interface_name: 'eth1' }),
  );
  expect(task).toMatchObject({ task_type: 'attach_vm_interface' });
  const [port] = task.created_resources.ports;
  expect(await free()).toBe(before - 1);
  const attached = (await list()).results;
  expect(attached).toMatchObject([{ interface_name: 'eth0' }, { port_id: port, interface_name: 'eth1' }]);
  const ports = await http.get(`${I}/${id}/ports`);
  expect(ports.body.results[1]).toMatchObject({ id: port, security_groups: [{ name: 'default' }] });

  const { ip_address } = attached[1].ip_assignments[0];
  expect(await done(await detach({ port_id: port, ip_address }))).toMatchObject({
    task_type: 'detach_vm_interface',
  });
  expect((await list()).results).toMatchObject([{ interface_name: 'eth0' }]);
  expect(await free()).toBe(before);
  const { body } = await http.get(`${I}/${id}`);
  expect(body).toMatchObject({ status: 'ACTIVE', task_id: null });
});

describe('attaching, as older clients do it', () => {
  const attached = async (body: object) => {
    const answer = await http.post(`/gcore${I}/${id}/attach_interface`, body);
    expect(answer.status, answer.text).toBe(200);
    const task = await http.task(answer.body.tasks[0]);
    expect(task.state, task.error).toBe('FINISHED');
    const made = (await list()).results.at(-1);
    const { ip_address } = made.ip_assignments[0];
    await done(await detach({ port_id: made.port_id, ip_address }));
    return made;
  };
  const PROFILE = { profile_template: 29, fields: [{ base_field: 10, field_value: [45046, 45047] }] };

  it.each([
    ['nothing', () => ({}), true],
    ['a network', () => ({ network_id: network }), false],
    ['a subnet and its network', () => ({ subnet_id: subnet, network_id: network }), false],
    ['a subnet', () => ({ subnet_id: subnet, security_groups: null, interface_name: null }), false],
    ['a subnet and the type', () => ({ type: 'subnet', subnet_id: subnet, security_groups: [] }), false],
    ['a DDoS profile', () => ({ type: 'external', ddos_profile: PROFILE }), true],
    ['a DDoS profile with a number in the older form', () => ({ type: 'external', ...webProfile('0040') }), true],
    ['no DDoS profile', () => ({ network_id: network, ddos_profile: null, port_group: 0 }), false],
  ])('finds the kind of interface from %s', async (_, body, external) => {
    const made = await attached(body());
    expect(made.network_details.external).toBe(external);
  });

  it('takes a reserved address by its port alone', async () => {
    const reserved = await done(await http.post('/cloud/v1/reserved_fixed_ips/1/1', { type: 'external' }));
    const [port_id] = reserved.created_resources.ports;
    expect(await attached({ port_id })).toMatchObject({ port_id });
  });
});

describe('what is refused', () => {
  const unknown = crypto.randomUUID();
  it.each([
    ['network_id', { type: 'any_subnet', network_id: unknown }],
    ['security_groups.0.id', { type: 'external', security_groups: [{ id: unknown }] }],
    ['type', { type: 'wireless' }],
    ['ip_family', { type: 'external', ip_family: 'ipv5' }],
    ['network_id', { type: 'any_subnet' }],
    ['subnet_id', { type: 'subnet', network_id: unknown }],
    ['subnet_id', { subnet_id: unknown }],
    ['port_id', { type: 'reserved_fixed_ip' }],
    ['network_id', { type: 'external', network_id: unknown }],
    ['ip_address', { ip_address: '10.0.0.9' }],
    ['ddos_profile.profile_template', { ddos_profile: { profile_template: 1 } }],
    ['ddos_profile.fields', { ddos_profile: { profile_template: 29 } }],
    [
      'ddos_profile.fields.0.value',
      { ddos_profile: { profile_template: 29, fields: [{ base_field: 10, value: '1' }] } },
    ],
    ['ddos_profile.fields.0.value', webProfile('0')],
    ['ddos_profile.fields.0.value', webProfile('many')],
    ['ddos_profile.fields.0.value', webProfile(40)],
    [
      'ddos_profile.fields.0.value',
      { ddos_profile: { profile_template: 65, fields: [{ base_field: 272, value: '40', field_value: 40 }] } },
    ],
    [
      'ddos_profile.fields.0.field_value',
      { ddos_profile: { profile_template: 65, fields: [{ base_field: 272, field_value: '40' }] } },
    ],
    ['port_group', { type: 'external', port_group: 1 }],
    ['port_group', { type: 'external', port_group: 4 }],
  ])('attaching names %s', async (field, body) => {
    const refused = await attach(body);
    expect(refused.status).toBe(400);
    expect(Object.keys(refused.body.invalid_fields)).toEqual([field]);
    expect((await list()).count).toBe(1);
  });

  it('detaching what is not attached', async () => {
    const [first] = (await list()).results;
    for (const body of [
      { port_id: unknown, ip_address: first.ip_assignments[0].ip_address },
      { port_id: first.port_id, ip_address: '192.0.2.1' },
      { port_id: first.port_id, ip_address: 'here' },
    ]) {
      expect((await detach(body)).status).toBe(400);
    }
    expect((await list()).count).toBe(1);
  });

  it('detaching a port that a task holds', async () => {
    const [first] = (await list()).results;
    const task = crypto.randomUUID();
    await service.pool.query('update ports set task_id = $1 where id = $2', [task, first.port_id]);
    const { port_id } = first;
    const refused = await detach({ port_id, ip_address: first.ip_assignments[0].ip_address });
    await service.pool.query('update ports set task_id = null where id = $1', [port_id]);
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain(task);
    expect((await list()).count).toBe(1);
  });

  it('any change while the instance is suspended', async () => {
    const act = (action: string) => http.post(`/cloud/v2/instances/1/1/${id}/action`, { action });
    await done(await act('suspend'));
    const [first] = (await list()).results;
    const { port_id } = first;
    for (const refused of [
      await attach({ type: 'external' }),
      await detach({ port_id, ip_address: first.ip_assignments[0].ip_address }),
    ]) {
      expect([refused.status, refused.body.message]).toEqual([
        409,
        expect.stringContaining('is suspended (status SUSPENDED)'),
      ]);
    }
    await done(await act('resume'));
    expect((await list()).count).toBe(1);
  });

  it('another one while a task holds the instance', async () => {
    const task = crypto.randomUUID();
    await service.pool.query('update instances set task_id = $1 where id = $2', [task, id]);
    const refused = await attach({ type: 'external' });
    await service.pool.query('update instances set task_id = null where id = $1', [id]);
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain(task);
  });

  it('what is not there', async () => {
    const [first] = (await list()).results;
    const port = { port_id: first.port_id, ip_address: first.ip_assignments[0].ip_address };
    expect((await http.get(`${I}/${unknown}/interfaces`)).status).toBe(404);
    expect((await http.post(`${I}/${unknown}/attach_interface`, { type: 'external' })).status).toBe(404);
    expect((await http.post(`${I}/${unknown}/detach_interface`, port)).status).toBe(404);
    expect((await list()).count).toBe(1);
  });
});
