import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../../test/support/databases.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { ensureFirstAccount } from '../../start/first-account.ts';
import { createTokenUseRecorder } from './use-recorder.ts';

let testDatabase: TestDatabase;
let database: Database;
const id = 7;

beforeAll(async () => {
  testDatabase = await createDatabase();
  database = openDatabase({ connectionString: testDatabase.url }, 2);
  const clock = { now: () => new Date('2026-01-01T00:00:00Z') };
  await ensureFirstAccount({ database, clock, bootstrapToken: { id, secret: 'x' } });
});
afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

async function lastUse() {
  const row = await database.sql
    .selectFrom('api_tokens')
    .select('last_used_at')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return row.last_used_at?.toISOString();
}

function recorder(of: Database, uses: { tokenId: number; at: Date }[][]) {
  const warnings: string[] = [];
  return {
    warnings,
    ...createTokenUseRecorder(
      {
        database: of,
        authenticator: { takeUses: () => uses.shift() ?? [] },
        log: { warn: (_details, message) => warnings.push(message) },
      },
      5,
    ),
  };
}

describe('the record of when tokens were used', () => {
  it('is written while it runs and once more at the stop, and never goes back in time', async () => {
    const early = new Date('2026-02-01T10:00:00.123Z');
    const late = new Date('2026-02-01T11:00:00.456Z');
    const running = recorder(database, [[{ tokenId: id, at: late }]]);
    running.start();
    await expect.poll(lastUse).toBe(late.toISOString());
    await running.stop();
    const behind = recorder(database, [
      [
        { tokenId: id, at: early },
        { tokenId: 999_999, at: early },
      ],
    ]);
    await behind.stop();
    expect(await lastUse()).toBe(late.toISOString());
  });

  it('keeps what could not be written for the next time', async () => {
    const at = new Date('2026-03-01T00:00:00Z');
    let broken = true;
    const flaky: Database = {
      ...database,
      transaction: (work) => (broken ? Promise.reject(new Error('gone')) : database.transaction(work)),
    };
    const running = recorder(flaky, [[{ tokenId: id, at }]]);
    await running.stop();
    expect(running.warnings).toHaveLength(1);
    broken = false;
    await running.stop();
    expect(await lastUse()).toBe(at.toISOString());
  });
});
