import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createSimulatedBackend } from '../../simulation/backend.ts';
import { LIVES } from '../../simulation/lives.ts';
import type { Kind } from '../../src/backends/contract/backend.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createDatabase } from '../support/databases.ts';
import { secretsOf } from '../support/secrets.ts';
import { conformance, type Stand } from './conformance.ts';
import { createFolderBackend, FOLDER_KINDS } from './folder-backend.ts';

const EVERY_KIND = Object.keys(LIVES) as Kind[];

async function simulated(): Promise<Stand> {
  const kept = await createDatabase();
  const database = openDatabase({ connectionString: kept.url });
  const deps = { sql: database.sql, secrets: await secretsOf(database), speed: 20 };
  return {
    kinds: EVERY_KIND,
    open: () => createSimulatedBackend(deps),
    async close() {
      await database.close();
      await kept.drop();
    },
  };
}

conformance('the simulated backend', simulated, { kinds: EVERY_KIND });

conformance(
  'the folder backend of the tests',
  async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'folder-backend-'));
    return {
      kinds: FOLDER_KINDS,
      open: () => createFolderBackend(folder),
      close: async () => fs.rmSync(folder, { recursive: true }),
    };
  },
  { kinds: FOLDER_KINDS },
);

it('names the field of what a backend can not do', () => {
  const spec = { name: 'huge', sizeGib: 1_001, volumeType: 'standard', metadata: {} } as const;
  expect(createFolderBackend('/').problems('volume', spec)).toEqual([
    { field: 'size', message: 'The folder holds up to 1000 GiB; take a smaller size.' },
  ]);
});

it('shows in the document what is compiled and run here', () => {
  const code = ['backends.test.ts', 'folder-backend.ts'].map((file) =>
    fs.readFileSync(path.join(import.meta.dirname, file), 'utf8'),
  );
  const [, ...parts] = fs.readFileSync('docs/backends.md', 'utf8').split('```ts\n');
  const shown = parts.map((part) => part.split('```')[0] ?? '');
  expect(shown).toHaveLength(3);
  for (const block of shown) expect(code.join('\n')).toContain(block);
});
