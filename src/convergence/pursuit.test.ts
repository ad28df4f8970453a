import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Backend, Unavailable, Unsupported } from '../backends/contract/backend.ts';
import { progressing } from './fixtures/scripted-backend.ts';
import { network, newId, volume } from './fixtures/specs.ts';
import { test, until } from './fixtures/stage.ts';
import { change, make, remove } from './wants.ts';

test('infrastructure that is away for a while is asked again, ever more rarely, and the task says so', async ({
  stage,
  backend,
}) => {
  const id = newId();
  const at: number[] = [];
  let away = true;
  backend.on(id, () => {
    at.push(performance.now());
    if (!away) return undefined;
    throw new Unavailable('the storage does not answer');
  });
  await stage.worker(backend);
  const task = await stage.submit([make('volume', id, volume())]);
  const { doing } = await until(async () => {
    const found = await stage.wantOf('volume', id);
    return (found?.failures ?? 0) >= 3 ? found : undefined;
  });
  expect(doing).toBe('the storage does not answer');
  away = false;
  expect(await stage.endOf(task)).toMatchObject({ state: 'FINISHED' });
  const pauses = at.slice(1).map((one, index) => one - (at[index] ?? 0));
  expect(pauses.at(-1)).toBeGreaterThan(pauses[0] ?? 0);
  expect(await stage.wantOf('volume', id)).toMatchObject({ failures: 0, doing: null });
});

test('a backend that hangs holds nobody up who needs another', async ({ stage, backend }) => {
  const hanging = Array.from({ length: 600 }, newId);
  await stage.want(...hanging.map((id) => make('volume', id, volume())));
  const hung: Backend = { ...backend, converge: () => new Promise(() => {}) };
  await stage.worker(backend, { backendOf: (_region, kind) => (kind === 'volume' ? hung : backend) });
  await until(async () => {
    const { rows } = await stage.database.pool.query(
      `select from wants where doing = 'the infrastructure does not answer'`,
    );
    return rows.length > 0 || undefined;
  });
  const task = await stage.submit([make('network', newId(), network())]);
  expect(await stage.endOf(task)).toMatchObject({ state: 'FINISHED' });
});

test('a backend whose storage hangs still makes networks', async ({ stage, backend }) => {
  await stage.want(...Array.from({ length: 40 }, () => make('volume', newId(), volume())));
  const converge: Backend['converge'] = (ref, ...more) =>
    ref.kind === 'volume' ? new Promise(() => {}) : backend.converge(ref, ...more);
  await stage.worker({ ...backend, converge });
  const task = await stage.submit([make('network', newId(), network())]);
  expect(await stage.endOf(task)).toMatchObject({ state: 'FINISHED' });
});

test('a slow backend with much to do leaves room for another', async ({ stage, backend }) => {
  await stage.want(...Array.from({ length: 2_500 }, () => make('volume', newId(), volume())));
  const slow: Backend = {
    ...backend,
    converge: (ref, spec, call) => delay(2_000, undefined, call).then(() => backend.converge(ref, spec, call)),
  };
  await stage.worker(backend, { backendOf: (_region, kind) => (kind === 'volume' ? slow : backend) });
  const task = await stage.submit([make('network', newId(), network())]);
  expect(await stage.endOf(task)).toMatchObject({ state: 'FINISHED' });
});

test('infrastructure that says when to come again is asked then', async ({ stage, backend }) => {
  const id = newId();
  backend.on(id, ({ times }) => {
    if (times > 6) return undefined;
    throw new Unavailable('busy', { retryAfterMs: 1 });
  });
  await stage.worker(backend);
  expect(await stage.endOf(await stage.submit([make('volume', id, volume())]))).toMatchObject({
    state: 'FINISHED',
  });
  expect(backend.toldOf(id)).toHaveLength(7);
});

test('a broken connection of a backend is tried again, however it is wrapped', async ({ stage, backend }) => {
  const id = newId();
  backend.on(id, ({ times }) => {
    if (times > 1) return undefined;
    throw new TypeError('fetch failed', {
      cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
    });
  });
  await stage.worker(backend);
  expect(await stage.endOf(await stage.submit([make('volume', id, volume())]))).toMatchObject({
    state: 'FINISHED',
  });
});

test('what the infrastructure lacks something for fails with what to install', async ({ stage, backend }) => {
  const id = newId();
  backend.on(id, ({ spec }) => {
    if (spec === null) return undefined;
    throw new Unsupported('install qemu-img');
  });
  await stage.worker(backend);
  const task = await stage.endOf(await stage.submit([make('volume', id, volume())]));
  expect(task).toMatchObject({ state: 'ERROR', error: `volume ${id}: install qemu-img` });
});

test('a fault of ours is tried five times, and its text stays in the log', async ({ stage, backend }) => {
  const id = newId();
  backend.on(id, ({ spec }) => {
    if (spec === null) return undefined;
    throw new TypeError('secret: x is undefined');
  });
  await stage.worker(backend);
  const { error } = await stage.endOf(await stage.submit([make('volume', id, volume())]));
  expect(error).toBe(`volume ${id}: internal error; the server's log has the details under this ID`);
  expect(error).not.toMatch(/secret/);
  expect(backend.toldOf(id).filter(({ spec }) => spec !== null)).toHaveLength(5);
  await stage.gone('volume', id);
});

test('a removal that fails by a fault of ours goes on after its task', async ({ stage, backend }) => {
  const id = newId();
  await stage.worker(backend);
  await stage.want(make('volume', id, volume()));
  await stage.settled('volume', id);
  let broken = true;
  backend.on(id, () => {
    if (broken) throw new TypeError('x is undefined');
    return undefined;
  });
  await stage.want(remove('volume', id));
  await until(async () => ((await stage.wantOf('volume', id))?.failures ?? 0) >= 3 || undefined);
  broken = false;
  await stage.gone('volume', id);
  expect(backend.there.size).toBe(0);
});

test('what is changed while it is being made is made as it is wanted last', async ({ stage, backend }) => {
  const id = newId();
  backend.on(id, ({ spec }) => ((spec as { sizeGib: number }).sizeGib < 4 ? progressing(20) : undefined));
  await stage.worker(backend);
  const tasks = [await stage.submit([make('volume', id, volume())])];
  for (const sizeGib of [2, 3, 4]) {
    await until(() => backend.toldOf(id).at(-1)?.call.generation === sizeGib - 1 || undefined);
    tasks.push(await stage.submit([change('volume', id, (spec) => ({ ...spec, sizeGib }))]));
  }
  for (const task of tasks) expect(await stage.endOf(task)).toMatchObject({ state: 'FINISHED' });
  expect(backend.there.get(id)).toEqual(volume(4));
});

test('what is wanted no more ends a call that hangs', async ({ stage, backend }) => {
  const id = newId();
  backend.on(id, ({ spec }) => (spec === null ? undefined : new Promise(() => {})));
  await stage.worker(backend);
  const task = await stage.submit([make('volume', id, volume())], { deadlineMs: 500 });
  expect(await stage.endOf(task)).toMatchObject({ error: expect.stringContaining('did not answer') });
  await stage.gone('volume', id);
  expect(backend.toldOf(id)[0]?.call.signal.aborted).toBe(true);
});

test('what a backend remembers before an order reaches who comes next', async ({ stage, backend }) => {
  const id = newId();
  const handles: unknown[] = [];
  const forgetful: Backend = {
    ...backend,
    async converge(ref, spec, call) {
      if (ref.id !== id) return backend.converge(ref, spec, call);
      handles.push(ref.handle);
      if (ref.handle === null) {
        await call.remember?.('ordered');
        throw new Unavailable('the answer was lost', { retryAfterMs: 1 });
      }
      return { state: 'settled', observed: {} as never };
    },
  };
  await stage.worker(forgetful);
  expect(await stage.endOf(await stage.submit([make('volume', id, volume())]))).toMatchObject({ state: 'FINISHED' });
  expect(handles).toEqual([null, 'ordered']);
});

test('nothing is ordered that is wanted no more', async ({ stage, backend }) => {
  const id = newId();
  const ordered: (object | null)[] = [];
  const slow: Backend = {
    ...backend,
    async converge(_ref, spec, call) {
      if (spec !== null) await stage.want(remove('network', id));
      await call.remember?.('ordered');
      ordered.push(spec);
      return { state: 'settled', observed: null as never };
    },
  };
  await stage.worker(slow);
  await stage.want(make('network', id, network()));
  await stage.gone('network', id);
  expect(ordered).toEqual([null]);
});

test('a call that gets no answer is given up and made again, and holds nobody up', async ({ stage, backend }) => {
  const hanging = Array.from({ length: 40 }, newId);
  for (const id of hanging) backend.on(id, ({ times }) => (times > 1 ? undefined : new Promise(() => {})));
  await stage.worker(backend, { longestCallMs: 300 });
  const task = await stage.submit(hanging.map((id) => make('volume', id, volume())));
  const other = await stage.submit([make('volume', newId(), volume())]);
  for (const id of [task, other]) expect(await stage.endOf(id)).toMatchObject({ state: 'FINISHED' });
  expect(backend.toldOf(hanging[0] ?? '')[0]?.call.signal.aborted).toBe(true);
});

test('the name that a backend has for a thing is kept, whatever comes after', async ({ stage, backend }) => {
  const id = newId();
  let refusing = true;
  backend.on(id, ({ times, handle, spec }) => {
    if (times === 1) return { ...progressing(20), handle: 'theirs' };
    expect(handle).toBe('theirs');
    if (spec === null) return undefined;
    if ((spec as { sizeGib: number }).sizeGib === 1) return progressing(20);
    if (refusing) throw new Unavailable('busy', { retryAfterMs: 50 });
    return undefined;
  });
  const first = await stage.worker(backend);
  await stage.want(make('volume', id, volume()));
  await until(() => backend.toldOf(id).length > 2 || undefined);
  await stage.want(change('volume', id, (spec) => ({ ...spec, sizeGib: 2 })));
  await until(() => backend.toldOf(id).at(-1)?.call.generation === 2 || undefined);
  await first.stop(1_000);
  expect(await stage.wantOf('volume', id)).toMatchObject({ handle: 'theirs', worker_id: null });
  refusing = false;
  await stage.worker(backend);
  expect(await stage.settled('volume', id)).toMatchObject({ handle: 'theirs' });
  await stage.want(remove('volume', id));
  await stage.gone('volume', id);
  expect(
    backend
      .toldOf(id)
      .slice(1)
      .every(({ handle }) => handle === 'theirs'),
  ).toBe(true);
});

test('a backend gets the secrets of a thing, and they go with it', async ({ stage, backend }) => {
  const id = newId();
  const got: unknown[] = [];
  backend.on(id, ({ spec, call }) => (spec === null ? undefined : ask(call)));
  async function ask(call: { secret(name: string): Promise<string | undefined> }) {
    got.push(await call.secret('password'), await call.secret('nothing'));
    return undefined as never;
  }
  await stage.worker(backend);
  await stage.want(make('volume', id, volume(), { password: 'hidden' }));
  await stage.settled('volume', id);
  expect(got).toEqual(['hidden', undefined]);
  await stage.want(remove('volume', id));
  await stage.gone('volume', id);
  expect((await stage.database.pool.query('select from want_secrets')).rowCount).toBe(0);
});

test('hundreds of things that take their time do not wait for each other', async ({ stage, backend }) => {
  const ids = Array.from({ length: 700 }, newId);
  for (const id of ids) backend.on(id, ({ times }) => (times < 3 ? progressing(200) : undefined));
  await stage.worker(backend);
  await stage.want(...ids.map((id) => make('volume', id, volume())));
  await until(async () => (await stage.unfinished()).length === 0 || undefined);
  expect(backend.there.size).toBe(700);
});
