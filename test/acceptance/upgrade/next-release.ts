import fs from 'node:fs';
import path from 'node:path';
import { copyOfThisRelease } from '../releases.ts';

/** A migration of each sort that breaks no release, so that there is always something to migrate. */
const MIGRATIONS = {
  '9001_expand': `
    import { sql, type Kysely } from 'kysely';
    export async function up(db: Kysely<unknown>) {
      await sql\`alter table volumes add column test_note text not null default 'none'\`.execute(db);
      await sql\`create table test_things (id bigint constraint test_things_pkey primary key)\`.execute(db);
    }`,
  '9002_index': `
    import type { Kysely } from 'kysely';
    import { createIndexConcurrently } from './migration.ts';
    export const transaction = false;
    export const up = (db: Kysely<unknown>) => createIndexConcurrently(db, 'test_notes', 'volumes (test_note)');`,
};

/** Builds this release with additional migrations. Returns its folder. */
export function buildNextRelease(): string {
  return copyOfThisRelease(addMigrations);
}

export function addMigrations(folder: string): void {
  const index = path.join(folder, 'migrations/index.ts');
  const names = Object.keys(MIGRATIONS);
  for (const [name, text] of Object.entries(MIGRATIONS))
    fs.writeFileSync(path.join(folder, 'migrations', `${name}.ts`), text);
  const imports = names.map((name) => `import * as m${name} from './${name}.ts';\n`).join('');
  const entries = names.map((name) => `  '${name}': m${name},\n`).join('');
  const text = fs.readFileSync(index, 'utf8');
  fs.writeFileSync(index, `${imports}${text.replace(/\};\n$/, `${entries}};\n`)}`);
}
