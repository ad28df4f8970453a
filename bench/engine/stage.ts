import { pino } from 'pino';
import { listenForChanges } from '../../src/db/changes.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import type { TaskHandler } from '../../src/workflows/engine.ts';
import { connectTaskQueue, migrateEngine, startWorker, type TaskQueue } from '../../src/workflows/engine.ts';
import { startDatabase } from '../support/database.ts';

export const TASK_TYPE = 'bench';

export interface Stage {
  database: Database;
  queue: TaskQueue;
  /** Is told of each task when its first line of code runs. */
  onStart: (taskId: string) => void;
  /** Is told of each task when it has ended. */
  onEnd: (taskId: string) => void;
  close(): Promise<void>;
}

/** The engine as the product wires it, with one kind of task: one step that does nothing. */
export async function openStage(): Promise<Stage> {
  const log = pino({ level: 'error' }, pino.destination(2));
  const server = await startDatabase();
  const { connection } = server;
  const database = openDatabase(connection);
  await migrate(database);
  await migrateEngine(connection, log);
  await database.pool.query(`insert into resellers (id, name, created_at) values (1, 'bench', now())`);
  await database.pool.query(
    `insert into clients (id, reseller_id, company, created_at) values (1, 1, 'bench', now())`,
  );
  const changes = await listenForChanges(connection);
  const queue = await connectTaskQueue({ pool: database.pool, log });
  const stage = { onStart: (_id: string) => {}, onEnd: (_id: string) => {} };
  const handler: TaskHandler = {
    type: TASK_TYPE,
    deadlineMs: 60_000,
    async run(run) {
      stage.onStart(run.taskId);
      await run.step('nothing', async () => null);
      return null;
    },
    async complete(_tx, { id }) {
      stage.onEnd(id);
      return null;
    },
    abandon: async () => {},
  };
  const worker = await startWorker({ connection, database, changes, handlers: [handler], log });
  return Object.assign(stage, {
    database,
    queue,
    async close() {
      await worker.stop(1_000);
      await queue.close();
      await changes.close();
      await database.close();
      await server.stop();
    },
  });
}
