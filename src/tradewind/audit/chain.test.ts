import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../../test/support/databases.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { recordedBy } from '../../lib/request-context.ts';
import { createActionLog } from '../../requests/action-log.ts';
import { recordOf } from '../../start/operator.ts';
import { sealRecords, whileRemoving } from './sealing.ts';
import { verifyAudit } from './verification.ts';

const clock = { now: () => new Date('2026-11-23T12:00:00Z') };

let place: TestDatabase;
let database: Database;
beforeAll(async () => {
  place = await createDatabase();
  database = openDatabase({ connectionString: place.url }, 10);
});
afterAll(async () => {
  await database.close();
  await place.drop();
});
beforeEach(async () => {
  await database.pool.query('delete from user_actions; delete from audit_seals where number > 0');
  await database.pool.query(
    `insert into audit_seals select 0, 0, 0, now(), now(), decode(repeat('00', 32), 'hex'), decode(repeat('00', 32), 'hex'), now() on conflict do nothing`,
  );
  await database.pool.query('update audit_retention set removed_before = null');
});

async function act(at = clock.now()): Promise<void> {
  const actionLog = createActionLog({ database });
  const by = { name: 'token create', by: 'a test' };
  const record = recordOf(by, { actionLog, clock: { now: () => at } });
  await recordedBy(record, () => database.accept(async () => {}));
}

/** Seals so many records. Whatever takes long on the same database server delays that. */
async function seal(count: number): Promise<void> {
  let sealed = 0;
  while (sealed < count) sealed += await sealRecords(database, clock);
  expect(sealed).toBe(count);
}

/** Writes records and seals them one by one. */
async function sealed(count: number, at?: Date): Promise<void> {
  for (let round = 0; round < count; round++) {
    await act(at);
    await seal(1);
  }
}

const verify = (known?: { number: number; hash: string }, keptDays: number | undefined = 100) =>
  verifyAudit(database, { known, keptDays });
const change = (text: string) => database.pool.query(text);
const second = 'id = (select id from user_actions order by id limit 1 offset 1)';

describe('an untouched log', () => {
  it('is as it was sealed, however many were written at once', async () => {
    await Promise.all(Array.from({ length: 40 }, () => act()));
    const both = await Promise.all([sealRecords(database, clock), sealRecords(database, clock)]);
    if (both[0] + both[1] < 40) await seal(40 - both[0] - both[1]);
    await act();
    expect(await verify()).toMatchObject({ records: 40, unsealed: 1, faults: [] });
    const { head } = await verify();
    await seal(1);
    expect(await verify(head)).toMatchObject({ records: 41, unsealed: 0, faults: [] });
  });

  it('is not sealed beyond what a transaction may still write', async () => {
    const late = new pg.Client(place.url);
    await late.connect();
    await late.query('begin; select next_user_action_id()');
    await act();
    expect(await sealRecords(database, clock)).toBe(0);
    await late.query(
      `insert into user_actions (id, client_id, user_id, request_id, operation, method, path, source_user_ip, outcome, status, "timestamp")
       values (currval('user_actions_id'), 1, 1, '', 'late', '', '', '', 'accepted', 200, now()); commit`,
    );
    await late.end();
    await seal(2);
    expect((await verify()).faults).toEqual([]);
  });

  it('has its last seal to continue from after a kill between two', async () => {
    await sealed(1);
    await act();
    const broken = { ...database, transaction: () => Promise.reject(new Error('killed')) };
    await expect.poll(() => sealRecords(broken, clock).catch(({ message }) => message)).toBe('killed');
    await seal(1);
    expect(await verify()).toMatchObject({ seals: 2, records: 2, faults: [] });
  });
});

describe('is found out:', () => {
  it.each([
    ['a changed record', `update user_actions set user_id = 7 where ${second}`, 'a record was changed'],
    ['a later time', `update user_actions set "timestamp" = "timestamp" + interval '1 s' where ${second}`, 'changed'],
    ['a removed record', `delete from user_actions where ${second}`, '1 records were sealed, and 0 are there'],
    [
      'an inserted record',
      `insert into user_actions (id, client_id, user_id, request_id, operation, method, path, source_user_ip, outcome, status, "timestamp")
       select id, client_id, 7, request_id, operation, method, path, source_user_ip, outcome, status, '2020-01-01' from user_actions where ${second}`,
      '1 records were sealed, and 2 are there',
    ],
    ['another order of seals', `update audit_seals set hash = sha256(hash) where number = 2`, 'does not follow'],
    ['a removed seal', 'delete from audit_seals where number = 2', 'does not follow'],
    ['a removed beginning', 'delete from audit_seals where number < 2', 'The seals before 2 are gone'],
    ['removed seals', 'delete from audit_seals', 'The seals are gone'],
  ])('%s', async (_, forgery, fault) => {
    await sealed(3);
    // Where the default partition is the only one, the same id may not come twice.
    await change('alter table user_actions_default drop constraint if exists user_actions_default_pkey');
    await change(forgery);
    const { faults } = await verify();
    expect(faults.join('\n')).toContain(fault);
  });

  it('a seal that was made anew with a changed record, by the one after it', async () => {
    await sealed(3);
    await change(`
      create table later_records as select * from user_actions where id = (select max(id) from user_actions);
      create table later_seals as select * from audit_seals where number = 3;
      delete from user_actions where id in (select id from later_records);
      delete from audit_seals where number > 1;
      update user_actions set user_id = 7 where ${second}`);
    await seal(1);
    await change(`
      insert into user_actions select * from later_records;
      insert into audit_seals select * from later_seals;
      drop table later_records, later_seals`);
    expect((await verify()).faults).toEqual([
      expect.stringMatching(/^Seal 3 .*: does not follow from the seal before it$/),
    ]);
  });

  it('seals that are made anew, by the one that was written down', async () => {
    await sealed(3);
    const { head } = await verify();
    await change(`delete from audit_seals where number > 1; delete from user_actions where ${second}`);
    await seal(1);
    expect((await verify()).faults).toEqual([]);
    expect((await verify(head)).faults).toEqual(['Seal 3, which was written down, is gone']);
    await sealed(1);
    expect((await verify(head)).faults).toEqual(['Seal 3 is not the one that was written down']);
  });
});

describe('in spite of a seal that was written down, is found out:', () => {
  const inserted = (id: string) =>
    `insert into user_actions (id, client_id, user_id, request_id, operation, method, path, source_user_ip, outcome, status, "timestamp")
     select ${id}, client_id, 7, request_id, operation, method, path, source_user_ip, outcome, status, "timestamp" from user_actions where ${second}`;

  it.each(['-7', '0', '9000000000000000'])('a record with the number %s', async (id) => {
    await sealed(3);
    const { head } = await verify();
    await change(inserted(id));
    const fault = `Records were inserted with numbers that the log has not given: ${id}`;
    expect((await verify(head)).faults).toEqual([fault]);
    // The next records still get their seals.
    await sealed(1);
    const after = await verify(head);
    expect(after.faults).toEqual([fault]);
    expect(after.seals).toBe(4);
  });

  const raised = `update audit_retention set removed_before = now() + interval '1 day'`;
  it.each([
    ['and nothing else', raised],
    ['and all records are deleted', `${raised}; delete from user_actions`],
    ['and the first ones are deleted', `${raised}; delete from user_actions where ${second}`],
    [
      'and the chain begins later',
      `${raised}; delete from user_actions where id <= (select last_id from audit_seals where number = 2); delete from audit_seals where number < 2`,
    ],
    [
      'as far as it may be, and the times of seals are changed',
      `update audit_retention set removed_before = now() - interval '100 days';
       update audit_seals set first_at = '2020-01-01', last_at = '2020-01-01' where number = 2; delete from user_actions where ${second}`,
    ],
    [
      'as far as it may be, and the first seal that is left is changed',
      `update audit_retention set removed_before = now() - interval '100 days';
       delete from user_actions where id <= (select last_id from audit_seals where number = 2); delete from audit_seals where number < 2;
       update audit_seals set last_at = '2020-01-01' where number = 2`,
    ],
    [
      'as far as it may be, and the seal is removed as well',
      `update audit_retention set removed_before = now() - interval '100 days';
       delete from user_actions; update audit_seals set last_at = '2020-01-01', number = 9 where number = 3; delete from audit_seals where number < 4`,
    ],
  ])('retention that is raised, %s', async (_, forgery) => {
    await sealed(3);
    const { head } = await verify();
    expect((await verify(head)).faults).toEqual([]);
    await change(forgery);
    expect((await verify(head)).faults).not.toEqual([]);
  });

  it('retention, and what is missing for it, by name', async () => {
    await sealed(2);
    await change(`${raised}; delete from user_actions where ${second}`);
    const { faults } = await verify();
    expect(faults[0]).toMatch(
      /^Records from before .* are marked as removed, but TRADEWIND_LOG_KEPT_DAYS keeps those of the last 100 days/,
    );
    expect(faults[1]).toContain('1 records were sealed, and 0 are there');
    expect(faults).toHaveLength(2);
    // For ever.
    await change(`update audit_retention set removed_before = '2020-01-01'`);
    expect((await verifyAudit(database, { keptDays: undefined })).faults[0]).toContain('keeps all records');
  });
});

describe('retention', () => {
  const old = new Date('2026-01-01T00:00:00Z');
  const hundredDaysAgo = new Date('2026-08-15T12:00:00Z');

  it('removes from the front and keeps where the chain begins', async () => {
    await sealed(3, old);
    const early = await verify();
    await sealed(1);
    const { head } = await verify();
    await whileRemoving(database, hundredDaysAgo, async () => {
      await change(`delete from user_actions where "timestamp" = '2026-01-01'`);
      // Killed before the seals are removed.
      expect((await verify(head)).faults).toEqual([]);
    });
    const { rows } = await change('select number from audit_seals order by number');
    expect(rows).toEqual([{ number: 3 }, { number: 4 }]);
    expect(await verify(head)).toMatchObject({
      seals: 1,
      records: 1,
      faults: [],
      removedBefore: new Date('2026-08-15T12:00:00Z'),
    });
    expect((await verify({ number: 2, hash: early.head?.hash ?? '' })).faults).toEqual([
      'Seal 2, which was written down, is from before what is kept, and proves nothing. Check with a later one',
    ]);
    await change('delete from user_actions');
    expect((await verify()).faults).toHaveLength(1);
  });

  it('leaves the seals of what is still there, whatever is noted about it', async () => {
    await sealed(1, old);
    await sealed(3);
    await change(`update audit_retention set removed_before = now() + interval '800 days'`);
    await whileRemoving(database, hundredDaysAgo, async () => {
      await change(`delete from user_actions where "timestamp" = '2026-01-01'`);
    });
    await sealed(1);
    await whileRemoving(database, hundredDaysAgo, async () => {});
    expect(await verify()).toMatchObject({ seals: 4, records: 4 });
  });
});
