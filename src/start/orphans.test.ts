import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { refuseRecordsOfCommands } from '../../test/support/records.ts';
import { ENCRYPTION_KEY } from '../../test/support/secrets.ts';
import { type Config, loadConfig } from '../config.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { createLog } from '../log.ts';
import { orphansList, orphansRemove } from './orphans.ts';
import { type RunningPlatform, startPlatform } from './platform.ts';

// Without a worker, so that nothing is removed by itself.
let testDatabase: TestDatabase;
let database: Database;
let platform: RunningPlatform;
let config: Config;
beforeAll(async () => {
  testDatabase = await createDatabase();
  database = openDatabase({ connectionString: testDatabase.url }, 2);
  config = loadConfig({
    DATABASE_URL: testDatabase.url,
    TRADEWIND_ENCRYPTION_KEY: ENCRYPTION_KEY,
    TRADEWIND_PORT: '0',
    TRADEWIND_BOOTSTRAP_TOKEN: `1_${'orphans'.repeat(3)}`,
    TRADEWIND_DATA_DIR: path.join(os.tmpdir(), 'unused'),
    TRADEWIND_LOG_LEVEL: 'silent',
  });
  platform = await startPlatform(config, 'api', createLog(config));
});
afterAll(async () => {
  await platform.stop(1_000);
  await database.close();
  await testDatabase.drop();
});

async function run(command: typeof orphansList, options: Record<string, string | boolean> = {}) {
  const streams = [process.stdout, process.stderr] as const;
  const told = streams.map((stream) => vi.spyOn(stream, 'write').mockReturnValue(true));
  try {
    const code = await command.run({ config, options, stop: new AbortController().signal });
    return { code, text: told.flatMap((each) => each.mock.calls.map(([line]) => String(line))).join('') };
  } finally {
    vi.restoreAllMocks();
  }
}

it('lists what nobody wants, and has it removed on a word', async () => {
  const none = { code: 0, text: 'No orphans: everything on the backends is wanted.\n' };
  expect(await run(orphansList)).toEqual(none);
  const { rows } = await database.pool.query(
    `insert into simulated_objects (kind, id, spec, doing, began_at, takes_ms)
     values ('volume', gen_random_uuid(), '{}', 'making', now(), 0) returning id`,
  );
  const line = `simulated  volume  ${rows[0].id}\n`;
  expect(await run(orphansList)).toEqual({ code: 0, text: line });
  const asked = await run(orphansRemove, { backend: 'simulated' });
  expect(asked).toEqual({ code: 0, text: `${line}Nothing was removed. Add --yes to remove them.\n` });
  expect((await database.pool.query(`select from wants where kind = 'volume'`)).rowCount).toBe(0);

  // What is not recorded is not done.
  const recordAgain = await refuseRecordsOfCommands(database.pool);
  await expect(run(orphansRemove, { yes: true })).rejects.toThrow('no_commands');
  expect((await database.pool.query(`select from wants where kind = 'volume'`)).rowCount).toBe(0);
  await recordAgain();

  const removed = await run(orphansRemove, { yes: true });
  expect(removed).toEqual({ code: 0, text: `${line}1 will be removed by the workers.\n` });
  const wants = await database.pool.query(
    'select kind, id, spec, due_at <= now() as due from wants where spec is null',
  );
  expect(wants.rows).toEqual([{ kind: 'volume', id: rows[0].id, spec: null, due: true }]);
  expect(await run(orphansList)).toEqual(none);
});

it('knows no backend that is not in the catalogue', async () => {
  expect(await run(orphansList, { backend: 'nova' })).toEqual({ code: 1, text: 'Backend nova not found\n' });
});
