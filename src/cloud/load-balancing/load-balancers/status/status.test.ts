import fs from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { changedCatalog } from '../../../../../test/support/catalogs.ts';
import { ENCRYPTION_KEY } from '../../../../../test/support/secrets.ts';
import { startService, type TestService } from '../../../../../test/support/service.ts';
import { loadConfig } from '../../../../config.ts';
import { catalogApply } from '../../../../start/catalog-apply.ts';

const BASE = '/cloud/v1/loadbalancers/1/1';
const MONITOR = { type: 'TCP', delay: 10, timeout: 5, max_retries: 2 };

/** Makes a catalogue in which the simulated backend has these rules for the health of members. */
const withHealth = (health: object[]) =>
  changedCatalog('backends.yaml', ({ backends = [] }) => ({
    backends: backends.map((backend) => ({ ...backend, settings: { health } })),
  }));

const folders = [
  withHealth([
    { address: '10.1.0.1', status: 'ERROR' },
    { port: 9000, status: 'DRAINING' },
  ]),
  withHealth([{ address: '10.1.0.*', status: 'ERROR' }]),
] as const;

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_CATALOG_DIR: folders[0] });
});
afterAll(async () => {
  await service.stop();
  for (const folder of folders) fs.rmSync(folder, { recursive: true });
});

async function balancer() {
  const members = ['10.1.0.1', '10.1.0.2'].map((address) => ({ address, protocol_port: 80 }));
  const pool = { name: 'servers', protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' };
  const answer = await service.http.post(BASE, {
    name: 'shop',
    tags: { env: 'test' },
    listeners: [
      {
        name: 'web',
        protocol: 'TCP',
        protocol_port: 80,
        pools: [
          {
            ...pool,
            healthmonitor: MONITOR,
            members: [...members, { address: '10.1.0.2', protocol_port: 81, monitor_port: 9000 }],
          },
        ],
      },
      { name: 'blind', protocol: 'TCP', protocol_port: 81, pools: [{ ...pool, members }] },
    ],
  });
  expect(answer.status, answer.text).toBe(200);
  const task = await service.http.task(answer.body[0]);
  expect(task).toMatchObject({ state: 'FINISHED' });
  return task.created_resources;
}

/** The operating statuses of the tree, in the order of the answer. */
function statuses(tree: {
  operating_status: string;
  listeners: { operating_status: string; pools: { operating_status: string; members: object[] }[] }[];
}) {
  return [
    tree.operating_status,
    ...tree.listeners.flatMap((listener) => [
      listener.operating_status,
      ...listener.pools.flatMap((pool) => [
        pool.operating_status,
        ...pool.members.map((member) => (member as { operating_status: string }).operating_status),
      ]),
    ]),
  ];
}

it('goes up the tree from members, and changes with the rules', async () => {
  const created = await balancer();
  const [id] = created.loadbalancers;
  const url = `${BASE}/${id}/status`;
  const { body } = await service.http.get(url);
  expect(body).toMatchObject({
    id,
    name: 'shop',
    provisioning_status: 'ACTIVE',
    tags: [{ key: 'env', value: 'test', read_only: false }],
    listeners: [
      {
        id: created.listeners[0],
        name: 'web',
        pools: [
          {
            id: created.pools[0],
            name: 'servers',
            health_monitor: { id: created.healthmonitors[0], type: 'TCP', operating_status: 'ONLINE' },
            members: [{ address: '10.1.0.1', protocol_port: 80 }, {}, {}],
          },
        ],
      },
      { name: 'blind', pools: [{ health_monitor: null }] },
    ],
  });
  expect(statuses(body)).toEqual([
    'DEGRADED',
    ...['DEGRADED', 'DEGRADED', 'ERROR', 'ONLINE', 'DRAINING'],
    ...['ONLINE', 'ONLINE', 'NO_MONITOR', 'NO_MONITOR'],
  ]);
  const list = await service.http.get(`${BASE}/status`);
  expect(list.body).toEqual({ count: 1, results: [body] });
  const read = await service.http.get(`${BASE}?operating_status=DEGRADED`);
  expect(read.body).toMatchObject({ count: 1, results: [{ id, operating_status: 'DEGRADED' }] });

  const told = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const config = loadConfig({
    DATABASE_URL: String(service.pool.options.connectionString),
    TRADEWIND_ENCRYPTION_KEY: ENCRYPTION_KEY,
    TRADEWIND_CATALOG_DIR: folders[1],
    TRADEWIND_LOG_LEVEL: 'silent',
  });
  const code = await catalogApply.run({ config, options: {}, stop: new AbortController().signal });
  told.mockRestore();
  expect(code).toBe(0);
  await expect
    .poll(async () => statuses((await service.http.get(url)).body), { interval: 250 })
    .toEqual([
      'DEGRADED',
      ...['ERROR', 'ERROR', 'ERROR', 'ERROR', 'ERROR'],
      ...['ONLINE', 'ONLINE'],
      ...['NO_MONITOR', 'NO_MONITOR'],
    ]);
});
