import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../../test/support/boot-volume.ts';
import { asResellerOf } from '../../../../../test/support/reseller.ts';
import { startService, type Tenant, type TestService } from '../../../../../test/support/service.ts';

const SOON = { timeout: 30_000 };

let ahead = 0;
let service: TestService;
beforeAll(async () => {
  service = await startService(
    { TRADEWIND_SUSPENSION_STOPS_MACHINES: 'true' },
    { clock: { now: () => new Date(Date.now() + ahead) } },
  );
});
afterAll(() => service.stop());

/** Makes a machine and returns its ID. */
async function newMachine({ http }: Tenant, place: string, body: object = {}): Promise<string> {
  const accepted = await http.post(`/cloud/v2/instances/${place}`, {
    name: 'web',
    flavor: 'g1-standard-1-2',
    interfaces: [{ type: 'external' }],
    volumes: [BOOT_VOLUME],
    ...body,
  });
  expect(accepted.status, accepted.text).toBe(200);
  const task = await http.task(accepted.body[0]);
  expect(task.state, task.error).toBe('FINISHED');
  return task.created_resources.instances[0];
}

/** The states of machines, as the platform administrator sees those of all accounts. */
async function statesOf(ids: readonly string[], on = service): Promise<string[]> {
  const { rows } = await on.pool.query(
    `select vm_state from unnest($1::uuid[]) with ordinality as given (id, place)
      join instances using (id) where task_id is null order by place`,
    [ids],
  );
  return rows.map(({ vm_state }) => vm_state);
}

async function set(what: 'resume' | 'suspend', { clientId }: Tenant, on = service): Promise<void> {
  const answer = await on.http.post(`/tradewind/v1/clients/${clientId}/${what}`);
  expect(answer.status, answer.text).toBe(200);
}

const usedBy = async ({ clientId }: Tenant) =>
  (
    await service.pool.query(
      `select (select count(*)::int from usage_periods where client_id = $1 and ended_at is null) as goes_on,
        (select json_agg(to_jsonb(q) order by to_jsonb(q)::text) from quota_usage as q where client_id = $1) as quotas`,
      [clientId],
    )
  ).rows[0];

const turns = async () => (await service.pool.query('select * from suspension_turns')).rows;

it('stops what runs in all projects and regions, and starts it again, but not what was stopped by hand', async () => {
  const tenant = await service.otherTenant();
  const { http, projectId } = tenant;
  const second = (await http.post('/cloud/v1/projects', { name: 'Second' })).body.id;
  const here = await newMachine(tenant, `${projectId}/1`);
  const there = await newMachine(tenant, `${second}/2`);
  const byHand = await newMachine(tenant, `${projectId}/1`);
  const [stopping] = (await http.post(`/cloud/v2/instances/${projectId}/1/${byHand}/action`, { action: 'stop' })).body;
  expect(await http.task(stopping)).toMatchObject({ state: 'FINISHED' });
  const neighbour = await service.otherTenant();
  const foreign = await newMachine(neighbour, `${neighbour.projectId}/1`);
  const before = await usedBy(tenant);

  await set('suspend', tenant);
  await expect.poll(() => statesOf([here, there, byHand]), SOON).toEqual(['stopped', 'stopped', 'stopped']);
  await expect.poll(turns, SOON).toEqual([]);
  expect(await statesOf([foreign])).toEqual(['active']);
  expect(await usedBy(tenant)).toEqual(before);

  await set('resume', tenant);
  await expect.poll(() => statesOf([here, there, byHand]), SOON).toEqual(['active', 'active', 'stopped']);
  await expect.poll(turns, SOON).toEqual([]);
  const { body } = await http.get(`/tradewind/v1/events?cursor=oldest&subject=instance/${there}`);
  const told = body.events.map(({ type, data }: { type: string; data: object }) => ({ type, ...data }));
  expect(told).toMatchObject([
    { type: 'tradewind.instance.created' },
    { type: 'tradewind.instance.stopped', actor: null, reason: 'Its account is suspended', region_id: 2 },
    { type: 'tradewind.instance.started', actor: null, reason: 'Its account is no longer suspended' },
  ]);
});

it('stops what is busy or locked as soon as it is not, also after the worker has died', async () => {
  const tenant = await service.otherTenant();
  const place = `${tenant.projectId}/1`;
  const [free, busy, locked] = [
    await newMachine(tenant, place),
    await newMachine(tenant, place),
    await newMachine(tenant, place),
  ];
  await service.pool.query('update instances set task_id = $2 where id = $1', [busy, randomUUID()]);
  const other = await service.pool.connect();
  await other.query('begin');
  await other.query('select from instances where id = $1 for update', [locked]);
  await set('suspend', tenant);
  await expect.poll(() => statesOf([free, locked]), SOON).toEqual(['stopped', 'active']);
  // As if a worker had just taken the turn.
  await other.query(`update suspension_turns set try_at = $1`, [new Date(Date.now() + ahead + 3_600_000)]);
  await other.query('commit');
  other.release();
  expect(await statesOf([free, locked])).toEqual(['stopped', 'active']);
  ahead += 3_600_000;
  await expect.poll(() => statesOf([free, locked]), SOON).toEqual(['stopped', 'stopped']);
  await service.pool.query('update instances set task_id = null where id = $1', [busy]);
  await expect
    .poll(() => {
      ahead += 10_000;
      return statesOf([busy]);
    }, SOON)
    .toEqual(['stopped']);
});

it('stops a machine whose host is gone once it is back, and starts one again that first failed to', async () => {
  const tenant = await service.otherTenant();
  const machine = await newMachine(tenant, `${tenant.projectId}/1`);
  const become = (doing: string) =>
    service.pool.query('update simulated_objects set doing = $2, takes_ms = 0 where id = $1', [machine, doing]);
  const state = async () => {
    ahead += 10_000;
    return (await statesOf([machine]))[0];
  };
  const failed = async (type: string) => {
    ahead += 10_000;
    const { rows } = await service.pool.query(
      `select from tasks where task_type = $1 and state = 'ERROR' and input ->> 'instanceId' = $2`,
      [type, machine],
    );
    return rows.length > 0;
  };
  await become('host_gone');
  await expect.poll(state, SOON).toBe('error');
  await set('suspend', tenant);
  await expect.poll(() => failed('stop_vm'), SOON).toBe(true);
  await become('changing');
  await expect.poll(state, SOON).toBe('stopped');
  await become('host_gone');
  await set('resume', tenant);
  await expect.poll(() => failed('start_vm'), SOON).toBe(true);
  await become('changing');
  await expect.poll(state, SOON).toBe('active');
});

it('leaves alone what somebody has started, stopped or resized since', async () => {
  const tenant = await service.otherTenant();
  const place = `${tenant.projectId}/1`;
  const [restarted, resized] = [await newMachine(tenant, place), await newMachine(tenant, place)];
  await set('suspend', tenant);
  await expect.poll(() => statesOf([restarted, resized]), SOON).toEqual(['stopped', 'stopped']);
  await expect.poll(turns, SOON).toEqual([]);
  for (const action of ['start', 'stop']) {
    const { body } = await service.http.post(`/cloud/v2/instances/${place}/${restarted}/action`, { action });
    expect(await service.http.task(body[0])).toMatchObject({ state: 'FINISHED' });
  }
  const change = { flavor_id: 'g1-standard-2-4' };
  const { body } = await service.http.post(`/cloud/v1/instances/${place}/${resized}/changeflavor`, change);
  expect(await service.http.task(body[0])).toMatchObject({ state: 'FINISHED' });
  await set('resume', tenant);
  await expect.poll(turns, SOON).toEqual([]);
  expect(await statesOf([restarted, resized])).toEqual(['stopped', 'stopped']);
});

it('forgets what it has begun if the account is resumed meanwhile, or deleted', async () => {
  const [resumed, doomed] = [await service.otherTenant(), await service.otherTenant()];
  const machine = await newMachine(resumed, `${resumed.projectId}/1`);
  await newMachine(doomed, `${doomed.projectId}/1`);
  await set('suspend', resumed);
  await set('resume', resumed);
  await expect
    .poll(async () => {
      ahead += 10_000;
      return [await turns(), await statesOf([machine])];
    }, SOON)
    .toEqual([[], ['active']]);
  const path = `/tradewind/v1/clients/${doomed.clientId}/deletion`;
  const { confirmation } = (await service.http.post(path, {})).body;
  const { task_id } = (await service.http.post(path, { confirmation })).body;
  expect(await service.http.task(task_id)).toMatchObject({ state: 'FINISHED' });
  await expect.poll(turns, SOON).toEqual([]);
});

it('says what an account has, what stops and what it costs, to the account, its reseller and the platform', async () => {
  const tenant = await service.otherTenant();
  const { http, clientId, projectId } = tenant;
  await newMachine(tenant, `${projectId}/1`);
  await newMachine(tenant, `${projectId}/1`);
  const metal = await newMachine(tenant, `${projectId}/1`);
  await service.pool.query(`update instances set flavor_id = 'bm1-infra-medium' where id = $1`, [metal]);
  const path = `/tradewind/v1/clients/${clientId}/running_costs`;
  const { body } = await http.get(path);
  expect(body).toMatchObject({ client_id: clientId, status: 'active', suspension_stops_machines: true });
  const line = (type: string) => body.lines.find((one: { type: string }) => one.type === type);
  expect(line('instance')).toMatchObject({ region_id: 1, count: 2, machines_on: 2, stops_on_suspension: 2 });
  expect(line('baremetal')).toMatchObject({ kind: 'bm1-infra-medium', count: 1, stops_on_suspension: 1 });
  expect(line('volume')).toMatchObject({ machines_on: null, amount: expect.any(Number) });
  const sum = body.lines.reduce((total: number, one: { price_per_hour: number }) => total + one.price_per_hour, 0);
  expect(sum).toBeGreaterThan(0);
  expect(body.price_per_hour).toBeCloseTo(sum, 8);
  expect(body.price_per_month).toBeCloseTo(sum * 720, 6);

  await set('suspend', tenant);
  await expect.poll(turns, SOON).toEqual([]);
  const reseller = await asResellerOf(service, 1);
  const paused = (await reseller.get(path)).body;
  expect(paused).toMatchObject({ status: 'paused', price_per_month: body.price_per_month });
  expect(paused.lines).toMatchObject(
    body.lines.map(({ machines_on, price_per_hour }: { machines_on: number | null; price_per_hour: number }) => ({
      machines_on: machines_on === null ? null : 0,
      price_per_hour,
    })),
  );
  const stranger = await service.otherTenant();
  expect((await stranger.http.get(path)).status).toBe(404);
});

it('lets everything run on without the setting', async () => {
  const plain = await startService();
  try {
    const tenant = await plain.otherTenant();
    const machine = await newMachine(tenant, `${tenant.projectId}/1`);
    await set('suspend', tenant, plain);
    await expect.poll(async () => (await plain.pool.query('select from suspension_turns')).rowCount, SOON).toBe(0);
    expect(await statesOf([machine], plain)).toEqual(['active']);
    const { body } = await plain.http.get(`/tradewind/v1/clients/${tenant.clientId}/running_costs`);
    expect(body).toMatchObject({ status: 'paused', suspension_stops_machines: false });
  } finally {
    await plain.stop();
  }
});
