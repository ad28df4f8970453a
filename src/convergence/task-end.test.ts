import { expect } from 'vitest';
import { Refused } from '../backends/contract/backend.ts';
import { systemClock } from '../lib/time.ts';
import { takeDue } from './claims.ts';
import { readyTasks, settle } from './endings.ts';
import { log } from './fixtures/log.ts';
import { progressing } from './fixtures/scripted-backend.ts';
import { newId, volume } from './fixtures/specs.ts';
import { test, until } from './fixtures/stage.ts';
import { TASK_ENDS } from './fixtures/task-ends.ts';
import { amend, change, make, remove } from './wants.ts';

const volumes = (count: number) => Array.from({ length: count }, newId);
const refusal = () => {
  throw new Refused('no room for it');
};

test('a task is FINISHED with what it completes once all that it waits for is there', async ({ stage, backend }) => {
  const [first = '', last = ''] = volumes(2);
  let released = false;
  backend.on(last, () => (released ? undefined : progressing()));
  await stage.worker(backend);
  const id = await stage.submit([first, last].map((one) => make('volume', one, volume())));
  await stage.settled('volume', first);
  await until(async () => (await stage.wantOf('volume', last))?.doing === 'making it' || undefined);
  expect(await stage.taskOf(id)).toMatchObject({ state: 'RUNNING' });
  expect(await stage.marksOf(id)).toEqual([]);
  released = true;
  expect(await stage.endOf(id)).toMatchObject({
    state: 'FINISHED',
    error: null,
    created_resources: { things: [id] },
  });
  expect(await stage.marksOf(id)).toEqual(['complete']);
  expect(await stage.unfinished()).toEqual([]);
});

test('a rolled back transaction leaves nothing that is wanted', async ({ stage, backend }) => {
  const id = newId();
  await stage.worker(backend);
  const twice = [make('volume', id, volume()), change('volume', newId(), (spec) => spec)];
  await expect(stage.submit(twice)).rejects.toThrow('is not wanted');
  expect(await stage.wantOf('volume', id)).toBeUndefined();
  expect(await stage.unfinished()).toEqual([]);
});

test('wants of one task that several workers settle at the same moment end it once', async ({ stage, backend }) => {
  for (let count = 0; count < 4; count++) await stage.worker(backend);
  const tasks = await Promise.all(
    Array.from({ length: 20 }, () => stage.submit(volumes(6).map((one) => make('volume', one, volume())))),
  );
  for (const id of tasks) {
    expect(await stage.endOf(id)).toMatchObject({ state: 'FINISHED' });
    expect(await stage.marksOf(id)).toEqual(['complete']);
  }
  expect(await stage.unfinished()).toEqual([]);
});

test('tasks that wait for the same want, and others of their own, are completed once each', async ({
  stage,
  backend,
}) => {
  for (let count = 0; count < 4; count++) await stage.worker(backend);
  const shared = newId();
  await stage.endOf(await stage.submit([make('volume', shared, volume())]));
  const grow = () => change('volume', shared, (spec) => ({ ...spec, sizeGib: spec.sizeGib + 1 }));
  const tasks: string[] = [];
  for (let round = 0; round < 30; round++) {
    tasks.push(await stage.submit([grow(), ...volumes(2).map((one) => make('volume', one, volume()))]));
  }
  for (const id of tasks) {
    expect(await stage.endOf(id)).toMatchObject({ state: 'FINISHED' });
    expect(await stage.marksOf(id)).toEqual(['complete']);
  }
  expect(backend.there.get(shared)).toMatchObject({ sizeGib: 31 });
});

test('a task that ends while another of its wants is settled is completed once', async ({ stage, backend }) => {
  const [shared = '', own = ''] = volumes(2);
  let released = false;
  backend.on(own, () => (released ? undefined : progressing()));
  await stage.worker(backend);
  const id = await stage.submit([shared, own].map((one) => make('volume', one, volume())));
  await stage.settled('volume', shared);
  const holder = await stage.database.pool.connect();
  await holder.query('begin');
  await holder.query('select from tasks where id = $1 for update', [id]);
  released = true;
  await until(async () => {
    const { rowCount } = await stage.database.pool.query(`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
    return rowCount || undefined;
  });
  const other = await stage.submit([change('volume', shared, (spec) => ({ ...spec, sizeGib: 2 }))]);
  expect(await stage.endOf(other)).toMatchObject({ state: 'FINISHED' });
  await holder.query('commit');
  holder.release();
  expect(await stage.endOf(id)).toMatchObject({ state: 'FINISHED' });
  expect(await stage.marksOf(id)).toEqual(['complete']);
});

test('a task that began to wait while its want was being claimed ends with the want', async ({ stage }) => {
  const one = newId();
  const id = await stage.submit([make('volume', one, volume())]);
  const [claim] = await takeDue(stage.database.sql, newId(), 1, [], undefined);
  if (!claim) throw new Error('Nothing is due');
  const { worker_id: workerId } = (await stage.wantOf('volume', one)) ?? {};
  const taskEnds = new Map(TASK_ENDS.map((kind) => [kind.type, kind]));
  const endings = { database: stage.database, clock: systemClock, log, taskEnds };
  await settle(endings, workerId ?? '', { claim: { ...claim, awaited: false }, observed: null });
  expect(await stage.taskOf(id)).toMatchObject({ state: 'FINISHED' });
  expect(await stage.marksOf(id)).toEqual(['complete']);
});

test('a refused creation ends its task with the reason, and what was made of it goes again', async ({
  stage,
  backend,
}) => {
  const [made = '', refused = ''] = volumes(2);
  backend.on(refused, ({ spec }) => (spec === null ? undefined : backend.there.has(made) ? refusal() : progressing()));
  await stage.worker(backend);
  const id = await stage.submit([made, refused].map((one) => make('volume', one, volume())));
  expect(await stage.endOf(id)).toMatchObject({
    state: 'ERROR',
    error: `volume ${refused}: no room for it`,
    created_resources: null,
  });
  expect(await stage.marksOf(id)).toEqual([`abandon: volume ${refused}: no room for it`]);
  await stage.gone('volume', made);
  await stage.gone('volume', refused);
  expect(backend.there.size).toBe(0);
  expect(await stage.unfinished()).toEqual([]);
});

test('a refused change is taken back, and what others changed meanwhile stays', async ({ stage, backend }) => {
  const one = newId();
  await stage.worker(backend);
  await stage.endOf(await stage.submit([make('volume', one, volume(1))]));
  let asked = false;
  backend.on(one, ({ spec }) => {
    asked = true;
    if ((spec as { sizeGib: number }).sizeGib !== 5) return undefined;
    return 'renamed' in (spec as { metadata: object }).metadata ? refusal() : progressing();
  });
  const id = await stage.submit([change('volume', one, (spec) => ({ ...spec, sizeGib: 5 }))]);
  await until(() => asked || undefined);
  await stage.want(change('volume', one, (spec) => ({ ...spec, metadata: { renamed: 'yes' } })));
  expect(await stage.endOf(id)).toMatchObject({ state: 'ERROR', error: `volume ${one}: no room for it` });
  const { spec } = await stage.settled('volume', one);
  expect(spec).toEqual({ ...volume(1), metadata: { renamed: 'yes' } });
  expect(backend.there.get(one)).toEqual(spec);
});

test('who waits for something else is not blamed for a refusal of what another wants', async ({ stage, backend }) => {
  const [shared = '', late = ''] = volumes(2);
  let released = false;
  backend.on(late, () => (released ? undefined : progressing()));
  await stage.worker(backend);
  const id = await stage.submit([shared, late].map((one) => make('volume', one, volume())));
  await stage.settled('volume', shared);
  backend.on(shared, ({ spec }) => ((spec as { sizeGib: number }).sizeGib === 1 ? undefined : refusal()));
  const other = await stage.submit([change('volume', shared, (spec) => ({ ...spec, sizeGib: 2 }))]);
  expect(await stage.endOf(other)).toMatchObject({ state: 'ERROR' });
  // No task waits for this want, so none can fail because of it.
  await stage.want(change('volume', shared, (spec) => ({ ...spec, sizeGib: 3 })));
  await until(async () => (await stage.wantOf('volume', shared))?.failures || undefined);
  released = true;
  expect(await stage.endOf(id)).toMatchObject({ state: 'FINISHED' });
});

test('a creation that takes too long ends at its deadline saying what it was at, and goes', async ({
  stage,
  backend,
}) => {
  const one = newId();
  backend.on(one, ({ spec }) => {
    if (spec === null) return undefined;
    backend.there.set(one, spec);
    return progressing();
  });
  await stage.worker(backend);
  const id = await stage.submit([make('volume', one, volume())], { deadlineMs: 1_500 });
  const { error } = await stage.endOf(id);
  expect(error).toMatch(new RegExp(`^deadline exceeded: .*; volume ${one}: making it$`));
  await stage.gone('volume', one);
  expect(backend.there.size).toBe(0);
  expect(await stage.marksOf(id)).toEqual([`abandon: ${error}`]);
});

test('a task whose completion fails does not fail others that wait for the same', async ({ stage, backend }) => {
  const one = newId();
  let released = false;
  backend.on(one, ({ spec }) => (released || spec === null ? undefined : progressing()));
  await stage.worker(backend);
  await stage.want(make('volume', one, volume()));
  const grow = (sizeGib: number) => [change('volume', one, (spec) => ({ ...spec, sizeGib }))];
  const failing = await stage.submit(grow(2), { type: 'can not complete' });
  const other = await stage.submit([change('volume', one, (spec) => ({ ...spec, name: 'other' }))]);
  released = true;
  expect(await stage.endOf(failing)).toMatchObject({ state: 'ERROR' });
  expect(await stage.endOf(other)).toMatchObject({ state: 'FINISHED' });
  expect((await stage.settled('volume', one)).spec).toEqual({ ...volume(1), name: 'other' });
});

test('a task that nobody takes ends at its deadline, when there is somebody again', async ({ stage, backend }) => {
  const one = newId();
  const id = await stage.submit([make('volume', one, volume())], { deadlineMs: 1 });
  await stage.worker({ ...backend, converge: () => new Promise(() => {}) });
  expect(await stage.endOf(id)).toMatchObject({ state: 'ERROR' });
});

test('a removal outlives its task, and is completed when the thing has gone', async ({ stage, backend }) => {
  const one = newId();
  await stage.worker(backend);
  await stage.endOf(await stage.submit([make('volume', one, volume())]));
  backend.on(one, () => progressing());
  const id = await stage.submit([remove('volume', one)], { type: 'removing', deadlineMs: 300 });
  expect(await stage.endOf(id)).toMatchObject({ error: expect.stringMatching(/; the removal continues$/) });
  expect(await stage.marksOf(id)).toEqual([]);
  backend.off(one);
  await stage.gone('volume', one);
  expect(backend.there.size).toBe(0);
  expect(await stage.marksOf(id)).toEqual(['complete']);
  expect(await stage.taskOf(id)).toMatchObject({ state: 'ERROR', created_resources: null });
  expect(await stage.unfinished()).toEqual([]);
});

test('a removal that is refused goes on: what is made anew would be empty', async ({ stage, backend }) => {
  const one = newId();
  await stage.worker(backend);
  await stage.endOf(await stage.submit([make('volume', one, volume())]));
  let released = false;
  backend.on(one, ({ spec }) => (spec === null && !released ? refusal() : undefined));
  const id = await stage.submit([remove('volume', one)], { type: 'removing' });
  expect(await stage.endOf(id)).toMatchObject({
    error: `volume ${one}: no room for it; the removal continues`,
  });
  expect(await stage.marksOf(id)).toEqual([]);
  released = true;
  await stage.gone('volume', one);
  await until(async () => (await stage.marksOf(id)).length > 0 || undefined);
  expect(await stage.marksOf(id)).toEqual(['complete']);
});

test('what has gone is not brought back while its task still removes something else', async ({ stage, backend }) => {
  const [gone = '', late = ''] = volumes(2);
  await stage.worker(backend);
  await stage.endOf(await stage.submit([gone, late].map((one) => make('volume', one, volume()))));
  let released = false;
  backend.on(late, ({ spec }) => (spec === null && !released ? progressing() : undefined));
  const removal = await stage.submit(
    [gone, late].map((one) => remove('volume', one)),
    { type: 'removing' },
  );
  await stage.gone('volume', gone);
  const change = await stage.submit([amend('volume', gone, () => volume())]);
  expect((await stage.endOf(change)).state).toBe('FINISHED');
  expect(backend.there.has(gone)).toBe(false);
  released = true;
  expect((await stage.endOf(removal)).state).toBe('FINISHED');
  expect(await stage.unfinished()).toEqual([]);
});

test('a task whose completion fails ends ERROR without its text, and what it made goes', async ({ stage, backend }) => {
  const one = newId();
  await stage.worker(backend);
  const id = await stage.submit([make('volume', one, volume())], { type: 'can not complete' });
  const { state, error } = await stage.endOf(id);
  expect([state, error]).toEqual(['ERROR', expect.stringMatching(/internal error.* under task /)]);
  await stage.gone('volume', one);
  // The mark of the completion was rolled back with its transaction.
  expect(await stage.marksOf(id)).toEqual([`abandon: ${error}`]);
  expect(backend.there.size).toBe(0);
});

test.for([1, 2])(
  'a completion that fails takes back no removal of %d, and keeps nothing else from its end',
  async (count, { stage, backend }) => {
    const those = volumes(count);
    await stage.worker(backend);
    await stage.endOf(await stage.submit(those.map((one) => make('volume', one, volume()))));
    const id = await stage.submit(
      those.map((one) => remove('volume', one)),
      { type: 'removing in vain' },
    );
    expect(await stage.endOf(id)).toMatchObject({
      error: expect.stringMatching(/internal error.*; the removal continues$/),
    });
    expect(backend.there.size).toBe(0);
    const late = await stage.submit([make('volume', newId(), volume())], { deadlineMs: 1 });
    expect(['FINISHED', 'ERROR']).toContain((await stage.endOf(late)).state);
    expect(await stage.marksOf(id)).toEqual([]);
  },
);

test.for(['can not abandon', 'unheard of'])('a task that %s ends all the same', async (type, { stage, backend }) => {
  const one = newId();
  backend.on(one, ({ spec }) => (spec === null ? undefined : refusal()));
  await stage.worker(backend);
  const id = await stage.submit([make('volume', one, volume())], { type });
  expect(await stage.endOf(id)).toMatchObject({ state: 'ERROR', error: `volume ${one}: no room for it` });
  await stage.gone('volume', one);
  expect(await stage.marksOf(id)).toEqual([]);
});

test('a task of a type that nobody knows ends ERROR when what it waits for is there', async ({ stage, backend }) => {
  const one = newId();
  await stage.worker(backend);
  const id = await stage.submit([make('volume', one, volume())], { type: 'unheard of' });
  expect(await stage.endOf(id)).toMatchObject({ state: 'ERROR' });
  await stage.gone('volume', one);
  expect(await stage.unfinished()).toEqual([]);
});

test('tasks whose worker died before their end are found, some at a time', async ({ stage, backend }) => {
  const tasks: string[] = [];
  for (const id of volumes(5)) tasks.push(await stage.submit([make('volume', id, volume())]));
  const [waiting = '', ...done] = tasks.toSorted();
  await stage.database.pool.query(
    `update wants set settled_generation = wants.generation, due_at = null
     from task_wants where (wants.kind, wants.id) = (task_wants.kind, want_id) and task_id <> $1`,
    [waiting],
  );
  const found: string[][] = [];
  let from: string | undefined;
  do {
    const { ready, last } = await readyTasks(stage.database, from, 2);
    found.push(ready);
    from = last;
  } while (from !== undefined);
  expect(found).toEqual([[done[0]], [done[1], done[2]], [done[3]]]);
  await stage.worker(backend);
  for (const id of tasks) expect(await stage.endOf(id)).toMatchObject({ state: 'FINISHED' });
});
