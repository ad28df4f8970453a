import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { systemClock } from '../lib/time.ts';
import { createMailer, type NewMail } from './mailer.ts';

let place: TestDatabase;
let database: Database;
let warned = 0;
const log = { warn: () => void warned++ };
beforeAll(async () => {
  place = await createDatabase();
  database = openDatabase({ connectionString: place.url }, 20);
});
afterAll(async () => {
  await database?.close();
  await place?.drop();
});

const mailer = createMailer({
  clock: systemClock,
  secrets: { seal: (_column, _key, value) => JSON.stringify(value) },
  log: log as unknown as Parameters<typeof createMailer>[0]['log'],
});
const queue = (mails: readonly NewMail[]) => database.transaction((tx) => mailer.queue(tx, mails));
const count = async (column: 'receiver' | 'client_id', value: string | number) =>
  (await database.pool.query(`select from mails where ${column} = $1`, [value])).rowCount;

const invitation = (to: string, clientId: number): NewMail => ({
  kind: 'invitation',
  to,
  clientId,
  data: { token: 'invitation_1_x', expires: 'tomorrow' },
});
const deletionRequest = (to: string, clientId: number): NewMail => ({
  kind: 'deletion_request',
  to,
  clientId,
  data: { event: 'requested', user: 'jo@example.com', reason: '', time: 'now', setting: '1', key: '' },
});
const times = <T>(number: number, make: (at: number) => T) => Array.from({ length: number }, (_, at) => make(at));

describe('of many transactions at once', () => {
  it('one address gets no more mails than in turn, however it is written', async () => {
    const addresses = ['One@example.com', 'one@example.com'];
    await Promise.all(times(20, (at) => queue([invitation(addresses[at % 2] ?? '', 100 + at)])));
    const { rowCount } = await database.pool.query(`select from mails where lower(receiver) = 'one@example.com'`);
    expect([rowCount, warned]).toEqual([5, 15]);
  });

  it('one account causes no more mails than in turn', async () => {
    await Promise.all(times(12, (group) => queue(times(20, (at) => invitation(`${group}-${at}@example.com`, 7)))));
    expect(await count('client_id', 7)).toBe(200);
  });

  it('none waits for another for ever', async () => {
    const receivers = times(10, (at) => `crossed-${at}@example.com`);
    const both = [receivers, receivers.toReversed()];
    await Promise.all(times(10, (at) => queue((both[at % 2] ?? []).map((to) => deletionRequest(to, 200 + at)))));
    for (const to of receivers) expect(await count('receiver', to)).toBe(10);
  });
});

it("one account can't use up what an address gets of all", async () => {
  const to = 'reseller@example.com';
  for (const mails of times(10, () => [deletionRequest(to, 300)])) await queue(mails);
  expect(await count('client_id', 300)).toBe(6);
  await queue([deletionRequest(to, 301)]);
  expect(await count('client_id', 301)).toBe(1);
});
