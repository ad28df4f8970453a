import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage, type Stage } from './fixtures/ai-tasks.ts';
import { type AiTaskCounts, type AiTaskFilter, createAiTaskCounts } from './page.ts';
import * as store from './store.ts';

let stage: Stage;
let counts: AiTaskCounts;
beforeAll(async () => {
  stage = await openStage();
  counts = createAiTaskCounts(stage.database);
});
afterAll(() => stage.close());

const now = new Date('2026-11-21T10:00:00Z');
function newTask(url = 'https://example.com/a.mp4') {
  const data = { task_name: 'transcription', client_id: stage.clientId, url } as const;
  return { id: randomUUID(), data, now };
}
const count = async (filter: Omit<AiTaskFilter, 'clientId'>) =>
  (await counts.of({ clientId: stage.clientId, ...filter })).count;

test('a count sees what was committed, not what is under way, however long that takes', async () => {
  const search = 'slow.example';
  const filters: Omit<AiTaskFilter, 'clientId'>[] = [{ search }, { search, status: 'PENDING' }];
  const seen = () => Promise.all(filters.map(count));
  const before = newTask(`https://${search}/1`);
  await stage.database.transaction(async (tx) => {
    await store.insertTask(tx, before);
    // The very first count is made while this transaction is open.
    expect(await seen()).toEqual([0, 0]);
    await stage.database.transaction((other) => store.insertTask(other, newTask(`https://${search}/2`)));
    expect(await seen()).toEqual([1, 1]);
  });
  expect(await seen()).toEqual([2, 2]);
  await stage.database.transaction(async (tx) => {
    await store.takeStep(tx.sql, before.id, { to: 'REVOKED' }, now);
    expect(await seen()).toEqual([2, 2]);
  });
  expect(await seen()).toEqual([2, 1]);
  await expect(
    stage.database.transaction(async (tx) => {
      await store.insertTask(tx, newTask(`https://${search}/3`));
      throw new Error('rolled back');
    }),
  ).rejects.toThrow('rolled back');
  expect(await seen()).toEqual([2, 1]);
});

test('after many changes at once, while it was asked all the time, every count is right', async () => {
  const filters: Omit<AiTaskFilter, 'clientId'>[] = [
    {},
    { status: 'PENDING' },
    { status: 'REVOKED' },
    { search: 'busy.example' },
    { search: 'busy.example', status: 'STARTED' },
    { search: 'even', otherThan: ['REVOKED'] },
  ];
  const writing = Promise.all(
    Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; i < 25; i++) {
        const task = newTask(`https://busy.example/${i % 2 ? 'odd' : 'even'}/${writer}`);
        await stage.database.transaction(async (tx) => {
          await store.insertTask(tx, task);
          if (i % 3 === 0) await store.takeStep(tx.sql, task.id, { to: 'STARTED' }, now);
        });
        if (i % 5 === 0) await store.takeStep(stage.database.sql, task.id, { to: 'REVOKED' }, now);
      }
    }),
  );
  let done = false;
  const reading = (async () => {
    while (!done) await Promise.all(filters.map(count));
  })();
  await writing;
  done = true;
  await reading;
  const anew = createAiTaskCounts(stage.database);
  for (const filter of filters) {
    const { count: right } = await anew.of({ clientId: stage.clientId, ...filter });
    expect(await count(filter), JSON.stringify(filter)).toBe(right);
    expect(right).toBeGreaterThan(0);
  }
});

test('tasks that are deleted are no longer counted', async () => {
  const before = await count({});
  await stage.database.sql.deleteFrom('ai_tasks').where('status', '=', 'REVOKED').execute();
  expect(await count({})).toBeLessThan(before);
  expect(await count({ status: 'REVOKED' })).toBe(0);
});

test('tasks that arrive and change by the thousand are counted', async () => {
  const search = 'bulk.example';
  expect([await count({ search }), await count({ search, status: 'REVOKED' })]).toEqual([0, 0]);
  await stage.database.pool.query(
    `insert into ai_tasks (id, client_id, task_name, status, task_data, search_text, created_at)
     select gen_random_uuid(), $1, 'transcription', 'PENDING', '{}', $2, now()
     from generate_series(1, 2500)`,
    [stage.clientId, search],
  );
  expect([await count({ search }), await count({ search, status: 'REVOKED' })]).toEqual([2500, 0]);
  await stage.database.pool.query(
    `update ai_tasks set status = 'REVOKED', completed_at = now() where search_text = $1`,
    [search],
  );
  expect([await count({ search }), await count({ search, status: 'REVOKED' })]).toEqual([2500, 2500]);
});

test('only changes that no count needs any more are forgotten', async () => {
  const { pool } = stage.database;
  await pool.query(`update ai_task_changes set noted_at = noted_at - interval '61 minutes'
    where ctid in (select ctid from ai_task_changes limit 50)`);
  const before = await pool.query('select count(*) as count from ai_task_changes');
  await stage.database.transaction((tx) => store.forgetOldChanges(tx));
  const after = await pool.query('select count(*) as count from ai_task_changes');
  expect(before.rows[0].count - after.rows[0].count).toBe(50);
});
