import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { TABLES_FILE, tablesOf } from '../../scripts/tables/generate.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createDatabase } from '../support/databases.ts';

it('has the types of the rows as the migrations make them; "npm run tables" writes them', async () => {
  const migrated = await createDatabase();
  const database = openDatabase({ connectionString: migrated.url }, 1);
  try {
    expect(readFileSync(TABLES_FILE, 'utf8')).toBe(await tablesOf(database));
  } finally {
    await database.close();
    await migrated.drop();
  }
});
