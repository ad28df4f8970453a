import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alreadyThere, hurried, hurry, infrastructure, specOf } from '../../../../test/support/infrastructure.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const V1 = '/cloud/v1/floatingips/1/1';
const V2 = '/cloud/v2/floatingips/1/1';

// The simulation is so slow that no task ends unless the test makes it end.
let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '0.01' });
});
afterAll(() => service.stop());

const get = async (id: string) => (await service.http.get(`${V1}/${id}`)).body;

async function overrun(taskId: string) {
  await service.pool.query(`update tasks set deadline_at = now() - interval '1 second' where id = $1`, [taskId]);
  expect(await service.http.task(taskId)).toMatchObject({ state: 'ERROR' });
}

/** Inserts a port without a task. */
async function port(address: string): Promise<{ port_id: string; fixed_ip_address: string }> {
  const { rows } = await service.pool.query(
    `with subnet as (
       select subnets.id, network_id from subnets join networks on networks.id = network_id
       where project_id = 1 and region_id = 1 and is_default limit 1),
     port as (
       insert into ports (id, network_id, project_id, region_id, name, position, reserved, port_security_enabled, tags, created_at, updated_at)
       select gen_random_uuid(), network_id, 1, 1, 'kept', 0, true, true, '{}', now(), now() from subnet returning id)
     insert into ip_assignments (subnet_id, address, port_id) select subnet.id, $1, port.id from subnet, port
     returning port_id`,
    [address],
  );
  return { port_id: rows[0].port_id, fixed_ip_address: address };
}

/** Inserts a floating IP without a task. */
async function floatingIp(address: string, target: Awaited<ReturnType<typeof port>> | null): Promise<string> {
  const { rows } = await service.pool.query(
    `insert into floating_ips (id, project_id, region_id, address, port_id, fixed_address, tags, creator_task_id, created_at, updated_at)
     values (gen_random_uuid(), 1, 1, $1, $2, $3, '{"env": "a"}', gen_random_uuid(), now(), now()) returning id`,
    [address, target?.port_id ?? null, target?.fixed_ip_address ?? null],
  );
  const { port_id: portId = '', fixed_ip_address: fixedAddress = '' } = target ?? {};
  await alreadyThere(service.pool, 'floating_ip', rows[0].id, {
    address,
    ...(target && { target: { portId, fixedAddress } }),
    metadata: { env: 'a' },
  });
  return rows[0].id;
}

const wanted = async (id: string) => (await specOf(service.pool, 'floating_ip', id)).wanted;

it('a creation that fails leaves nothing', async () => {
  const before = await infrastructure(service.pool, 'floating_ip');
  const answer = await service.http.post(V1, {});
  expect(answer.status, answer.text).toBe(200);
  const there = async () => (await infrastructure(service.pool, 'floating_ip')).there.length;
  await expect.poll(there).toBe(before.there.length + 1);
  await overrun(answer.body[0]);
  const after = async () => {
    await hurry(service.pool);
    return infrastructure(service.pool, 'floating_ip');
  };
  await expect.poll(after).toEqual(before);
  const { rows } = await service.pool.query('select from floating_ips');
  expect(rows).toEqual([]);
});

it('an update that fails gives back what was', async () => {
  const [former, next] = [await port('10.0.8.1'), await port('10.0.8.2')];
  const id = await floatingIp('198.18.9.1', former);
  const answer = await service.http.patch(`${V2}/${id}`, { ...next, tags: { env: 'b' } });
  expect(answer.status, answer.text).toBe(200);
  const [task] = answer.body;
  expect(await get(id)).toMatchObject({ ...next, task_id: task, tags: [{ value: 'b' }] });
  expect(await wanted(id)).toMatchObject({ target: { portId: next.port_id }, metadata: { env: 'b' } });
  for (const refused of [
    await service.http.patch(`${V2}/${id}`, former),
    await service.http.put(`${V1}/${id}/metadata`, {}),
    await service.http.delete(`${V1}/${id}`),
  ]) {
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining(task)]);
  }
  await overrun(task);
  expect(await get(id)).toMatchObject({ ...former, task_id: null, tags: [{ value: 'a' }] });
  expect(await wanted(id)).toMatchObject({ target: { portId: former.port_id }, metadata: { env: 'a' } });
});

it('and leads nowhere where another has taken the address meanwhile, or the port is gone', async () => {
  const [former, gone, next] = [await port('10.0.8.3'), await port('10.0.8.4'), await port('10.0.8.5')];
  const ids = [await floatingIp('198.18.9.2', former), await floatingIp('198.18.9.3', gone)];
  const other = await floatingIp('198.18.9.4', null);
  for (const [index, id] of ids.entries()) {
    const answer = await service.http.patch(`${V2}/${id}`, index === 0 ? next : { port_id: null });
    expect(answer.status, answer.text).toBe(200);
    await service.pool.query('update floating_ips set port_id = $1, fixed_address = $2 where id = $3', [
      former.port_id,
      former.fixed_ip_address,
      other,
    ]);
    if (index === 1) {
      await service.pool.query('delete from ip_assignments where port_id = $1', [gone.port_id]);
      await service.pool.query('delete from ports where id = $1', [gone.port_id]);
    }
    await overrun(answer.body[0]);
    expect(await get(id)).toMatchObject({ port_id: null, fixed_ip_address: null, status: 'DOWN' });
    expect(await wanted(id)).not.toHaveProperty('target');
  }
});

describe('a conversion that fails', () => {
  const quota = async () =>
    (await service.pool.query(`select attribute, used from quota_usage where client_id = 1 and used > 0 order by 1`))
      .rows;

  async function converting() {
    const made = await service.http.post(V1, {});
    const task = await hurried(service.pool, service.http.task(made.body[0]));
    const id: string = task.created_resources.floatingips[0];
    const before = await quota();
    const answer = await service.http.post(`${V1}/${id}/convert`, { target_type: 'reserved_fixed_ip' });
    expect(answer.status, answer.text).toBe(200);
    return { id, before, taskId: String(answer.body[0]) };
  }

  it('leaves the floating IP and its quota', async () => {
    const { id, before, taskId } = await converting();
    const refused = await service.http.delete(`${V1}/${id}`);
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining(taskId)]);
    await overrun(taskId);
    expect(await get(id)).toMatchObject({ task_id: null, status: 'DOWN' });
    expect(await quota()).toEqual(before);
    await expect.poll(() => wanted(id)).toMatchObject({ metadata: {} });
  });

  it('brings the floating IP back when it has gone already', async () => {
    const { id, before, taskId } = await converting();
    const making = async () => {
      // The port that follows must not be there too soon.
      await hurry(service.pool, id);
      const { rows } = await service.pool.query(
        `select id from simulated_objects where kind = 'port' and spec ->> 'formerFloatingIpId' = $1`,
        [id],
      );
      return rows.length;
    };
    await expect.poll(making).toBe(1);
    await overrun(taskId);
    expect(await quota()).toEqual(before);
    const back = async () => {
      await hurry(service.pool);
      const { rows } = await service.pool.query(
        `select id from simulated_objects where kind = 'port' and spec ->> 'formerFloatingIpId' = $1`,
        [id],
      );
      return { ports: rows, ...(await specOf(service.pool, 'floating_ip', id)) };
    };
    const { floating_ip_address: address } = await get(id);
    const spec = { address, metadata: {} };
    await expect.poll(back).toEqual({ ports: [], wanted: spec, there: spec });
  });
});
