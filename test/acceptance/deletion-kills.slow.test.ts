import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, it } from 'vitest';
import { TABLES_OF_PROJECTS } from '../../src/cloud/ground/projects/in-transaction.ts';
import { createDatabase } from '../support/databases.ts';
import { furnish } from '../support/furnishing.ts';
import { createHttpClient } from '../support/http-client.ts';
import { brokenInvariants } from './concurrency/invariants.ts';
import { build, serve, takeForDead, temporaryFolder } from './processes.ts';

/** Where the account is deleted when the process is killed, in parts of what there was. */
const KILLS = [1, 0.7, 0.4, 0.1];
const TOKEN = '7_acceptance-secret';

it('deletes an account to the end, however often its process is killed', async () => {
  build();
  const dataDir = temporaryFolder();
  const database = await createDatabase({ empty: true });
  const pool = new pg.Pool({ connectionString: database.url, max: 2 });
  const settings = {
    DATABASE_URL: database.url,
    TRADEWIND_DATA_DIR: dataDir,
    TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
    TRADEWIND_SIMULATION_SPEED: '50',
    TRADEWIND_LOG_LEVEL: 'error',
  };
  const left = async (): Promise<number> => {
    const tables = TABLES_OF_PROJECTS.map((table) => `select count(*) from ${table} where project_id <> 1`);
    const { rows } = await pool.query(
      `select sum(count)::int as left from (${tables.join(' union all ')}) as all_of_it`,
    );
    return rows[0].left;
  };
  let server = await serve(settings);
  try {
    const http = () => createHttpClient(server.url, TOKEN);
    const clientId = (await http().post('/iam/clients/create', { company: 'Short-lived' })).body.id;
    const made = await http().post(`/iam/v2/clients/${clientId}/tokens`, {
      name: 'test',
      exp_date: null,
      client_user: { role: { name: 'Administrators' } },
    });
    const tenant = createHttpClient(server.url, made.body.token);
    const [{ id }] = (await tenant.get('/cloud/v1/projects')).body.results;
    await furnish(tenant, id, { clusters: false });
    const all = await left();
    const deletion = `/tradewind/v1/clients/${clientId}/deletion`;
    const { confirmation } = (await http().post(deletion, {})).body;
    const { task_id } = (await http().post(deletion, { confirmation })).body;
    let inTime = 0;
    for (const part of KILLS) {
      for (let now = await left(); now > all * part; now = await left()) await sleep(10);
      const { rows } = await pool.query('select state from tasks where id = $1', [task_id]);
      if (rows[0].state !== 'FINISHED') inTime++;
      await server.end('SIGKILL');
      await takeForDead(pool, server);
      server = await serve(settings);
    }
    expect(inTime).toBeGreaterThan(1);
    expect(await http().task(task_id, 120_000)).toMatchObject({ state: 'FINISHED', error: null });
    await expect.poll(left).toBe(0);
    const account = await pool.query('select deleted_at from clients where id = $1', [clientId]);
    expect(account.rows).toEqual([{ deleted_at: expect.any(Date) }]);
    await expect.poll(() => brokenInvariants(pool), { interval: 1_000 }).toEqual([]);
  } finally {
    await server.end('SIGKILL');
    await pool.end();
    await database.drop();
    fs.rmSync(dataDir, { recursive: true, force: true });
  }
});
