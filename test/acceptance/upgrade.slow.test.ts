import fs from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { createHttpClient, type HttpClient } from '../support/http-client.ts';
import { brokenInvariants } from './concurrency/invariants.ts';
import { build, ROOT, runTradewind, type ServeProcess, serve, temporaryFolder } from './processes.ts';

/**
 * A `pg_dump` of the database of the last release with another engine; its first lines say how it was made.
 */
const DUMP = path.join(ROOT, 'test/acceptance/upgrade/0032.sql.gz');
const TOKEN = '7$acceptance-secret';
const REGIONS = ['/1/1', '/1/2'];
/** In the order in which they can be deleted. */
const KINDS = ['instances', 'floatingips', 'snapshots', 'volumes', 'images', 'file_shares'];

describe('a database of the release before, killed with tasks of every type at work', () => {
  let database: TestDatabase;
  let server: ServeProcess;
  let http: HttpClient;
  let pool: pg.Pool;
  let settings: Record<string, string>;
  let unended: { id: string; task_type: string }[];

  beforeAll(async () => {
    build();
    database = await createDatabase({ empty: true });
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(gunzipSync(fs.readFileSync(DUMP)).toString());
    await client.end();
    pool = new pg.Pool({ connectionString: database.url, max: 2 });
    pool.on('error', () => {});
    unended = (await pool.query(`select id, task_type from tasks where state in ('NEW', 'RUNNING')`)).rows;
    settings = {
      DATABASE_URL: database.url,
      TRADEWIND_DATA_DIR: temporaryFolder(),
      TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
      TRADEWIND_SIMULATION_SPEED: '20',
      TRADEWIND_RATE_LIMIT: '0',
    };
    for (const args of [['migrate'], ['catalog', 'apply']]) {
      const { status, stderr } = runTradewind(args, settings);
      if (status !== 0) throw new Error(stderr);
    }
    server = await serve(settings);
    http = createHttpClient(server.url, TOKEN);
  });
  afterAll(async () => {
    await server?.end();
    await pool?.end();
    await database?.drop();
  });

  it('had tasks of each type', () => {
    expect([...new Set(unended.map(({ task_type }) => task_type))].toSorted()).toMatchInlineSnapshot(`
      [
        "attach_vm_interface",
        "attach_volume",
        "convert_reserved_fixed_ip_to_fip",
        "create_fip",
        "create_image",
        "create_k8s_cluster_pool_v2",
        "create_k8s_cluster_v2",
        "create_network",
        "create_reserved_fixed_ip",
        "create_sfs",
        "create_snapshot",
        "create_subnet",
        "create_vm",
        "create_volume",
        "delete_fip",
        "delete_image",
        "delete_k8s_cluster_pool_v2",
        "delete_k8s_cluster_v2",
        "delete_network",
        "delete_reserved_fixed_ip",
        "delete_sfs",
        "delete_snapshot",
        "delete_subnet",
        "delete_vm",
        "delete_volume",
        "detach_vm_interface",
        "detach_volume",
        "extend_sfs",
        "extend_volume",
        "hard_reboot_vm",
        "resize_k8s_cluster_v2",
        "resize_vm",
        "resume_vm",
        "retype_volume",
        "revert_volume",
        "soft_reboot_vm",
        "start_vm",
        "stop_vm",
        "suspend_vm",
        "update_floating_ip",
        "update_k8s_cluster_pool_v2",
        "update_k8s_cluster_v2",
        "update_network",
        "update_port",
        "update_port_allowed_address_pairs",
        "update_sfs",
        "upgrade_k8s_cluster_v2",
      ]
    `);
  });

  it('ends each of them as it was to end', async () => {
    for (const { id } of unended) {
      const { state, error, task_type } = await http.task(id);
      expect({ task_type, state, error }, server.stderr()).toEqual({
        task_type,
        state: 'FINISHED',
        error: null,
      });
    }
  });

  it('has as infrastructure what its rows say, and nothing else', async () => {
    await expect.poll(() => broken(pool), { interval: 500 }).toEqual([]);
    await expect.poll(() => strayFrom(pool), { interval: 500 }).toEqual([]);
  });

  it('keeps the certificates of its clusters', async () => {
    const { rows } = await pool.query(`
      select cluster_id from kubernetes_credentials join simulated_objects on id = cluster_id
      where made ->> 'caCertificate' <> ca_certificate or made is null`);
    expect(rows).toEqual([]);
  });

  it('keeps its secrets readable for the release before, and encrypts them on a word, while it runs', async () => {
    const [cluster] = (await http.get('/cloud/v1/k8s/clusters/1/1')).body.results;
    const config = async () => (await http.get(`/cloud/v1/k8s/clusters/1/1/${cluster.name}/config`)).body;
    const before = await config();
    const encrypted = async () => {
      const { rows } = await pool.query<{ encrypted: boolean; count: number }>(`
        select kept like '%sealed:1:%' as encrypted, count(*) from (
          select ca_key as kept from kubernetes_credentials union all select client_key from kubernetes_credentials
          union all select made::text from simulated_objects where made is not null
          union all select jwk::text from signing_keys) as secrets group by 1`);
      return rows;
    };
    const [plain, ...others] = await encrypted();
    expect([plain?.encrypted, others]).toEqual([false, []]);
    const { stdout } = runTradewind(['keys', 'rotate'], settings);
    expect(stdout).toBe(`${plain?.count} secrets are encrypted with a new data key.\n`);
    expect(await encrypted()).toEqual([{ encrypted: true, count: plain?.count }]);
    expect(await config()).toEqual(before);
  });

  it('has nothing left of what only the other engine needed', async () => {
    const { rows } = await pool.query(`
      select table_schema, table_name from information_schema.tables
      where table_schema = 'dbos' or table_name in ('simulated_resources', 'simulated_clusters')`);
    expect(rows).toEqual([]);
  });

  it('lets everything be changed', async () => {
    const tags = { upgraded: 'yes' };
    const versions = { networks: 'v2', floatingips: 'v2', file_shares: 'v3' };
    for (const kind of [...KINDS, 'securitygroups', 'networks', 'subnets', 'ports']) {
      for (const { place, thing } of await own(kind)) {
        const version = versions[kind as keyof typeof versions] ?? 'v1';
        await done('PATCH', `/cloud/${version}/${kind}${place}/${thing.id}`, { tags });
      }
    }
    const clusters = (await http.get('/cloud/v1/k8s/clusters/1/1')).body.results;
    for (const { name } of clusters) {
      await done('PATCH', `/cloud/v1/k8s/clusters/1/1/${name}`, {
        autoscaler_config: { 'scan-interval': '44s' },
      });
    }
    await expect.poll(() => broken(pool), { interval: 500 }).toEqual([]);
  });

  it('lets everything be deleted, and nothing of it is left', async () => {
    const clusters = (await http.get('/cloud/v1/k8s/clusters/1/1')).body.results;
    for (const { name } of clusters) await done('DELETE', `/cloud/v1/k8s/clusters/1/1/${name}`);
    for (const kind of KINDS.toSpliced(2, 0, 'reserved_fixed_ips')) {
      for (const { place, thing } of await own(kind)) {
        await done('DELETE', `/cloud/v1/${kind}${place}/${thing.id ?? thing.port_id}`);
      }
    }
    for (const { place, thing } of await own('networks')) {
      if (!thing.default) await done('DELETE', `/cloud/v1/networks${place}/${thing.id}`);
    }
    const left = await pool.query(`
      select kind, id from wants where kind not in ('network', 'subnet', 'security_group')
      union select kind, id from simulated_objects where kind not in ('network', 'subnet', 'security_group')`);
    expect(left.rows).toEqual([]);
    await expect.poll(() => broken(pool), { interval: 500 }).toEqual([]);
  });

  /** Returns the resources that clients made and that belong to no cluster. */
  async function own(kind: string) {
    const found = [];
    for (const place of REGIONS) {
      const answer = await http.get(`/cloud/v1/${kind}${place}?limit=1000`);
      expect(answer.status, answer.text).toBe(200);
      const { rows } = await pool.query<{ id: string }>(`
        select id from wants union select id from kubernetes_clusters`);
      const known = new Set(rows.map(({ id }) => id));
      for (const thing of answer.body.results) {
        if (known.has(thing.id ?? thing.port_id)) found.push({ place, thing });
      }
    }
    return found;
  }

  async function done(method: string, path: string, body?: object): Promise<void> {
    const answer = await http.request(method, path, body && { body });
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
    // Some operations answer only the list.
    const tasks = answer.body?.tasks ?? answer.body;
    const [task] = Array.isArray(tasks) ? tasks : [];
    if (task === undefined) return;
    const ended = await http.task(task);
    expect(ended, `${method} ${path}`).toMatchObject({ state: 'FINISHED', error: null });
  }
});

/** Two ports got address pairs by hand, which never happens in the concurrency test. */
async function broken(pool: pg.Pool): Promise<string[]> {
  const lines = await brokenInvariants(pool);
  return lines.filter((line) => !line.startsWith('2 ports that share an address which is no virtual one'));
}

/** Returns infrastructure that isn't as wanted. */
async function strayFrom(pool: pg.Pool): Promise<object[]> {
  const { rows } = await pool.query<object>(`
    select kind, id, wants.spec, object.spec as there from wants full join simulated_objects as object using (kind, id)
    where wants.spec is distinct from object.spec or settled_generation is distinct from generation`);
  return rows;
}
