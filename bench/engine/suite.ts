import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { insertTask } from '../../src/cloud/ground/tasks/store.ts';
import { make, want } from '../../src/convergence/wants.ts';
import { percentile } from '../support/statistics.ts';
import { markdownTable, shown, shownWithRange } from '../support/table.ts';
import { openStage, type Stage, TASK_TYPE } from './stage.ts';

const LANES = 10;
const SPEC = { name: 'bench', sizeGib: 1, volumeType: 'standard', metadata: {} } as const;
const PAUSE_MS = 25;

/** Compares tasks from accepted to FINISHED with writing the same task row three times without any engine. */
export async function measureEngine({ quick }: { quick: boolean }): Promise<string> {
  const size = quick ? { rounds: 3, tasks: 150, starts: 60 } : { rounds: 7, tasks: 400, starts: 300 };
  const stage = await openStage();
  try {
    await throughput(stage, size.tasks);
    const engine: number[] = [];
    const floor: number[] = [];
    for (let round = 0; round < size.rounds; round++) {
      engine.push(await throughput(stage, size.tasks));
      floor.push(await plainThroughput(stage, size.tasks));
    }
    const ratios = engine.map((rate, round) => rate / (floor[round] ?? Number.NaN));
    const waits = await startLatencies(stage, size.starts);
    return [
      markdownTable(
        ['Engine', 'tasks/s', 'ratio'],
        [
          ['task that waits for one want, accepted to FINISHED', shownWithRange(engine), shownWithRange(ratios)],
          ['floor: the same row inserted, RUNNING, FINISHED', shownWithRange(floor), '1.00'],
        ],
      ),
      '',
      markdownTable(
        ['From accepted to started, one at a time', 'p50 ms', 'p95 ms', 'most ms'],
        [
          [
            `${size.starts} tasks`,
            shown(percentile(waits, 0.5)),
            shown(percentile(waits, 0.95)),
            shown(Math.max(...waits)),
          ],
        ],
      ),
    ].join('\n');
  } finally {
    await stage.close();
  }
}

/** Returns tasks per second, with as many concurrent requests as there are lanes. */
async function throughput(stage: Stage, tasks: number): Promise<number> {
  const ended = new Promise<void>((resolve) => {
    let left = tasks;
    stage.onEnd = () => {
      left--;
      if (left === 0) resolve();
    };
  });
  const begun = performance.now();
  await inLanes(tasks, () => accept(stage, randomUUID()));
  await ended;
  return tasks / ((performance.now() - begun) / 1000);
}

async function plainThroughput({ database }: Stage, tasks: number): Promise<number> {
  const begun = performance.now();
  await inLanes(tasks, async () => {
    const id = randomUUID();
    await new Promise<unknown>((resolve) => {
      insertTask({ send: (statement, args) => resolve(statement(database.sql, args)) }, newTask(id));
    });
    await database.pool.query(`update tasks set state = 'RUNNING', updated_on = $2 where id = $1`, [id, new Date()]);
    await database.pool.query(`update tasks set state = 'FINISHED', updated_on = $2, finished_on = $2 where id = $1`, [
      id,
      new Date(),
    ]);
  });
  return tasks / ((performance.now() - begun) / 1000);
}

/**
 * Returns milliseconds from the commit that accepts a task to the first line of its code, on an idle engine.
 */
async function startLatencies(stage: Stage, tasks: number): Promise<number[]> {
  const waits: number[] = [];
  for (let n = 0; n < tasks; n++) {
    const id = randomUUID();
    const started = new Promise<number>((resolve) => {
      stage.onStart = () => resolve(performance.now());
    });
    const ended = new Promise<void>((resolve) => {
      stage.onEnd = () => resolve();
    });
    await accept(stage, id);
    const accepted = performance.now();
    waits.push(Math.max(0, (await started) - accepted));
    await ended;
    await sleep(PAUSE_MS);
  }
  return waits;
}

/** Does the work of a request that starts a task: the row and the want in one transaction. */
async function accept({ database }: Stage, id: string): Promise<void> {
  await database.transaction(async (tx) => {
    insertTask(tx, newTask(id));
    const place = { clientId: 1, projectId: 1, regionId: 1 };
    await want(tx, place, [make('volume', id, SPEC)], { taskId: id, check: () => [] });
  });
}

function newTask(id: string) {
  const now = Date.now();
  return {
    id,
    type: TASK_TYPE,
    clientId: 1,
    userId: 1,
    userClientId: 1,
    projectId: 1,
    regionId: 1,
    requestId: id,
    data: {},
    input: {},
    createdOn: new Date(now),
    deadlineAt: new Date(now + 60_000),
  };
}

async function inLanes(count: number, work: () => Promise<void>): Promise<void> {
  let left = count;
  const lane = async () => {
    while (left > 0) {
      left--;
      await work();
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}
