import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { startWorker } from './engine.ts';
import { openStage } from './fixtures/stage.ts';
import { stepsHandler, submit } from './fixtures/tasks.ts';

it('tells people in one line what becomes of the tasks that are not through', async () => {
  const lines: { level: number; msg: string }[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const stage = await openStage();
  try {
    const { connection, database, changes } = stage;
    const handlers = [stepsHandler(database)];
    const worker = await startWorker({
      connection,
      database,
      changes,
      handlers,
      log,
      takeOverAllAtStart: true,
    });
    const id = await submit(stage, { steps: [{ name: 'one' }, { name: 'two' }], sleepMs: 60_000 });
    const asleep = `select from dbos.operation_outputs where workflow_uuid = $1 and function_name = 'DBOS.sleep'`;
    while ((await database.pool.query(asleep, [id])).rowCount === 0) await delay(10);
    await worker.stop(1_000);
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([[30, '1 task goes on at the next start']]);
  } finally {
    await stage.close();
  }
});
