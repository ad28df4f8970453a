import pg from 'pg';
import { expect } from 'vitest';
import { newId, volume } from './fixtures/specs.ts';
import { type Stage, test, until } from './fixtures/stage.ts';
import { make } from './wants.ts';

const removals = async ({ database }: Stage) => {
  const { rows } = await database.pool.query(
    `select data #>> '{task,step,id}' as id from events where data #>> '{task,step,state}' = 'removed'`,
  );
  return rows.map(({ id }) => id);
};
const DELETED = `delete from wants where kind = 'volume' and id = $1`;

test('a removal that no task awaits tells nobody', async ({ stage }) => {
  const [alone, awaited] = [newId(), newId()];
  await stage.want(make('volume', alone, volume()));
  await stage.submit([make('volume', awaited, volume())]);
  for (const id of [alone, awaited]) await stage.database.pool.query(DELETED, [id]);
  expect(await removals(stage)).toEqual([awaited]);
});

test('a removal tells a task that began to wait for it while it waited for the row', async ({ stage }) => {
  const id = newId();
  await stage.want(make('volume', id, volume()));
  const task = await stage.submit([make('volume', newId(), volume())]);
  const other = new pg.Client(stage.connection);
  await other.connect();
  try {
    await other.query('begin');
    await other.query(`select from wants where kind = 'volume' and id = $1 for no key update`, [id]);
    await other.query(`insert into task_wants (task_id, kind, want_id, generation) values ($1, 'volume', $2, 1)`, [
      task,
      id,
    ]);
    const deletion = stage.database.pool.query(DELETED, [id]);
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    const committed = until(async () => (await stage.database.pool.query(waiting)).rowCount || undefined).then(() =>
      other.query('commit'),
    );
    await Promise.all([deletion, committed]);
  } finally {
    await other.end();
  }
  expect(await removals(stage)).toEqual([id]);
});
