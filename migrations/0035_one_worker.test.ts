import { randomUUID } from 'node:crypto';
import { Migrator } from 'kysely';
import { expect, it } from 'vitest';
import { takeFromDead } from '../src/convergence/claims.ts';
import { openDatabase } from '../src/db/database.ts';
import { migrate } from '../src/db/migrate.ts';
import { createClaims } from '../src/streaming/ai-tasks/work/claims.ts';
import { createDatabase } from '../test/support/databases.ts';
import { migrations } from './index.ts';

it('takes over what workers of before had in hand', async () => {
  const { url, drop } = await createDatabase({ empty: true });
  const database = openDatabase({ connectionString: url }, 2);
  const { pool } = database;
  const migrator = new Migrator({ db: database.sql, provider: { getMigrations: async () => migrations } });
  await migrator.migrateTo('0034_adopted_infrastructure');
  const [worker, task, want] = [randomUUID(), randomUUID(), randomUUID()];
  await pool.query(`
    insert into resellers values (1, 'r', now());
    insert into clients values (1, 1, 'c', now());
    insert into worker_heartbeats (executor_id, host, pid, beat_at)
      values ('${worker}', 'here', 1, now() - interval '1 minute');
    insert into ai_workers (id, host, pid, capabilities, beat_at)
      values ('${worker}', 'here', 1, '{"categories": []}', now() - interval '1 minute');
    insert into ai_tasks (id, client_id, task_name, status, task_data, search_text, created_at, started_at)
      values ('${task}', 1, 'transcription', 'STARTED', '{"client_id": 1}', '', now(), now());
    insert into ai_task_runs (task_id, client_id, worker_id) values ('${task}', 1, '${worker}');
    insert into wants (kind, id, client_id, project_id, region_id, worker_id, due_at)
      values ('volume', '${want}', 1, 1, 1, '${worker}', now())`);
  expect(await migrate(database)).toContain('0035_one_worker');
  expect(await takeFromDead(database.sql)).toBe(1);
  const claims = createClaims({ database, clock: { now: () => new Date() }, workerId: randomUUID() });
  expect(await claims.takeFromDead()).toBe(1);
  const { rows } = await pool.query(`
    select status, losses, (select count(*) from ai_task_runs) as runs, (select worker_id from wants) as want from ai_tasks`);
  expect(rows).toEqual([{ status: 'PENDING', losses: 1, runs: 0, want: null }]);
  await database.close();
  await drop();
});
