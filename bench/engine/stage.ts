import { pino } from 'pino';
import type { Backend } from '../../src/backends/contract/backend.ts';
import { loadConfig } from '../../src/config.ts';
import { wantsQueue } from '../../src/convergence/queue.ts';
import type { TaskEnd } from '../../src/convergence/task-kind.ts';
import { TASK_ENDED } from '../../src/convergence/waiting-tasks.ts';
import { listenForChanges } from '../../src/db/changes.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { systemClock } from '../../src/lib/time.ts';
import { encryptionKeysOf } from '../../src/secrets/encryption-keys.ts';
import { createSecrets } from '../../src/secrets/secrets.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { startDatabase } from '../support/database.ts';

export const TASK_TYPE = 'bench';

export interface Stage {
  database: Database;
  /** Called with each task when the first line of its code runs. */
  onStart: (taskId: string) => void;
  /** Called with each task when it has ended. */
  onEnd: (taskId: string) => void;
  close(): Promise<void>;
}

/**
 * Opens the engine as the product wires it, with one kind of task: it waits for something that is ready at
 * once.
 */
export async function openStage(): Promise<Stage> {
  const log = pino({ level: 'error' }, pino.destination(2));
  const server = await startDatabase();
  const { connection } = server;
  const database = openDatabase(connection);
  await migrate(database);
  await database.pool.query(`insert into resellers (id, name, created_at) values (1, 'bench', now())`);
  await database.pool.query(`insert into clients (id, reseller_id, company, created_at) values (1, 1, 'bench', now())`);
  const changes = await listenForChanges(connection);
  const stage = { onStart: (_id: string) => {}, onEnd: (_id: string) => {} };
  const kind: TaskEnd = {
    type: TASK_TYPE,
    deadlineMs: 60_000,
    complete: async () => null,
    abandon: async () => {},
  };
  const backend: Backend = {
    problems: () => [],
    async converge({ id }) {
      stage.onStart(id);
      return { state: 'settled', observed: null };
    },
    observe: async () => null,
    async *list() {},
  };
  changes.on(
    TASK_ENDED,
    (id) => stage.onEnd(id),
    () => {},
  );
  const claims = openDatabase(connection, 10, { repeatable: true });
  const worker = await startWorker({ database: claims, changes, log });
  const backendOf = () => backend;
  const secrets = createSecrets({ sql: database.sql, encryptionKeys: encryptionKeysOf(loadConfig({})) });
  const shared = { workerId: worker.id, database, claims, secrets, backendOf, log, clock: systemClock };
  worker.serve(wantsQueue({ ...shared, taskEnds: new Map([[kind.type, kind]]) }));
  return Object.assign(stage, {
    database,
    async close() {
      await worker.stop(1_000);
      await changes.close();
      await claims.close();
      await database.close();
      await server.stop();
    },
  });
}
