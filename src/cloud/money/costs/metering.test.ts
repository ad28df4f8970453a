import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { meteringNever } from '../../../../test/acceptance/concurrency/metering-invariants.ts';
import { clusterParts, GPU_POOL, makeCluster, POOL } from '../../../../test/support/clusters.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { type Database, openDatabase } from '../../../db/database.ts';

/** Tables of projects' resources that cost nothing, or that cost as part of something else. */
const FREE: Record<string, string> = {
  ddos_profiles: 'the price of the protection is not metered; docs/billing.md says so',
  kubernetes_clusters: 'its nodes are instances',
  lifecycle_policies: 'its snapshots cost something',
  logging_services: 'its topics cost something',
  networks: 'costs nothing',
  ports: 'its public addresses cost something',
  routers: 'costs nothing',
  secrets: 'costs nothing',
  waiting_deletions: 'are tasks',
  security_groups: 'costs nothing',
  server_groups: 'costs nothing',
  ...Object.fromEntries(
    ['listeners', 'pools', 'members', 'l7_policies', 'l7_rules'].map((part) => [
      `lb_${part}`,
      'is part of a load balancer',
    ]),
  ),
  tasks: 'is no resource',
  usage_periods: 'is the metering itself',
  user_actions: 'is no resource',
  wants: 'is what is wanted of infrastructure',
};

let at = new Date('2026-03-10T12:00:00.700Z');
let service: TestService;
let clocked: Database;
beforeAll(async () => {
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '1000' }, { clock: { now: () => at } });
  clocked = openDatabase(service.pool.options, 2, { clock: { now: () => at } });
});
afterAll(async () => {
  await clocked.close();
  await service.stop();
});

const V = '/cloud/v1/volumes/1/1';

async function taskOf(method: 'post' | 'delete' | 'patch', path: string, body?: object) {
  const answer = await service.http[method](path, body as object);
  expect(answer.status, answer.text).toBe(200);
  const task = await service.http.task(String(answer.body.tasks?.[0] ?? answer.body[0]));
  expect(task.state, task.error).toBe('FINISHED');
  return task;
}

async function newVolume(size = 5): Promise<string> {
  const { created_resources } = await taskOf('post', V, { source: 'new-volume', name: 'disk', size });
  return created_resources.volumes[0];
}

/** Returns the periods of a resource as `size from to`, in order. */
async function periodsOf(id: string) {
  const { rows } = await service.pool.query(
    `select type, sku, amount, name, client_id, to_char(started_at at time zone 'UTC', 'HH24:MI:SS') as from,
       to_char(ended_at at time zone 'UTC', 'HH24:MI:SS') as to
     from usage_periods where resource_id = $1 order by started_at`,
    [id],
  );
  return rows.map(({ type, sku, amount, from, to }) => `${type} ${sku} ${amount} ${from} ${to ?? ''}`.trim());
}

const later = (text: string) => {
  at = new Date(`2026-03-10T${text}Z`);
};

it('leaves out no table of resources', async () => {
  const { rows } = await service.pool.query(
    `select table_name as name, exists (
       select from pg_trigger join pg_proc on pg_proc.oid = tgfoid
       where tgrelid = table_name::regclass and proname = 'meter') as metered
     from information_schema.columns
     where table_schema = 'public' and column_name = 'project_id' and table_name !~ '_(default|\\d{4}_q\\d)$'
       and exists (select from information_schema.columns as other
         where other.table_name = columns.table_name and other.column_name = 'region_id')`,
  );
  const unmetered: string[] = rows.filter(({ metered }) => !metered).map(({ name }) => name);
  // A new table needs a trigger like those of migrations/0059_metering.ts, or a reason here.
  expect(unmetered.toSorted()).toEqual(Object.keys(FREE).toSorted());
});

describe('a volume', () => {
  it('counts from when it is made until its removal is accepted, in full seconds', async () => {
    const id = await newVolume();
    later('12:30:00.400');
    await taskOf('post', `${V}/${id}/extend`, { size: 8 });
    later('13:00:00');
    await service.http.patch(`${V}/${id}`, { name: 'renamed' });
    later('13:00:00.999');
    await taskOf('post', `${V}/${id}/retype`, { volume_type: 'ssd_hiiops' }).catch(() => {});
    later('14:00:00');
    await taskOf('delete', `${V}/${id}`);
    const kinds = await periodsOf(id);
    expect(kinds).toEqual([
      'volume standard 5 12:00:00 12:30:00',
      'volume standard 8 12:30:00 13:00:00',
      'volume ssd_hiiops 8 13:00:00 14:00:00',
    ]);
  });

  it('that is gone within a second is free, and one that fails as well', async () => {
    later('14:00:00.100');
    const id = await newVolume();
    later('14:00:00.900');
    await taskOf('delete', `${V}/${id}`);
    expect(await periodsOf(id)).toEqual([]);
  });

  it('counts no second twice when the clock goes back', async () => {
    later('15:00:00');
    const id = await newVolume();
    later('16:00:00');
    await taskOf('post', `${V}/${id}/extend`, { size: 8 });
    later('15:30:00');
    await taskOf('post', `${V}/${id}/extend`, { size: 9 });
    expect(await periodsOf(id)).toEqual(['volume standard 5 15:00:00 16:00:00', 'volume standard 9 16:00:00']);
    later('17:00:00');
    await taskOf('delete', `${V}/${id}`);
    expect((await periodsOf(id)).at(-1)).toBe('volume standard 9 16:00:00 17:00:00');
  });

  it('leaves nothing when its transaction fails', async () => {
    const id = await newVolume();
    const before = await periodsOf(id);
    const failing = clocked.transaction(async (tx) => {
      await tx.client.query('update volumes set size_gib = 99 where id = $1', [id]);
      throw new Error('after the change');
    });
    await expect(failing).rejects.toThrow('after the change');
    expect(await periodsOf(id)).toEqual(before);
    await clocked.transaction((tx) => tx.client.query('update volumes set size_gib = 99 where id = $1', [id]));
    expect((await periodsOf(id)).at(-1)).toContain('volume standard 99');
  });

  it('has the time of the database where the process names none, as earlier releases do', async () => {
    const { rows } = await service.pool.query(`select abs(extract(epoch from tradewind_now() - now())) < 60 as now`);
    expect(rows).toEqual([{ now: true }]);
  });
});

it('a public address counts while a port has it, whichever way it gets it', async () => {
  later('18:00:00');
  const { created_resources } = await taskOf('post', '/cloud/v1/reserved_fixed_ips/1/1', {
    type: 'external',
    ip_family: 'dual',
  });
  const portId = created_resources.ports[0];
  const found = () =>
    service.pool.query(
      `select type, details ->> 'ip_address' as address, ended_at from usage_periods
       where details ->> 'port_id' = $1 or type = 'floatingip' order by started_at`,
      [portId],
    );
  const { rows } = await found();
  expect(rows).toMatchObject([{ type: 'external_ip', ended_at: null }]);
  later('18:10:00');
  await taskOf('delete', `/cloud/v1/reserved_fixed_ips/1/1/${portId}`);
  expect((await found()).rows).toMatchObject([{ ended_at: at }]);

  const made = await taskOf('post', '/cloud/v1/reserved_fixed_ips/1/1', { type: 'external' });
  const other = made.created_resources.ports[0];
  later('18:20:00');
  await taskOf('post', `/gcore/cloud/v1/reserved_fixed_ips/1/1/${other}/convert`, {
    target_type: 'floating_ip',
  });
  const converted = await service.pool.query(
    `select type, started_at, ended_at from usage_periods
     where details ->> 'ip_address' = (select host(address) from floating_ips) and started_at >= '2026-03-10T18:10:00Z'
     order by started_at`,
  );
  expect(converted.rows).toEqual([
    { type: 'external_ip', started_at: new Date('2026-03-10T18:10:00Z'), ended_at: at },
    { type: 'floatingip', started_at: at, ended_at: null },
  ]);
});

it('nodes, their disks and addresses count like any others, and a log topic by its size', async () => {
  later('19:00:00');
  const LAAS = '/cloud/v1/laas/1/1';
  await service.http.patch(`${LAAS}/status`, { is_initialized: true });
  const sized = async (size_in_bytes: number) => {
    const topic = await service.http.put(`${LAAS}/topics`, { name: 'web', size_in_bytes });
    expect(topic.status, topic.text).toBe(201);
  };
  await sized(3 * 2 ** 30 + 1);
  later('19:30:00');
  await sized(1);
  const topics = await service.pool.query(
    `select amount::int, ended_at from usage_periods where type = 'log_index' order by id`,
  );
  expect(topics.rows).toEqual([
    { amount: 4, ended_at: at },
    { amount: 1, ended_at: null },
  ]);

  // Another process whose clock is behind makes it again.
  later('19:40:00');
  expect((await service.http.delete(`${LAAS}/topics/web`)).status).toBe(204);
  later('19:39:58');
  await sized(1);
  const again = await service.pool.query(
    `select started_at, ended_at from usage_periods where type = 'log_index' order by id offset 1`,
  );
  expect(again.rows).toEqual([
    { started_at: new Date('2026-03-10T19:30:00Z'), ended_at: new Date('2026-03-10T19:40:00Z') },
    { started_at: new Date('2026-03-10T19:40:00Z'), ended_at: null },
  ]);

  later('20:00:00');
  const { body } = await clusterParts(service);
  const pool = { ...POOL, min_node_count: 2, is_public_ipv4: true };
  const cluster = await makeCluster(service.http, body({ pools: [pool, GPU_POOL] }));
  const { rows } = await service.pool.query(
    `select type, sku, sum(amount)::int as amount from usage_periods where ended_at is null and started_at = $1
       and (type in ('baremetal', 'external_ip') or name like '%' || $2 || '%') group by type, sku order by type, sku`,
    [at, cluster.name],
  );
  expect(rows).toEqual([
    { type: 'baremetal', sku: GPU_POOL.flavor_id, amount: 2 },
    { type: 'external_ip', sku: '', amount: 2 },
    { type: 'instance', sku: POOL.flavor_id, amount: 2 },
    { type: 'volume', sku: 'ssd_hiiops', amount: 100 },
  ]);
});

it('is what there is, when the triggers are asked again', async () => {
  for (const [what, query] of Object.entries(await meteringNever(service.pool))) {
    expect((await service.pool.query(query)).rows, what).toEqual([]);
  }
  const { rows: open } = await service.pool.query('select count(*) as count from usage_periods where ended_at is null');
  expect(Number(open[0].count)).toBeGreaterThan(2);
});
