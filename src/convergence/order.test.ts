import { expect } from 'vitest';
import { progressing } from './fixtures/scripted-backend.ts';
import { machine, network, newId, port, volume } from './fixtures/specs.ts';
import { type Stage, test, until } from './fixtures/stage.ts';
import { change, make, remove } from './wants.ts';

const doing = (stage: Stage, kind: 'machine' | 'network' | 'port', id: string, text: string) =>
  until(async () => (await stage.wantOf(kind, id))?.doing === text || undefined);

test('a machine waits for its ports, and they for their network', async ({ stage, backend }) => {
  const [netId, portId, diskId, machineId] = [newId(), newId(), newId(), newId()];
  let released = false;
  backend.on(netId, () => (released ? undefined : progressing()));
  await stage.worker(backend);
  const id = await stage.submit([
    make('machine', machineId, machine([portId], [diskId])),
    make('port', portId, port(netId)),
    make('volume', diskId, volume()),
    make('network', netId, network()),
  ]);
  await doing(stage, 'port', portId, `waiting for network ${netId}`);
  await doing(stage, 'machine', machineId, `waiting for port ${portId}`);
  expect(backend.there.has(portId)).toBe(false);
  released = true;
  expect(await stage.endOf(id)).toMatchObject({ state: 'FINISHED' });
  expect(backend.order().filter((one) => one !== diskId)).toEqual([netId, portId, machineId]);
});

test('what nobody wants is taken to be there', async ({ stage, backend }) => {
  await stage.worker(backend);
  const id = await stage.submit([make('port', newId(), port(newId()))]);
  expect(await stage.endOf(id)).toMatchObject({ state: 'FINISHED' });
});

test('a network goes after its port, and that after its machine', async ({ stage, backend }) => {
  const [netId, portId, machineId] = [newId(), newId(), newId()];
  await stage.worker(backend);
  const all = [
    make('network', netId, network()),
    make('port', portId, port(netId)),
    make('machine', machineId, machine([portId])),
  ];
  await stage.endOf(await stage.submit(all));
  let released = false;
  const gone: string[] = [];
  for (const one of [netId, portId, machineId]) {
    backend.on(one, ({ spec }) => {
      if (spec !== null) return undefined;
      if (one === machineId && !released) return progressing();
      gone.push(one);
      return undefined;
    });
  }
  const id = await stage.submit([remove('network', netId), remove('port', portId), remove('machine', machineId)], {
    type: 'removing',
  });
  await doing(stage, 'port', portId, `waiting for machine ${machineId}`);
  await doing(stage, 'network', netId, `waiting for port ${portId}`);
  released = true;
  expect(await stage.endOf(id)).toMatchObject({ state: 'FINISHED' });
  expect(gone).toEqual([machineId, portId, netId]);
});

test('a port that a machine is to lose goes once the machine has lost it', async ({ stage, backend }) => {
  const [stays, goes, machineId] = [newId(), newId(), newId()];
  await stage.worker(backend);
  const ports = [stays, goes].map((one) => make('port', one, port(newId())));
  await stage.endOf(await stage.submit([...ports, make('machine', machineId, machine([stays, goes]))]));
  let released = false;
  backend.on(machineId, () => (released ? undefined : progressing()));
  const id = await stage.submit([
    remove('port', goes),
    change('machine', machineId, (spec) => ({ ...spec, ports: { [stays]: { position: 0 } } })),
  ]);
  await doing(stage, 'port', goes, `waiting for machine ${machineId}`);
  released = true;
  expect(await stage.endOf(id)).toMatchObject({ state: 'FINISHED' });
  expect([...backend.there.keys()].sort()).toEqual([stays, machineId].sort());
  expect(backend.there.get(machineId)).toMatchObject({ ports: { [stays]: { position: 0 } } });
});

test('a snapshot may go once the volume that was filled from it is there', async ({ stage, backend }) => {
  const [sourceId, snapshotId, volumeId] = [newId(), newId(), newId()];
  let released = false;
  backend.on(volumeId, () => (released ? undefined : progressing()));
  await stage.worker(backend);
  await stage.endOf(
    await stage.submit([
      make('volume', sourceId, volume()),
      make('snapshot', snapshotId, { name: 's', volumeId: sourceId, metadata: {} }),
    ]),
  );
  const made = await stage.submit([make('volume', volumeId, { ...volume(), source: { snapshotId } })]);
  await until(async () => (await stage.wantOf('volume', volumeId))?.doing === 'making it' || undefined);
  released = true;
  await stage.endOf(made);
  expect(await stage.endOf(await stage.submit([remove('snapshot', snapshotId)], { type: 'removing' }))).toMatchObject({
    state: 'FINISHED',
  });
  expect(backend.there.has(volumeId)).toBe(true);
});

test('what is wanted while that which it waits for is being settled does not miss it', async ({ stage, backend }) => {
  const [netId, first, second] = [newId(), newId(), newId()];
  let released = false;
  backend.on(netId, () => (released ? undefined : progressing()));
  await stage.worker(backend);
  await stage.want(make('network', netId, network()), make('port', first, port(netId)));
  await doing(stage, 'port', first, `waiting for network ${netId}`);
  const holder = await stage.database.pool.connect();
  await holder.query('begin');
  await holder.query('select from wants where id = $1 for update', [first]);
  released = true;
  // The transaction is blocked before it wakes those that wait for the network, so it can't know of the next want.
  await until(async () => {
    const { rowCount } = await stage.database.pool.query(`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
    return rowCount || undefined;
  });
  await stage.want(make('port', second, port(netId)));
  await doing(stage, 'port', second, `waiting for network ${netId}`);
  await holder.query('commit');
  holder.release();
  await stage.settled('port', first);
  await until(async () => (await stage.wantOf('port', second))?.settled_generation === 1 || undefined);
});

test('a worker that is bound to regions works on their infrastructure alone', async ({ stage, backend }) => {
  const id = newId();
  await stage.worker(backend, { regions: [2, 3] });
  const task = await stage.submit([make('volume', id, volume())]);
  await stage.worker(backend, { regions: [3] });
  expect(await stage.wantOf('volume', id)).toMatchObject({ worker_id: null, settled_generation: null });
  expect((await stage.taskOf(task)).state).toBe('NEW');
  await stage.worker(backend, { regions: [1] });
  expect(await stage.endOf(task)).toMatchObject({ state: 'FINISHED' });
  const { rows } = await stage.database.pool.query('select regions::int[] from workers order by regions');
  expect(rows.map(({ regions }) => regions)).toEqual([[1], [2, 3], [3]]);
});
