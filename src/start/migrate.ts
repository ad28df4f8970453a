import { openDatabase } from '../db/database.ts';
import { migrate } from '../db/migrate.ts';
import { readSchema } from '../db/schema.ts';
import { createLog } from '../log.ts';
import type { Command } from './command.ts';
import { printAnswer } from './operator.ts';
import { openStorage } from './storage.ts';

export const migrateCommand: Command = {
  summary: 'update the database schema, then exit',
  help: `  The first step of an upgrade with DATABASE_URL, while processes of the previous release keep running. "serve" does this itself
  with the embedded database and with an empty database. What to do before and after: docs/upgrading.md
`,
  options: {},
  json: true,
  async run({ config, options }) {
    const log = createLog(config);
    const storage = await openStorage(config, log, { share: true });
    const database = openDatabase(storage.connection, 2);
    try {
      const applied = await migrate(database, { log: (line) => log.info(line) });
      const newest = (await readSchema(database.sql)).later.at(-1);
      const idle =
        newest === undefined
          ? 'the schema is up to date'
          : `the schema is that of a later release (${newest}), which this one can work with`;
      const text = applied.length > 0 ? `Applied: ${applied.join(', ')}` : `Nothing to do: ${idle}`;
      printAnswer({ text, data: { applied } }, options);
      return 0;
    } finally {
      await database.close();
      await storage.stop();
    }
  },
};
