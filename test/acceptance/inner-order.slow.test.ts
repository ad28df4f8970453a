import fs from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { createHttpClient } from '../support/http-client.ts';
import { brokenInvariants } from './concurrency/invariants.ts';
import { createMakers } from './faults/makers.ts';
import { OPERATIONS } from './faults/operations.ts';
import { MARK } from './inner-order/lives.ts';
import { buildTestRelease } from './inner-order/test-release.ts';
import { build, ROOT, type ServeProcess, serve, temporaryFolder } from './processes.ts';

/*
 * The stages of infrastructure, with their names, order and number, are internal. Tasks of every type begin
 * in one release, continue in another whose stages differ, and return midway.
 */
const TOKEN = '7$acceptance-secret';
const FAST = '1000';
/** So slow that nearly everything is still running when the release changes. */
const SLOW = '0.1';
/** Soon over, with the stages that are left on the way. */
const BRISK = '10';
const RELEASES = ['this release', 'the test release'] as const;

let testRelease: string;
beforeAll(() => {
  build();
  testRelease = buildTestRelease();
});
afterAll(() => testRelease && fs.rmSync(testRelease, { recursive: true }));

const folderOf = (release: string) => (release === 'this release' ? ROOT : testRelease);

describe.each(RELEASES.map((here) => ({ here, there: RELEASES.find((other) => other !== here) ?? '' })))(
  'tasks that $here has begun, $there goes on with, and $here ends',
  ({ here, there }) => {
    const running: ServeProcess[] = [];
    let database: TestDatabase;
    let pool: pg.Pool;

    beforeAll(async () => {
      database = await createDatabase({ empty: true });
      pool = new pg.Pool({ connectionString: database.url, max: 2 });
      pool.on('error', () => {});
    });
    afterAll(async () => {
      await Promise.all(running.map((each) => each.end('SIGKILL')));
      await pool?.end();
      await database?.drop();
    });

    async function start(release: string, speed: string, role: string): Promise<ServeProcess> {
      const settings = {
        DATABASE_URL: database.url,
        TRADEWIND_DATA_DIR: temporaryFolder(),
        TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
        TRADEWIND_SIMULATION_SPEED: speed,
        TRADEWIND_RATE_LIMIT: '0',
        TRADEWIND_LOG_LEVEL: 'warn',
      };
      const started = await serve(settings, ['--role', role], [], folderOf(release));
      running.push(started);
      return started;
    }
    async function texts(query: string): Promise<string[]> {
      const { rows } = await pool.query<{ text: string }>(query);
      return rows.map(({ text }) => text);
    }
    const unended = () =>
      texts(`select distinct task_type as text from tasks where state in ('NEW', 'RUNNING') order by 1`);
    const accepted = async () =>
      (await texts(`select operation as text from user_actions where outcome = 'accepted'`)).length;
    /** Returns the stages that only one of the releases has. */
    const stagesOf = (release: string) => async () =>
      (
        await texts(`select doing as text from wants where doing not like 'waiting for %' and doing <> 'changing'`)
      ).filter((stage) => stage.startsWith(MARK) === (release === 'the test release'));
    const failed = () => texts(`select task_type || ': ' || error as text from tasks where state = 'ERROR' order by 1`);
    const machinesAtWork = () =>
      texts(`select doing as text from wants where kind = 'machine' and settled_generation is null
      and worker_id is not null and doing not like 'waiting for %'`);

    it('come to their end as if nothing had been', async () => {
      const api = await start(here, SLOW, 'api');
      const maker = await start(here, FAST, 'worker');
      const makers = createMakers(createHttpClient(api.url, TOKEN), 1);
      const acts = await Promise.all(Object.values(OPERATIONS).map((prepare) => prepare(makers)));
      await expect.poll(() => brokenInvariants(pool), { interval: 500 }).toEqual([]);
      await maker.end();

      const before = await accepted();
      // Some answer only after their task.
      const answers = Promise.all(acts.map((act) => act()));
      await expect.poll(accepted).toBe(before + acts.length);
      expect(await unended()).toMatchInlineSnapshot(`
        [
          "attach_vm_interface",
          "attach_volume",
          "convert_fip_to_reserved_fixed_ip",
          "convert_reserved_fixed_ip_to_fip",
          "create_ddos_profile",
          "create_fip",
          "create_image",
          "create_k8s_cluster_pool_v2",
          "create_k8s_cluster_v2",
          "create_l7policy",
          "create_l7rule",
          "create_lblistener",
          "create_lbmember",
          "create_loadbalancer",
          "create_network",
          "create_reserved_fixed_ip",
          "create_router",
          "create_secret",
          "create_sfs",
          "create_snapshot",
          "create_subnet",
          "create_vm",
          "create_volume",
          "deactivate_ddos_profile",
          "delete_ddos_profile",
          "delete_fip",
          "delete_image",
          "delete_k8s_cluster_pool_v2",
          "delete_k8s_cluster_v2",
          "delete_l7policy",
          "delete_lblistener",
          "delete_lbmember",
          "delete_lbpool",
          "delete_loadbalancer",
          "delete_network",
          "delete_reserved_fixed_ip",
          "delete_router",
          "delete_secret",
          "delete_servergroup",
          "delete_sfs",
          "delete_snapshot",
          "delete_subnet",
          "delete_vm",
          "delete_volume",
          "detach_vm_interface",
          "detach_volume",
          "download_image",
          "extend_sfs",
          "extend_volume",
          "failover_loadbalancer",
          "hard_reboot_vm",
          "patch_lblistener",
          "patch_lbpool",
          "put_into_server_group",
          "remove_from_server_group",
          "resize_k8s_cluster_v2",
          "resize_loadbalancer",
          "resize_vm",
          "resume_vm",
          "retype_volume",
          "revert_volume",
          "soft_reboot_vm",
          "start_vm",
          "stop_vm",
          "suspend_vm",
          "update_ddos_profile",
          "update_floating_ip",
          "update_k8s_cluster_pool_v2",
          "update_k8s_cluster_v2",
          "update_lbmember",
          "update_lbpool_health_monitor",
          "update_loadbalancer",
          "update_network",
          "update_port",
          "update_router",
          "update_sfs",
          "upgrade_k8s_cluster_v2",
        ]
      `);
      const first = await start(here, SLOW, 'worker');
      await expect
        .poll(() => texts(`select id as text from tasks where state = 'NEW'`), {
          interval: 20,
        })
        .toEqual([]);
      await expect.poll(stagesOf(here)).not.toEqual([]);
      expect(await stagesOf(there)()).toEqual([]);
      await first.end('SIGTERM');
      expect((await unended()).length, 'types that meet the other release').toBeGreaterThan(30);

      const second = await start(there, SLOW, 'all');
      // These machines have waited for their ports, so this release itself begins them.
      await expect.poll(async () => [...(await machinesAtWork()), ...(await failed())]).not.toEqual([]);
      expect(await failed()).toEqual([]);
      expect(await stagesOf(there)()).not.toEqual([]);
      await second.end('SIGKILL');
      expect(await unended()).toEqual(expect.arrayContaining(['create_k8s_cluster_v2', 'create_vm']));

      const last = await start(here, BRISK, 'worker');
      await expect.poll(unended, { timeout: 90_000, interval: 100 }).toEqual([]);
      expect(await failed(), last.stderr()).toEqual([]);
      for (const { status, text } of await answers) expect(status, text).toBeLessThan(300);
      await expect.poll(() => brokenInvariants(pool), { interval: 500 }).toEqual([]);
    });
  },
);
