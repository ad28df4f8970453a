import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { startService, type Tenant, type TestService } from '../../test/support/service.ts';
import { DryRun, onBehalfOf } from '../lib/request-context.ts';
import { openDatabase, withDryRuns } from './database.ts';

let service: TestService;
let greedy: Tenant;
let other: Tenant;
let blocker: pg.Client;
beforeAll(async () => {
  service = await startService();
  greedy = await service.otherTenant();
  other = await service.otherTenant();
  blocker = new pg.Client({ connectionString: service.pool.options.connectionString });
  await blocker.connect();
});
afterAll(async () => {
  await blocker?.end();
  await service?.stop();
});

const stuck = async () => {
  const { rows } = await service.pool.query(
    `select count(*)::integer as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%security_groups%'`,
  );
  return rows[0].count;
};

/** Changes of a project that wait for its row. */
const held = async () => {
  const { rows } = await service.pool.query(
    `select count(*)::integer as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%projects%'`,
  );
  return rows[0].count;
};

it("answers everybody else while one account's reads hold all connections that it may have", async () => {
  await blocker.query('begin; lock table security_groups in access exclusive mode');
  const path = `/cloud/v1/securitygroups/${greedy.projectId}/1`;
  const waiting = Array.from({ length: 40 }, () => greedy.http.get(path));
  await expect.poll(stuck).toBe(2);
  for (const list of [`volumes/${other.projectId}/1`, 'projects', 'tasks']) {
    expect((await other.http.get(`/cloud/v1/${list}`)).status, list).toBe(200);
  }
  const token = { name: 'meanwhile', exp_date: null, client_user: {} };
  const made = await other.http.post(`/iam/v2/clients/${other.clientId}/tokens`, token);
  expect(made.status, made.text).toBe(200);
  expect(await stuck()).toBe(2);
  await blocker.query('rollback');
  const statuses = (await Promise.all(waiting)).map(({ status }) => status);
  // The others have waited for ten seconds if the machine is slow.
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect(statuses).toContain(200);
});

it('answers that a change is made, however many reads of the account wait', async () => {
  const holder = new pg.Client({ connectionString: service.pool.options.connectionString });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select 1 from projects where id = $1 for update', [greedy.projectId]);
    const change = () =>
      greedy.http.request('PATCH', `/cloud/v1/projects/${greedy.projectId}`, {
        body: { description: 'made' },
        headers: { 'idempotency-key': 'made' },
      });
    const changing = change();
    await expect.poll(held).toBe(1);
    await blocker.query('begin; lock table security_groups in access exclusive mode');
    const path = `/cloud/v1/securitygroups/${greedy.projectId}/1`;
    const waiting = Array.from({ length: 40 }, () => greedy.http.get(path));
    await expect.poll(stuck).toBe(2);
    await holder.query('rollback');
    const made = await changing;
    expect(made.status, made.text).toBe(200);
    await blocker.query('rollback');
    await Promise.all(waiting);
    const again = await change();
    expect([again.status, again.text]).toEqual([200, made.text]);
  } finally {
    await holder.end();
  }
});

it('lets transactions ask beside their own connection however many there are', async () => {
  const place: TestDatabase = await createDatabase({ empty: true });
  const database = openDatabase({ connectionString: place.url }, 4);
  try {
    const nested = () =>
      database.transaction(async () => {
        const { rows } = await database.pool.query('select 1 as one');
        // Once by kysely, as most stores do.
        await database.sql.selectNoFrom((row) => row.val(1).as('one')).execute();
        return rows[0].one;
      });
    const done = await Promise.all(Array.from({ length: 20 }, () => onBehalfOf(1, nested)));
    expect(new Set(done)).toEqual(new Set([1]));
  } finally {
    await database.close();
    await place.drop();
  }
});

it('tries out one change of an account at a time', async () => {
  const database = withDryRuns(openDatabase({ connectionString: service.pool.options.connectionString }, 8));
  const begun: string[] = [];
  const runs = new Map<string, DryRun>();
  const tryOut = (account: number, name: string) => {
    const run = new DryRun();
    runs.set(name, run);
    return onBehalfOf(account, () => run.within(() => database.accept(async () => void begun.push(name))));
  };
  try {
    const tried = [tryOut(1, 'first'), tryOut(1, 'second'), tryOut(2, "another account's")];
    await expect.poll(() => begun.toSorted()).toEqual(["another account's", 'first']);
    await onBehalfOf(1, () => database.accept(async () => void begun.push('a change itself')));
    expect(begun).not.toContain('second');
    runs.get('first')?.end();
    await expect.poll(() => begun).toContain('second');
    for (const run of runs.values()) run.end();
    await Promise.all(tried);
  } finally {
    await database.close();
  }
});
