import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { openDatabase } from '../db/database.ts';
import { migrate } from '../db/migrate.ts';
import { readSchema } from '../db/schema.ts';
import { packageRoot } from '../lib/own-program.ts';
import { createLog } from '../log.ts';
import { catalogApply } from './catalog-apply.ts';
import type { Command } from './command.ts';
import * as databaseCommands from './database-commands.ts';
import { doctor } from './doctor.ts';
import { kubernetesInstall, regionUse } from './kubernetes-commands.ts';
import { printAnswer } from './operator.ts';
import { orphansList, orphansRemove } from './orphans.ts';
import { regionAdd } from './region-add.ts';
import { serve } from './serve.ts';
import { openStorage } from './storage.ts';

/** The same as "npm run install:engines", for who has the npm package and no checkout. */
const enginesInstall: Command = {
  summary: 'install what AI tasks need (240 MB of packages, and programs of the system)',
  help: '  --dry-run   only say what would be done\n',
  options: { 'dry-run': { type: 'boolean' } },
  async run({ options }) {
    const words = options['dry-run'] ? ['--dry-run'] : [];
    const script = path.join(packageRoot, 'scripts/install-engines.mjs');
    const [code] = await once(spawn(process.execPath, [script, ...words], { stdio: 'inherit' }), 'exit');
    return code ?? 1;
  },
};

const migrateCommand: Command = {
  summary: 'update the database schema, then exit',
  help: `  The first step of an upgrade with DATABASE_URL, while processes of the previous release keep running. "serve" does this itself
  with the embedded database and with an empty database. What to do before and after: docs/operators.md
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

export const commands: Record<string, Command> = {
  serve,
  migrate: migrateCommand,
  'catalog apply': catalogApply,
  'region add': regionAdd,
  'region use': regionUse,
  'keys rotate': databaseCommands.keysRotate,
  'keys give-up': databaseCommands.keysGiveUp,
  console: databaseCommands.consoleCommand,
  'token create': databaseCommands.tokenCreate,
  'user password': databaseCommands.userPassword,
  'client pause': databaseCommands.clientPause,
  'client resume': databaseCommands.clientResume,
  'orphans list': orphansList,
  'orphans remove': orphansRemove,
  'audit verify': databaseCommands.auditVerify,
  'engines install': enginesInstall,
  'kubernetes install': kubernetesInstall,
  doctor,
};
