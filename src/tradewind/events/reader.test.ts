import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../../test/support/databases.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { createEventReader } from './service.ts';

let place: TestDatabase;
let database: Database;
beforeAll(async () => {
  place = await createDatabase();
  database = openDatabase({ connectionString: place.url }, 5);
});
afterAll(async () => {
  await database.close();
  await place.drop();
});
const readers: ReturnType<typeof createEventReader>[] = [];
afterEach(() => {
  for (const reader of readers.splice(0)) reader.stop();
});

it('goes on if another process had stopped it, saw nobody who wants it any more, and died', async () => {
  const [one, other] = [createEventReader(database, 'test'), createEventReader(database, 'test')];
  readers.push(one, other);
  await one.want(0);
  await other.want(0);
  await one.want(undefined);
  await database.pool.query(
    `insert into events (client_id, type, subject, "time", data)
     values (1, 'tradewind.volume.updated', 'volume/1', now(), '{}')`,
  );
  const read: string[] = [];
  await expect
    .poll(async () => {
      await other.want(0);
      await other.next(async (_, events) => void read.push(...events.map(({ subject }) => subject)));
      return read;
    })
    .toEqual(['volume/1']);
});
