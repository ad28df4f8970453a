import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Answer, HttpClient } from '../../../../test/support/http-client.ts';
import { infrastructure, specOf } from '../../../../test/support/infrastructure.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const RESERVED = '/cloud/v1/reserved_fixed_ips/1/1';
const BALANCERS = '/cloud/v1/loadbalancers/1/1';

let service: TestService;
let http: HttpClient;
beforeAll(async () => {
  service = await borrowService();
  http = service.http;
});
afterAll(() => service.stop());

async function done({ status, body, text }: Answer) {
  expect(status, text).toBe(200);
  const task = await http.task(body[0] ?? body.tasks[0]);
  expect(task.state, task.error).toBe('FINISHED');
  return task;
}
async function balancer(more: object = {}): Promise<{ id: string; port: string; address: string }> {
  const { created_resources } = await done(await http.post(BALANCERS, { name: 'balancer', ...more }));
  const { body } = await http.get(`${BALANCERS}/${created_resources.loadbalancers[0]}`);
  return { id: body.id, port: body.vip_port_id, address: body.vip_address };
}
const reserve = (port: string) => http.post(RESERVED, { type: 'port', port_id: port });
async function counts() {
  const { rows } = await service.pool.query(
    `select (select count(*) from ports)::int as ports, (select count(*) from ip_assignments)::int as addresses,
      (select coalesce(sum(used), 0) from quota_usage where attribute = 'reserved_fixed_ip_count')::int as used`,
  );
  return { ...rows[0], there: (await infrastructure(service.pool, 'port')).there.length };
}

it('keeps the address of a load balancer that goes, for another one', async () => {
  const before = await counts();
  const first = await balancer();
  const accepted = await http.post(`/gcore${RESERVED}`, { type: 'port', port_id: first.port, is_vip: false });
  expect((await done(accepted)).created_resources).toEqual({ ports: [first.port] });
  const at = `${RESERVED}/${first.port}`;
  expect((await http.get(at)).body).toMatchObject({
    fixed_ip_address: first.address,
    status: 'ACTIVE',
    creator_task_id: accepted.body.tasks[0],
    task_id: null,
    is_external: true,
    reservation: { status: 'in-use', resource_type: 'loadbalancer', resource_id: first.id },
  });
  expect((await specOf(service.pool, 'port', first.port)).wanted).toMatchObject({ reserved: true });
  expect(await counts()).toMatchObject({ used: before.used + 1 });
  expect((await reserve(first.port)).status).toBe(409);
  expect((await http.patch(at, { is_vip: true })).status).toBe(409);

  await done(await http.delete(`${BALANCERS}/${first.id}`));
  expect((await http.get(at)).body).toMatchObject({
    fixed_ip_address: first.address,
    status: 'DOWN',
    reservation: { status: 'available', resource_id: null },
  });
  const second = await balancer({ vip_port_id: first.port });
  expect(second).toMatchObject({ port: first.port, address: first.address });
  // The second one was given it, and has none of its own.
  const refused = await http.delete(at);
  expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining(second.id)]);
  await done(await http.delete(`${BALANCERS}/${second.id}`));
  await done(await http.delete(at));
  await expect.poll(counts).toEqual(before);
});

it('leaves the address to its load balancer when it is given back, and both go', async () => {
  const before = await counts();
  const { id, port, address } = await balancer();
  await done(await reserve(port));
  const task = await done(await http.delete(`${RESERVED}/${port}`));
  expect(task).toMatchObject({ task_type: 'delete_reserved_fixed_ip', data: { port_id: port } });
  expect((await http.get(`${RESERVED}/${port}`)).status).toBe(404);
  expect((await http.get(`${BALANCERS}/${id}`)).body).toMatchObject({
    vip_port_id: port,
    vip_address: address,
  });
  expect((await specOf(service.pool, 'port', port)).wanted).not.toHaveProperty('reserved');
  // It may be reserved again.
  await done(await reserve(port));
  await done(await http.delete(`${RESERVED}/${port}`));
  await done(await http.delete(`${BALANCERS}/${id}`));
  await expect.poll(counts).toEqual(before);
});

it('stays or goes whole when its load balancer goes at the same time', async () => {
  const before = await counts();
  for (let round = 0; round < 6; round++) {
    const { id, port } = await balancer();
    if (round >= 3) await done(await reserve(port));
    const requests = [
      () => (round >= 3 ? http.delete(`${RESERVED}/${port}`) : reserve(port)),
      () => http.delete(`${BALANCERS}/${id}`),
    ];
    const answers = await Promise.all((round % 2 ? requests : requests.toReversed()).map((send) => send()));
    for (const answer of answers) if (answer.status === 200) await done(answer);
    if ((await http.get(`${BALANCERS}/${id}`)).status === 200) {
      await done(await http.delete(`${BALANCERS}/${id}`));
    }
    if ((await http.get(`${RESERVED}/${port}`)).status === 200) {
      await done(await http.delete(`${RESERVED}/${port}`));
    }
  }
  await expect.poll(counts).toEqual(before);
});
