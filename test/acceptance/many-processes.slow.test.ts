import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changedCatalog } from '../support/catalogs.ts';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { createHttpClient, type HttpClient } from '../support/http-client.ts';
import { reservePort } from '../support/ports.ts';
import { build, runTradewind, type ServeProcess, serve, temporaryFolder } from './processes.ts';
import { describeWalk } from './walk.ts';

const TOKEN = '7$acceptance-secret';

describe('one API and two workers on a PostgreSQL of their own', () => {
  let database: TestDatabase;
  let api: ServeProcess;
  let workers: ServeProcess[];
  let http: HttpClient;
  let reports: HttpClient;
  let settings: Record<string, string>;

  beforeAll(async () => {
    build();
    database = await createDatabase({ empty: true });
    settings = {
      DATABASE_URL: database.url,
      TRADEWIND_DATA_DIR: temporaryFolder(),
      TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
      // Slow enough to catch it during a change on a busy machine.
      TRADEWIND_SIMULATION_SPEED: '0.5',
    };
    api = await serve(settings, ['--role', 'api']);
    http = createHttpClient(api.url, TOKEN);
  });
  afterAll(async () => {
    await Promise.all([api, ...(workers ?? [])].map((process) => process.end()));
    await database.drop();
  });

  it('is ready for reads and new tasks without a worker, and says that these wait for one', async () => {
    const alone = await http.get('/readyz');
    expect([alone.status, alone.body]).toEqual([
      200,
      expect.objectContaining({
        status: 'ready',
        role: 'api',
        problems: {},
        degraded: { workers: expect.stringContaining('serve --role worker') },
      }),
    ]);
    const port = await reservePort();
    workers = await Promise.all([
      serve(settings, ['--role', 'worker']),
      serve({ ...settings, TRADEWIND_WORKER_PORT: String(port) }, ['--role', 'worker']),
    ]);
    reports = createHttpClient(`http://127.0.0.1:${port}`, undefined);
    await expect.poll(async () => (await http.get('/readyz')).body).toMatchObject({ problems: {}, degraded: {} });
  });

  it('has the health and the metrics of a worker on a port of its own, and no API there', async () => {
    expect((await reports.get('/healthz')).body).toMatchObject({ status: 'ok' });
    expect((await reports.get('/readyz')).body).toMatchObject({
      status: 'ready',
      role: 'worker',
      problems: {},
    });
    const metrics = async () => (await reports.get('/metrics')).text;
    for (const name of [
      'tradewind_backend_up{backend="simulated"} 1',
      'tradewind_workers 2',
      'tradewind_database_up 1',
    ]) {
      await expect.poll(metrics).toContain(`${name}\n`);
    }
    expect((await reports.get('/cloud/v1/projects')).status).toBe(404);
  });

  it('puts another catalogue in force in all of them at once', async () => {
    const folder = changedCatalog('features.yaml', ({ features = [] }) => ({
      features: [...features, { id: 4711, name: 'New', service: 'CDN', is_free: true }],
    }));
    const applied = runTradewind(['catalog', 'apply'], { ...settings, TRADEWIND_CATALOG_DIR: folder });
    expect(applied.stdout).toMatch(/is now in force\.\n3 of 3 processes use it\.\n$/);
    expect((await http.get('/iam/admin/feature/4711')).status).toBe(200);
    const refused = runTradewind(['serve', '--role', 'worker'], settings);
    expect([refused.status, refused.stderr]).toEqual([78, expect.stringContaining('catalog apply')]);
    expect(runTradewind(['catalog', 'apply'], settings).status).toBe(0);
    expect((await http.get('/iam/admin/feature/4711')).status).toBe(404);
    fs.rmSync(folder, { recursive: true });
  });

  describeWalk('with one API and two workers', () => http);

  it('finishes every task when one of the workers is killed in the middle', async () => {
    await http.post('/cloud/v1/ssh_keys/1', { name: 'takeover' });
    const names = Array.from({ length: 6 }, (_, index) => `takeover-${index}`);
    const accepted = await Promise.all(names.map((name) => http.post('/cloud/v1/k8s/clusters/1/1', cluster(name))));
    const ids = accepted.map(({ status, body, text }) => {
      expect(status, text).toBe(200);
      return body[0] as string;
    });
    await sleep(300);
    const [victim] = workers.splice(0, 1);
    expect(await victim?.end('SIGKILL')).toBe('SIGKILL');
    for (const id of ids) expect(await http.task(id)).toMatchObject({ state: 'FINISHED' });
  });
});

const cluster = (name: string) => ({
  name,
  version: '1.34.4',
  keypair: 'takeover',
  pools: [
    {
      name: 'workers',
      flavor_id: 'g1-standard-2-4',
      min_node_count: 1,
      boot_volume_size: 50,
      boot_volume_type: 'standard',
      servergroup_policy: 'soft-anti-affinity',
    },
  ],
});
