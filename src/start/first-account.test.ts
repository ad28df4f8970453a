import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../test/support/databases.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { findTokenOwner } from '../iam/identity/service.ts';
import { BootstrapTokenTakenError } from '../iam/tokens/service.ts';
import { systemClock as clock } from '../lib/time.ts';
import { ensureFirstAccount, makeTokenOnce } from './first-account.ts';

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createDatabase();
  database = openDatabase({ connectionString: testDatabase.url }, 4);
});
afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

const start = (bootstrapToken?: { id: number; secret: string }) =>
  ensureFirstAccount({ database, clock, bootstrapToken });
const owner = (id: number) => findTokenOwner(database.sql, id);
const principalOf = async (id: number) => {
  const found = await owner(id);
  return found && 'principal' in found ? found.principal : undefined;
};

describe('the first account', () => {
  it('is made once, also by several processes at once, with a token for one of them', async () => {
    await Promise.all([start(), start(), start()]);
    const { rows } = await database.pool.query('select count(*) from clients');
    expect(rows).toEqual([{ count: 1 }]);
    const once = () => makeTokenOnce({ database, clock });
    const tokens = await Promise.all([once(), once(), once()]);
    expect(tokens.filter((token) => token !== undefined)).toEqual([expect.stringMatching(/^1000_[0-9a-f]{64}$/)]);
    expect(await once()).toBeUndefined();
    expect(await principalOf(1000)).toEqual({
      tokenId: 1000,
      userId: 1,
      clientId: 1,
      roleId: 1,
      resellerId: 1,
      platformAdministrator: true,
    });
  });

  it('takes the bootstrap token from the setting: a new value replaces the old, and a deleted one works again', async () => {
    await start({ id: 5, secret: 'one' });
    const first = await owner(5);
    await start({ id: 5, secret: 'two' });
    expect((await owner(5))?.secretHash).not.toEqual(first?.secretHash);
    await database.sql.updateTable('api_tokens').set({ deleted_at: clock.now() }).where('id', '=', 5).execute();
    expect(await owner(5)).toMatchObject({ shutOut: 'deleted' });
    await start({ id: 5, secret: 'two' });
    expect((await principalOf(5))?.platformAdministrator).toBe(true);
    await start({ id: 6, secret: 'three' });
    expect(await owner(5)).toBeUndefined();
    expect(await owner(6)).toBeDefined();
    expect(await owner(1000)).toBeDefined();
  });

  it('refuses a bootstrap token whose id is another token', async () => {
    await expect(start({ id: 1000, secret: 'x' })).rejects.toThrow(BootstrapTokenTakenError);
  });
});
