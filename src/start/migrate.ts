import { openDatabase } from '../db/database.ts';
import { createLog } from '../log.ts';
import type { Command } from './command.ts';
import { prepareDatabase } from './platform.ts';
import { openStorage } from './storage.ts';

export const migrateCommand: Command = {
  summary: 'bring the database schema up to date and end',
  help: '  "serve" does the same at its start; run it apart before a rolling upgrade.\n',
  options: {},
  async run({ config }) {
    const log = createLog(config);
    const storage = await openStorage(config, log, { share: true });
    const database = openDatabase(storage.connection);
    try {
      const applied = await prepareDatabase(database, log);
      process.stdout.write(
        applied.length > 0 ? `Applied: ${applied.join(', ')}\n` : 'Nothing to do: the schema is up to date\n',
      );
      return 0;
    } finally {
      await database.close();
      await storage.stop();
    }
  },
};
