import { randomUUID } from 'node:crypto';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { DBOSExecutor } from '@dbos-inc/dbos-sdk/internal/dbos-executor';
import type pg from 'pg';
import type { Logger } from 'pino';
import { type Loop, loop } from '../convergence/loop.ts';
import type { ChangeFeed } from '../db/changes.ts';
import type { Database } from '../db/database.ts';
import { openPool } from '../db/pool.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { APPLICATION, connectClient, ENGINE_VERSION, QUEUE, SCHEMA, UNUSED_URL, WORKFLOW } from './dbos.ts';
import { createDispatcher } from './dispatch.ts';
import { engineLogger } from './engine-log.ts';
import { createGate } from './gate.ts';
import { BEAT_MS, beat, DEAD_AFTER_MS, forget, forgetOthers } from './heartbeat.ts';
import { alone, endLost, forgetFinished, stopEnded, takeOverFromDead } from './sweep.ts';
import type { TaskHandler } from './task-handler.ts';
import { WORK_ANNOUNCED } from './task-queue.ts';
import { runTask, type TaskJob, type TaskRunner } from './task-workflow.ts';

/** How long an announcement may be missed. New work is announced, so this is not what a start waits for. */
const POLL_MS = 500;
const SWEEP_MS = 1_000;
const FORGET_MS = 60_000;
const POOL_SIZE = 10;
/** The engine counts a task out of its slot a moment after the task's end. */
const SLOT_FREE_MS = 10;
/** Every take-over and every hand-over of a task counts. Past it a task that kills its worker is given up. */
const MAX_TAKEOVERS = 20;

export interface WorkerOptions {
  connection: pg.PoolConfig;
  database: Database;
  changes: ChangeFeed;
  handlers: readonly TaskHandler[];
  log: Logger;
  clock?: Clock;
  /** Tasks at a time. The value of the worker that started last holds for all of them. */
  concurrency?: number;
  /** No other worker can be alive (embedded database): all unfinished work is taken over at once. */
  takeOverAllAtStart?: boolean;
}

export interface Worker {
  /** Lets the steps at work end, at most `graceMs`, and hands the rest back: another process takes it at once. */
  stop(graceMs: number): Promise<void>;
  /** Whether it runs and the database knows that it lives. */
  healthy(): boolean;
}

// The engine is one per process, and so is its workflow.
let current: TaskRunner | undefined;
let ended = () => {};
let registered = false;

function register(): void {
  if (registered) return;
  registered = true;
  DBOS.registerWorkflow(
    async (job: TaskJob) => {
      if (!current) throw new Error('A task came while no worker runs');
      await runTask(current, job);
      ended();
    },
    { name: WORKFLOW, maxRecoveryAttempts: MAX_TAKEOVERS },
  );
}

/** Starts taking tasks. The engine's tables must be there (`migrateEngine`). One worker per process. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  if (current) throw new Error('This process has a worker already');
  const { database, log, changes } = options;
  const clock = options.clock ?? systemClock;
  const handlers = new Map(options.handlers.map((handler) => [handler.type, handler]));
  const runner: TaskRunner = { database, clock, log, handlers, gate: createGate(), running: new Map() };
  const executorId = randomUUID();
  const pool = openPool({ ...options.connection, max: POOL_SIZE, application_name: 'tradewind worker' });
  current = runner;
  register();

  await beat(database, executorId);
  if (options.takeOverAllAtStart) await forgetOthers(database, executorId);
  const client = await connectClient(pool, log);
  const queue = await client.registerQueue(QUEUE, {
    workerConcurrency: options.concurrency ?? 50,
    minPollingIntervalMs: POLL_MS,
  });
  DBOS.setConfig({
    name: APPLICATION,
    systemDatabaseUrl: UNUSED_URL,
    systemDatabasePool: pool,
    systemDatabaseSchemaName: SCHEMA,
    applicationVersion: ENGINE_VERSION,
    executorID: executorId,
    logger: engineLogger(log),
    useListenNotify: false,
    runMigrations: false,
  });
  await DBOS.launch();

  const dispatch = createDispatcher(queue, (error) => log.debug({ err: error }, 'taking work failed'));
  ended = soon(dispatch, SLOT_FREE_MS);
  changes.on(WORK_ANNOUNCED, dispatch, dispatch);

  let lastBeat = performance.now();
  let lastForget = performance.now();
  const loops: Loop[] = [
    loop('heartbeat', BEAT_MS, log, async () => {
      await beat(database, executorId);
      lastBeat = performance.now();
    }),
    loop('task sweep', SWEEP_MS, log, async () => {
      await alone(pool, async () => {
        await takeOverFromDead(runner);
        await endLost(runner);
        if (performance.now() - lastForget < FORGET_MS) return;
        lastForget = performance.now();
        await forgetFinished(clock);
      });
      await stopEnded(runner);
    }),
  ];
  return {
    healthy: () => current === runner && performance.now() - lastBeat < DEAD_AFTER_MS,
    async stop(graceMs) {
      runner.gate.close();
      const executor = DBOSExecutor.globalInstance;
      await Promise.all(loops.map((each) => each.stop()));
      await executor?.deactivateEventReceivers();
      await runner.gate.whenIdle(graceMs);
      tellWhatGoesOn(runner, options.takeOverAllAtStart === true);
      await DBOS.shutdown();
      try {
        // Only now: a run that is told of its loss while it records a step would lose the record.
        await executor?.recoverPendingWorkflows([executorId]);
        await forget(database, executorId);
      } catch (error) {
        log.warn({ err: error }, 'unfinished tasks could not be handed back; they are taken over later');
      }
      current = undefined;
      ended = () => {};
      await pool.end();
    },
  };
}

/** In the log: people wonder at Ctrl-C what becomes of the tasks that they wait for. */
function tellWhatGoesOn({ running, log }: TaskRunner, alone: boolean): void {
  if (running.size === 0) return;
  const tasks = running.size === 1 ? '1 task goes' : `${running.size} tasks go`;
  log.info(`${tasks} on ${alone ? 'at the next start' : 'in another worker or at the next start'}`);
}

/** `work` once, `ms` after the first of any number of calls. */
function soon(work: () => void, ms: number): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      work();
    }, ms);
  };
}
