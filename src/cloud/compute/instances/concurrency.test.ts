import { afterAll, beforeAll, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../test/support/boot-volume.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Creates an instance, puts a group on it and, unless the instance is kept, deletes it. */
async function live(networkId: string, name: string, kept: boolean): Promise<void> {
  const { http } = service;
  const created = await http.post('/cloud/v2/instances/1/1', {
    name,
    flavor: 'g1-standard-1-2',
    interfaces: [{ type: 'any_subnet', network_id: networkId }, { type: 'external' }],
    volumes: [{ ...BOOT_VOLUME, delete_on_termination: true }],
  });
  expect(created.status, created.text).toBe(200);
  const task = await http.task(created.body[0]);
  const [id] = task.created_resources.instances;
  const group = await http.post('/cloud/v1/securitygroups/1/1', {
    security_group: { name },
    instances: [id],
  });
  expect(group.status, group.text).toBe(200);
  if (kept) return;
  const deleted = await http.delete(`/cloud/v1/instances/1/1/${id}`);
  expect(deleted.status, deleted.text).toBe(200);
  expect((await http.task(deleted.body[0])).state).toBe('FINISHED');
}

it('creates and deletes at the same time without a deadlock, and every count is right', async () => {
  const networks = await service.http.get('/cloud/v1/networks/1/1');
  const networkId: string = networks.body.results[0].id;
  const lives = Array.from({ length: 12 }, async (_, line) => {
    for (let turn = 0; turn < 3; turn++) await live(networkId, `web-${line}-${turn}`, turn === 1);
  });
  await Promise.all(lives);

  const { rows: subnets } = await service.pool.query(
    `select used_ips::int as used, free_from = lowest.address as knows_lowest,
      (select count(*) from ip_assignments where subnet_id = subnets.id)::int as taken
    from subnets cross join lateral (
      select first_address + n as address from generate_series(0, least(total_ips, 10000)::bigint - 1) as n
      where not exists (select from ip_assignments where subnet_id = subnets.id and address = first_address + n)
      order by n limit 1
    ) as lowest
    where exists (select from ip_assignments where subnet_id = subnets.id)
    order by used_ips`,
  );
  // External subnets keep no counts.
  expect(subnets).toMatchObject([
    { used: 0, taken: 12 },
    { used: 12, taken: 12, knows_lowest: true },
  ]);
  const { rows } = await service.pool.query(
    `select (select count(*) from instances)::int as instances, (select count(*) from ports)::int as ports,
      (select count(*) from volumes)::int as volumes, (select json_object_agg(attribute, used) from quota_usage) as used`,
  );
  expect(rows).toEqual([
    {
      instances: 12,
      ports: 24,
      volumes: 12,
      used: { vm_count: 12, volume_count: 12, firewall_count: 36 },
    },
  ]);
  // PostgreSQL's backends report their counts when they become idle.
  const { rows: statistics } = await service.pool.query(
    'select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()',
  );
  expect(statistics).toEqual([{ deadlocks: 0 }]);
});
