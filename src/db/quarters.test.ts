import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { TASKS } from '../cloud/ground/tasks/store.ts';
import { USER_ACTIONS } from '../cloud/ground/user-actions/store.ts';
import { firstTaskId, newTaskId } from '../lib/ids.ts';
import { type Database, openDatabase } from './database.ts';
import { keepQuarters, type QuarterlyTable } from './quarters.ts';

let empty: TestDatabase;
let database: Database;
beforeEach(async () => {
  empty = await createDatabase();
  database = openDatabase({ connectionString: empty.url }, 3);
  await database.pool.query(
    `insert into resellers values (1, 'r', now()); insert into clients values (1, 1, 'c', now())`,
  );
});
afterEach(async () => {
  await database.close();
  await empty.drop();
});

const at = (time: string) => new Date(time);
const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * 86_400_000);
const LONG = 99_999;
const keep = (table: QuarterlyTable, now: string, keptDays = LONG) =>
  keepQuarters(database, table, { now: at(now), before: daysBefore(at(now), keptDays) });

async function addTask(
  id: string,
  createdOn: string,
  state: 'FINISHED' | 'NEW' = 'FINISHED',
  clientId = 1,
): Promise<void> {
  await database.pool.query(
    `insert into tasks (id, task_type, state, client_id, user_id, user_client_id, data, created_on, finished_on, deadline_at)
     values ($1, 'create_volume', $2, $4, 1, 1, '{}', $3::timestamptz, case when $2 = 'FINISHED' then $3::timestamptz end, $3)`,
    [id, state, createdOn, clientId],
  );
}

/** Where each row is. */
async function places(table: string): Promise<Record<string, string>> {
  const { rows } = await database.pool.query(
    `select ${table === 'tasks' ? 'id' : 'request_id'} as id, tableoid::regclass::text as place from ${table}`,
  );
  return Object.fromEntries(rows.map(({ id, place }) => [id, place]));
}

test('the next quarter of tasks is made ahead, and holds what is its own', async () => {
  const nothing = { made: [], dropped: [], held: [] };
  expect(await keepQuarters(database, TASKS, { now: at('2030-06-10T00:00:00Z'), before: undefined })).toEqual(nothing);
  const [old, stray] = [randomUUID().replace(/^./, 'f'), firstTaskId(at('2030-08-20T00:00:00Z'))];
  await addTask(old, '2030-04-01T00:00:00Z');
  await addTask(stray, '2030-04-01T00:00:00Z');
  const made = { ...nothing, made: ['tasks_2030_q3'] };
  expect(await keep(TASKS, '2030-06-10T00:00:00Z')).toEqual(made);
  const next = firstTaskId(at('2030-07-01T00:00:00Z'));
  await addTask(next, '2030-07-01T00:00:00Z');
  expect(await places('tasks')).toEqual({
    [old]: 'tasks_default',
    [stray]: 'tasks_2030_q3',
    [next]: 'tasks_2030_q3',
  });
  await expect(addTask(old, '2030-07-01T00:00:00Z')).rejects.toThrow('tasks_default_pkey');
  expect(await keep(TASKS, '2030-06-10T01:00:00Z')).toEqual(nothing);
  expect(await keep(TASKS, '2030-09-10T00:00:00Z')).toMatchObject({ made: ['tasks_2030_q4'] });
  expect(await keep(TASKS, '2030-12-10T00:00:00Z')).toMatchObject({ made: ['tasks_2031_q1'] });
});

test('a quarter is not made while a task goes on whose random id belongs there', async () => {
  const stray = firstTaskId(at('2030-08-20T00:00:00Z'));
  await addTask(stray, '2030-04-01T00:00:00Z', 'NEW');
  expect(await keep(TASKS, '2030-06-10T00:00:00Z')).toMatchObject({ made: [] });
  await database.pool.query(`update tasks set state = 'FINISHED', finished_on = created_on`);
  expect(await keep(TASKS, '2030-06-10T06:00:00Z')).toMatchObject({ made: ['tasks_2030_q3'] });
  expect(await places('tasks')).toEqual({ [stray]: 'tasks_2030_q3' });
});

test('nobody waits while the default partition is looked through', async () => {
  const said: string[] = [];
  const observed = openDatabase({ connectionString: empty.url }, 1);
  observed.pool.on('connect', (client) => {
    client.on('notice', ({ message }) => void said.push(message ?? ''));
    void client.query('set client_min_messages = debug1');
  });
  for (const table of [TASKS, USER_ACTIONS])
    await keepQuarters(observed, table, {
      now: at('2030-06-10T00:00:00Z'),
      before: at('1970-01-01T00:00:00Z'),
    });
  await observed.close();
  const proven = said.filter((line) => line.includes('is implied by existing constraints'));
  for (const { name } of [TASKS, USER_ACTIONS]) {
    expect(proven.filter((line) => line.includes(`"${name}_default"`))).toHaveLength(1);
  }
});

test('a quarter has the indexes, keys and constraints of the whole table', async () => {
  await keep(TASKS, '2030-06-10T00:00:00Z');
  await keep(USER_ACTIONS, '2030-06-10T00:00:00Z');
  const { rows } = await database.pool.query(`
    select inhparent::regclass::text as whole, count(*)::int as parts from pg_inherits join pg_index on indexrelid = inhparent
    where indisvalid group by inhparent`);
  expect(rows.length).toBeGreaterThan(10);
  expect(new Set(rows.map(({ parts }) => parts))).toEqual(new Set([2]));
  const wanted = `insert into task_wants (task_id, kind, want_id, generation) values ($1, 'volume', $1, 1)`;
  await expect(database.pool.query(wanted, [newTaskId()])).rejects.toThrow('task_wants_task_fkey');
  await expect(addTask(firstTaskId(at('2030-08-01T00:00:00Z')), '2030-08-01T00:00:00Z', 'NEW', 99)).rejects.toThrow(
    'tasks_client_id_fkey',
  );
});

test('old quarters go, but none with a task that has not ended; what is in no quarter goes by its age', async () => {
  for (const now of ['2028-12-10T00:00:00Z', '2029-03-10T00:00:00Z']) await keep(TASKS, now);
  const [ended, unended] = ['2029-01-05T00:00:00Z', '2029-04-05T00:00:00Z'].map((time) => firstTaskId(at(time)));
  await addTask(ended ?? '', '2029-01-05T00:00:00Z');
  await addTask(unended ?? '', '2029-04-05T00:00:00Z', 'NEW');
  const [young, old, oldAndUnended] = [newTaskId(), newTaskId(), newTaskId()];
  await addTask(young, '2030-07-20T00:00:00Z');
  await addTask(old, '2028-12-20T00:00:00Z');
  await addTask(oldAndUnended, '2028-12-20T00:00:00Z', 'NEW');
  // The last day of the second one is too young.
  expect(await keep(TASKS, '2030-06-30T00:00:00Z', 365)).toMatchObject({
    dropped: [{ quarter: 'tasks_2029_q1' }],
    held: [],
  });
  expect(await keep(TASKS, '2030-07-01T00:00:00Z', 365)).toMatchObject({
    dropped: [],
    held: ['tasks_2029_q2'],
  });
  expect(Object.keys(await places('tasks')).toSorted()).toEqual([unended, young, oldAndUnended].map(String).toSorted());
  await database.pool.query(`update tasks set state = 'ERROR', error = 'x', finished_on = created_on`);
  // It waits for its infrastructure to go, although it has ended.
  await database.pool.query(
    `insert into task_wants (task_id, kind, want_id, generation) values ($1, 'volume', $1, 1)`,
    [unended],
  );
  expect(await keep(TASKS, '2030-07-01T00:00:00Z', 365)).toMatchObject({ held: ['tasks_2029_q2'] });
  await database.pool.query('delete from task_wants');
  expect(await keep(TASKS, '2030-07-01T00:00:00Z', 365)).toMatchObject({
    dropped: [{ quarter: 'tasks_2029_q2' }],
  });
});

test('lists pass over a quarter once all of its tasks have ended', async () => {
  await keep(TASKS, '2028-12-10T00:00:00Z');
  const [first, second] = ['2029-01-05T00:00:00Z', '2029-03-05T00:00:00Z'].map((time) =>
    String(firstTaskId(at(time))),
  ) as [string, string];
  await addTask(first, '2029-01-05T00:00:00Z');
  await addTask(second, '2029-03-05T00:00:00Z', 'NEW');
  const looksThere = async (where: string) => {
    const { rows } = await database.pool.query(`explain select from tasks where ${where}`);
    return rows.some((row) => row['QUERY PLAN'].includes('tasks_2029_q1'));
  };
  const [running, late] = [`state in ('NEW', 'RUNNING')`, `created_on >= '2029-04-02'`];
  await keep(TASKS, '2029-04-03T00:00:00Z');
  expect(await looksThere(running)).toBe(true);
  expect(await looksThere(late)).toBe(true);
  await database.pool.query(`update tasks set state = 'FINISHED', finished_on = created_on`);
  await keep(TASKS, '2029-04-01T12:00:00Z');
  expect(await looksThere(running)).toBe(true);
  await keep(TASKS, '2029-04-03T00:00:00Z');
  expect(await looksThere(running)).toBe(false);
  expect(await looksThere(late)).toBe(false);
  expect(await looksThere(`created_on >= '2029-04-01'`)).toBe(true);
  expect(await looksThere(`state in ('FINISHED', 'RUNNING')`)).toBe(true);
  await database.pool.query('update tasks set acknowledged_at = now(), acknowledged_by = 1');
});

test('a quarter stays open whose tasks say that they were made after it', async () => {
  await keep(TASKS, '2028-12-10T00:00:00Z');
  await addTask(firstTaskId(at('2029-01-05T00:00:00Z')), '2029-05-05T00:00:00Z');
  await keep(TASKS, '2029-04-03T00:00:00Z');
  const { rows } = await database.pool.query(`select from pg_constraint where conname ~ '_closed$'`);
  expect(rows).toHaveLength(0);
});

test('a quarter is dropped while others read and write the table and what it refers to', async () => {
  await keep(TASKS, '2028-12-10T00:00:00Z');
  const reader = await database.pool.connect();
  await reader.query('begin');
  await reader.query('select from tasks');
  await reader.query('select from clients for key share');
  let over = false;
  const dropping = keep(TASKS, '2030-06-10T00:00:00Z', 300).finally(() => {
    over = true;
  });
  // It waits for the reader, and nobody waits for it for long.
  for (let n = 0; n < 20; n++) await addTask(newTaskId(), '2030-06-10T00:00:00Z');
  expect(over).toBe(false);
  await reader.query('commit');
  reader.release();
  while (!over) await addTask(newTaskId(), '2030-06-10T00:00:00Z');
  expect(await dropping).toMatchObject({ dropped: [{ quarter: 'tasks_2029_q1' }] });
  expect(Object.keys(await places('tasks')).length).toBeGreaterThanOrEqual(20);
});

test('the next quarter is made while others write', async () => {
  const writer = await database.pool.connect();
  await writer.query('begin');
  await writer.query('lock table tasks in row exclusive mode');
  let over = false;
  const making = keep(TASKS, '2030-06-10T00:00:00Z').finally(() => {
    over = true;
  });
  for (let n = 0; n < 20; n++) await addTask(newTaskId(), '2030-06-10T00:00:00Z');
  expect(over).toBe(false);
  await writer.query('commit');
  writer.release();
  while (!over) await addTask(newTaskId(), '2030-06-10T00:00:00Z');
  expect(await making).toMatchObject({ made: ['tasks_2030_q3'] });
});

test('actions of users are kept for as long as is said', async () => {
  const note = (id: string, time: string) =>
    database.pool.query(
      `insert into user_actions
         (client_id, user_id, request_id, operation, method, path, source_user_ip, outcome, status, "timestamp")
       values (7, 7, $1, '', 'POST', '/', '', 'accepted', 200, $2)`,
      [id, time],
    );
  await note('before', '2028-12-31T23:59:59Z');
  for (const now of ['2028-12-10T00:00:00Z', '2029-03-10T00:00:00Z']) await keep(USER_ACTIONS, now);
  await note('first', '2029-01-01T00:00:00Z');
  await note('second', '2029-06-30T23:59:59Z');
  await note('later', '2030-02-10T00:00:00Z');
  expect(await places('user_actions')).toEqual({
    before: 'user_actions_default',
    first: 'user_actions_2029_q1',
    second: 'user_actions_2029_q2',
    later: 'user_actions_default',
  });
  await keep(USER_ACTIONS, '2030-04-15T00:00:00Z', 365);
  expect(Object.keys(await places('user_actions')).toSorted()).toEqual(['later', 'second']);
});

test('goes on from where another process was killed', async () => {
  await database.pool.query('create table tasks_2030_q3 (like tasks_default including all)');
  await database.pool.query(
    `alter table tasks_default add constraint tasks_2030_q3_elsewhere check (id < '${firstTaskId(at('2030-07-01T00:00:00Z'))}') not valid`,
  );
  await keep(TASKS, '2030-06-30T12:00:00Z');
  const id = firstTaskId(at('2030-08-20T00:00:00Z'));
  await addTask(id, '2030-08-20T00:00:00Z');
  // It was too late for that quarter.
  expect(await places('tasks')).toEqual({ [id]: 'tasks_default' });
});
