import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../../test/support/databases.ts';
import { type Database, openDatabase, withDryRuns } from '../../db/database.ts';
import { DryRun } from '../../lib/request-context.ts';
import type { Principal } from '../../requests/principal.ts';
import { createEvents } from './service.ts';
import { deleteOldest, newest } from './store.ts';
import { createTail, type Tail } from './tail.ts';

const principal = { clientId: 1, roleId: 1, platformAdministrator: false } as Principal;
const silent = { connected: () => true, on: () => {}, close: async () => {} };

let place: TestDatabase;
let database: Database;
let writer: pg.Client;
beforeAll(async () => {
  place = await createDatabase();
});
afterAll(() => place.drop());
beforeEach(async () => {
  database = withDryRuns(openDatabase({ connectionString: place.url }, 5));
  writer = new pg.Client(place.url);
  await writer.connect();
});
afterEach(async () => {
  await writer.end();
  await database.close();
});

const write = (count = 1) =>
  database.pool.query(
    `insert into events (client_id, type, subject, "time", data)
     select 1, 'tradewind.volume.updated', 'volume/' || number, now(), '{}' from generate_series(1, $1) as number`,
    [count],
  );

describe('the tail', () => {
  let tail: Tail;
  let leave: () => void;
  beforeEach(() => {
    tail = createTail(database);
    leave = tail.enter();
  });
  afterEach(() => {
    leave();
    tail.stop();
  });

  it('goes before listeners that are far behind', async () => {
    await tail.ready();
    let answered = 0;
    const asked = Array.from({ length: 300 }, () =>
      tail.ask(1, async () => {
        await sleep(3);
        answered++;
      }),
    );
    await tail.ready();
    expect(answered).toBeLessThan(asked.length);
    await Promise.all(asked);
  });

  it('lets accounts take turns, however many listeners of one are behind', async () => {
    await tail.ready();
    let answered = 0;
    const ask = (clientId: number) =>
      tail.ask(clientId, async (sql) => {
        await newest(sql);
        if (clientId === 1) answered++;
      });
    // So that both connections are open.
    await Promise.all([ask(3), ask(4)]);
    const asked = Promise.all(Array.from({ length: 190 }, () => ask(1)));
    await ask(2);
    const before = answered;
    await asked;
    expect(before).toBeLessThan(95);
  });

  it('looks less and less often while a transaction takes long', async () => {
    await tail.ready();
    // Another one holds an earlier position.
    await writer.query('begin; select next_event_position()');
    await write();
    let queries = 0;
    database.pool.on('acquire', () => queries++);
    await sleep(1_500);
    expect(queries).toBeLessThan(40);
    expect(tail.settled()).toBe(0);
    await writer.query('rollback');
    await expect.poll(() => tail.settled()).toBeGreaterThan(0);
  });

  it('says that it cannot tell yet what is final, if that takes long', async () => {
    leave();
    tail.stop();
    await writer.query('begin; select pg_current_xact_id()');
    tail = createTail(database);
    leave = tail.enter();
    await expect(tail.ready()).rejects.toThrow('takes long');
    await writer.query('commit');
    await expect.poll(() => tail.ready().catch(() => -1)).toBeGreaterThan(0);
  });

  it('waits for whoever writes to the database, and not for those who write to others', async () => {
    const role = `writer_${randomUUID().slice(0, 8)}`;
    const here = { ...inject('postgres'), database: new URL(place.url).pathname.slice(1) };
    const admin = new pg.Client({ ...here, user: 'postgres' });
    const stranger = new pg.Client({ ...here, user: role });
    await admin.connect();
    await admin.query(`create role ${role} login; grant usage on sequence events_position to ${role}`);
    await writer.end();
    writer = new pg.Client({ ...here, database: 'postgres' });
    await Promise.all([stranger.connect(), writer.connect()]);
    try {
      await writer.query('begin; select pg_current_xact_id()');
      await tail.ready();
      await write();
      expect(await tail.ready()).toBe(await newest(database.sql));
      // This role may not read what the other one is doing.
      await stranger.query('begin; select next_event_position()');
      await write();
      expect(await tail.ready()).toBeLessThan(await newest(database.sql));
      await stranger.query('rollback');
      await expect.poll(() => tail.ready()).toBe(await newest(database.sql));
    } finally {
      await stranger.end();
      await admin.query(`drop owned by ${role}; drop role ${role}`);
      await admin.end();
    }
  });

  it('is not held up by a dry run that has written events and is not over', async () => {
    await tail.ready();
    const run = new DryRun();
    try {
      await run.within(() =>
        database.accept(({ client }) =>
          client.query(
            `insert into events (client_id, type, subject, "time", data) values
               (1, 'tradewind.volume.updated', 'volume/dry', now(), '{}'), (1, 'tradewind.volume.updated', 'volume/dry', now(), '{}')`,
          ),
        ),
      );
      await write();
      const last = await newest(database.sql);
      expect(await tail.ready()).toBe(last);
      expect(tail.heldUpSeconds()).toBe(0);
    } finally {
      run.end();
    }
    const { rows } = await database.pool.query(`select 1 from events where subject = 'volume/dry'`);
    expect(rows).toEqual([]);
  });
});

describe('a listener', () => {
  it('that goes before it is told anything leaves its place to others', async () => {
    const events = createEvents({ database, changes: silent });
    for (let round = 0; round < 51; round++) {
      await events.follow(principal, {}, { cursor: undefined, gone: AbortSignal.abort() });
    }
    events.stop();
  });

  it('that wants few events has them found by the database, a part at a time', async () => {
    await write(12_000);
    await database.pool.query(
      `insert into events (client_id, project_id, type, subject, "time", data) values
         (1, 7, 'tradewind.volume.created', 'volume/x', now(), '{}'), (1, null, 'tradewind.token.created', 'token/1', now(), '{}'),
         (2, 7, 'tradewind.volume.created', 'volume/y', now(), '{}')`,
    );
    // So that none of them is in memory.
    await write(2_100);
    const events = createEvents({ database, changes: silent });
    const { signal } = new AbortController();
    const from = { cursor: 'oldest', gone: signal };
    const found = async (query: object, caller: Principal = principal) =>
      (await events.list(caller, query, from)).events.map(({ subject }) => subject);
    expect(await found({ type: ['tradewind.volume.created'] })).toEqual(['volume/x']);
    expect(await found({ type: ['nothing', 'tradewind.tok*'] })).toEqual(['token/1']);
    expect(await found({ project_id: [7] })).toEqual(['volume/x']);
    expect(await found({ subject: ['token/1'] })).toEqual(['token/1']);
    expect(await found({ type: ['tradewind.tok*'] }, { ...principal, roleId: 2 })).toEqual([]);
    expect(await found({ type: ['tradewind.volume.created'] }, { ...principal, platformAdministrator: true })).toEqual([
      'volume/x',
      'volume/y',
    ]);
    let queries = 0;
    const count = () => queries++;
    database.pool.on('acquire', count);
    expect(await found({ type: ['tradewind.nothing.created'] })).toEqual([]);
    database.pool.off('acquire', count);
    expect(queries).toBeLessThan(12);
    events.stop();
  });

  it('learns that events are missing which are deleted while it reads', async () => {
    await write(500);
    const events = createEvents({ database, changes: silent });
    const gone = new AbortController();
    const told = await events.follow(principal, {}, { cursor: 'oldest', gone: gone.signal });
    await told.next();
    const page = await told.next();
    expect(page.value?.events).toHaveLength(25);
    await deleteOldest(database.sql, {
      before: new Date(Date.now() + 60_000),
      latest: new Date(Date.now() + 60_000),
      limit: 400,
    });
    expect((await told.next()).value).toMatchObject({ events: [], reset: true });
    await write();
    events.wake();
    expect((await told.next()).value).toMatchObject({ events: [{ subject: 'volume/1' }], reset: false });
    gone.abort();
    events.stop();
  });
});
