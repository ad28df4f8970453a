import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../../test/support/service.ts';

const GROUPS = '/cloud/v1/securitygroups/1/1';
const INSTANCES = '/cloud/v1/instances/1/1';

let service: TestService;
let instance: string;
let ports: string[];
beforeAll(async () => {
  service = await borrowService();
  const first = async (path: string) => (await service.http.get(path)).body.results[0].id;
  const network_id = await first('/cloud/v1/networks/1/1');
  const accepted = await service.http.post('/cloud/v2/instances/1/1', {
    name: 'two ports',
    flavor: 'g1-standard-1-2',
    interfaces: [
      { type: 'any_subnet', network_id },
      { type: 'any_subnet', network_id },
    ],
    volumes: [{ source: 'image', image_id: await first('/cloud/v1/images/1/1'), size: 20 }],
  });
  if (accepted.status !== 200) throw new Error(accepted.text);
  const task = await service.http.task(accepted.body[0]);
  if (task.state !== 'FINISHED') throw new Error(task.error);
  const [id] = task.created_resources.instances;
  instance = `${INSTANCES}/${id}`;
  ports = (await portList()).map((port) => port.id);
});
afterAll(() => service.stop());

async function portList(): Promise<{ id: string; security_groups: { name: string }[] }[]> {
  return (await service.http.get(`${instance}/ports`)).body.results;
}
/** Returns the names of the groups on each port. */
const onPorts = async () => (await portList()).map((port) => port.security_groups.map(({ name }) => name));
async function group() {
  const name = `group ${randomUUID().slice(0, 8)}`;
  const { body } = await service.http.post(GROUPS, { security_group: { name } });
  return { name, id: body.id };
}
const add = (body: object) => service.http.post(`${instance}/addsecuritygroup`, body);
const remove = (body: object) => service.http.post(`${instance}/delsecuritygroup`, body);

describe('groups on an instance', () => {
  it('go on all ports by name, twice without a difference, and off again', async () => {
    const { name, id } = await group();
    expect((await add({ name })).status).toBe(204);
    expect((await add({ name })).status).toBe(204);
    expect(await onPorts()).toEqual([
      ['default', name],
      ['default', name],
    ]);
    const listed = (await service.http.get(`${instance}/securitygroups`)).body;
    expect(listed).toEqual({
      count: 2,
      results: [
        { id: expect.any(String), name: 'default' },
        { id, name },
      ],
    });
    const inUse = await service.http.delete(`${GROUPS}/${id}`);
    expect(inUse.status).toBe(409);
    for (const port of ports) expect(inUse.body.message).toContain(port);
    expect((await remove({ name })).status).toBe(204);
    expect((await remove({ name })).status).toBe(204);
    expect(await onPorts()).toEqual([['default'], ['default']]);
    expect((await service.http.delete(`${GROUPS}/${id}`)).status).toBe(204);
  });

  it('go on one port, or on all with null', async () => {
    const [one, other] = [await group(), await group()];
    const body = {
      ports_security_group_names: [
        { port_id: ports[1], security_group_names: [one.name] },
        { port_id: null, security_group_names: [other.name, other.name] },
      ],
    };
    expect((await add(body)).status).toBe(204);
    expect(await onPorts()).toEqual([
      ['default', other.name],
      ['default', ...[one.name, other.name].sort()],
    ]);
    expect((await remove(body)).status).toBe(204);
    expect(await onPorts()).toEqual([['default'], ['default']]);
  });

  it('are refused by field when they or the port are unknown, and the request does nothing', async () => {
    const { name } = await group();
    const strange = await add({
      ports_security_group_names: [
        { port_id: null, security_group_names: [name] },
        { port_id: randomUUID(), security_group_names: ['nobody'] },
      ],
    });
    expect(strange.status).toBe(400);
    expect(Object.keys(strange.body.invalid_fields)).toEqual([
      'ports_security_group_names.1.port_id',
      'ports_security_group_names.1.security_group_names.0',
    ]);
    expect((await add({ name: 'nobody' })).body.invalid_fields).toHaveProperty('name');
    expect((await add({})).status).toBe(400);
    expect((await add({ name, ports_security_group_names: [] })).status).toBe(400);
    expect(await onPorts()).toEqual([['default'], ['default']]);
    expect((await service.http.post(`${INSTANCES}/${randomUUID()}/addsecuritygroup`, { name })).status).toBe(404);
    expect((await service.http.get(`${INSTANCES}/${randomUUID()}/securitygroups`)).status).toBe(404);
  });

  it('are refused on a port whose security is off or that a task holds', async () => {
    const { name } = await group();
    const body = { ports_security_group_names: [{ port_id: ports[0], security_group_names: [name] }] };
    const task = randomUUID();
    for (const [change, text] of [
      ['port_security_enabled = false', 'port security'],
      [`task_id = '${task}'`, task],
    ]) {
      await service.pool.query(`update ports set ${change} where id = $1`, [ports[0]]);
      const refused = await add(body);
      const made = await service.http.post(GROUPS, {
        security_group: { name: `${name} too` },
        instances: [instance.split('/').at(-1)],
      });
      await service.pool.query('update ports set port_security_enabled = true, task_id = null where id = $1', [
        ports[0],
      ]);
      for (const { status, body: error } of [refused, made]) {
        expect(status).toBe(409);
        expect(error.message).toContain(ports[0]);
        expect(error.message).toContain(text);
      }
    }
    expect(await onPorts()).toEqual([['default'], ['default']]);
  });

  it('stay on a port that a task holds', async () => {
    const task = randomUUID();
    await service.pool.query('update ports set task_id = $1 where id = $2', [task, ports[0]]);
    const refused = await remove({ name: 'default' });
    await service.pool.query('update ports set task_id = null where id = $1', [ports[0]]);
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining(task)]);
    expect(await onPorts()).toEqual([['default'], ['default']]);
  });

  it('are ten at most on a port, even when many come at once', async () => {
    const names = (await Promise.all(Array.from({ length: 14 }, group))).map((one) => one.name);
    const to = (security_group_names: string[]) => ({
      ports_security_group_names: [{ port_id: ports[0], security_group_names }],
    });
    expect((await add(to(names.slice(0, 10)))).status).toBe(409);
    const answers = await Promise.all(names.map((name) => add(to([name]))));
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(9);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(5);
    const [first] = await onPorts();
    expect(first).toHaveLength(10);
    expect((await add(to(first ?? []))).status).toBe(204);
    expect((await remove(to(names))).status).toBe(204);
    expect(await onPorts()).toEqual([['default'], ['default']]);
  });

  it('show which instances have them', async () => {
    const { name, id } = await group();
    const instances = async () => (await service.http.get(`${GROUPS}/${id}/instances`)).body;
    expect(await instances()).toEqual({ count: 0, results: [] });
    await add({ ports_security_group_names: [{ port_id: ports[0], security_group_names: [name] }] });
    const { results, count } = await instances();
    expect(count).toBe(1);
    expect(results).toMatchObject([{ name: 'two ports', security_groups: [{ name: 'default' }, { name }] }]);
    expect((await service.http.get(`${GROUPS}/${randomUUID()}/instances`)).status).toBe(404);
    await remove({ name });
  });

  it('never fail with a 500 when a group is removed while it is put on', async () => {
    for (let round = 0; round < 5; round++) {
      const { name, id } = await group();
      const answers = await Promise.all([add({ name }), service.http.delete(`${GROUPS}/${id}`)]);
      const statuses = answers.map(({ status }) => status);
      expect([
        [204, 409],
        [204, 204],
        [400, 204],
        [409, 204],
      ]).toContainEqual(statuses);
      expect((await onPorts()).flat().includes(name)).toBe(statuses[1] === 409);
    }
  });
});
