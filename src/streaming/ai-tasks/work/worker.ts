import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Logger } from 'pino';
import { type Loop, loop } from '../../../convergence/loop.ts';
import { oneAtATime } from '../../../convergence/one-at-a-time.ts';
import type { ChangeFeed } from '../../../db/changes.ts';
import type { Database } from '../../../db/database.ts';
import type { AnalysisProgram } from '../../../engines/analysis-program.ts';
import type { Clock } from '../../../lib/clock.ts';
import { type AiCapabilities, ALWAYS_ACCEPTED, workKinds } from '../capabilities.ts';
import { hearNews } from '../news.ts';
import { type Claims, createClaims } from './claims.ts';
import { openWorkFolders } from './folders.ts';
import { type AiMetrics, createAiMetrics } from './metrics.ts';
import { createPlaces } from './places.ts';
import type { RunContext } from './run.ts';
import * as store from './store.ts';
import { Handed, Revoked, workOn } from './task-in-work.ts';

const BEAT_MS = 2_000;
/** News may be missed; nothing waits for this otherwise. */
const LOOK_MS = 1_000;
const TAKE_OVER_MS = 2_000;
const SWEEP_MS = 60_000;

export interface AiWorkerOptions {
  database: Database;
  changes: ChangeFeed;
  clock: Clock;
  log: Logger;
  capabilities: AiCapabilities;
  program: AnalysisProgram;
  fetching: RunContext['fetching'];
  limits: RunContext['limits'];
  /** Where tasks keep files while they are in work. */
  folder: string;
  /** Analyses at a time in this process, and tasks of one account in all of them. */
  concurrency: number;
  perClient: number;
  /** No other worker can be alive (embedded database): all unfinished work is taken over at once. */
  takeOverAllAtStart: boolean;
  /** Before the first, second and third try after a fault of ours. */
  retryPausesMs?: readonly number[];
}

export interface AiWorker {
  metrics: AiMetrics;
  /** Ends the work at once and puts it back into the queue, where another process finds it. */
  stop(): Promise<void>;
}

/** Takes AI tasks that its engines can do, a few at a time. */
export async function startAiWorker(options: AiWorkerOptions): Promise<AiWorker> {
  const { database, clock, log, capabilities } = options;
  const workerId = randomUUID();
  const claims = createClaims({ database, clock, workerId });
  const kinds = workKinds(capabilities);
  const metrics = createAiMetrics();
  const places = createPlaces(options.concurrency, look);
  const running = new Map<string, { stop: AbortController; done: Promise<void> }>();
  let stopping = false;
  /** Whether what the database says of this worker has to be read again. */
  let unsure = false;

  await store.beat(database.sql, workerId, capabilities);
  if (options.takeOverAllAtStart) await store.declareDead(database.sql, { allBut: workerId });
  const folders = await openWorkFolders(path.join(options.folder, 'ai'), workerId);

  const tend = oneAtATime(async () => {
    if (unsure) await compare();
    while (!stopping && places.hasRoom()) {
      const claim = await claims.take({
        kinds,
        perClient: options.perClient,
        // Work that others took over may not have noticed yet.
        except: [...running.keys()],
        exceptClients: places.slowClients(),
      });
      if (!claim) return;
      begin(claim);
    }
  });

  /**
   * Ends work on tasks that were cancelled or that others have by now, and gives back what the database counts as this
   * worker's without its knowing: an answer of the database was lost, or an outcome could not be written.
   */
  async function compare(): Promise<void> {
    const known = new Set(running.keys());
    const mine = await store.tasksOf(database.sql, workerId);
    const unfinished = new Set(mine.filter((task) => task.unfinished).map(({ id }) => id));
    for (const id of known) if (!unfinished.has(id)) running.get(id)?.stop.abort(new Revoked());
    for (const { id } of mine) if (!known.has(id)) await claims.release(id, { to: 'PENDING' });
    unsure = false;
  }

  function begin(claim: store.Claim): void {
    const stop = new AbortController();
    const place = places.enter(claim.clientId);
    const done = workOn(claim, {
      ...options,
      claims,
      folders,
      metrics,
      place,
      signal: stop.signal,
      retryPausesMs: options.retryPausesMs ?? [2_000, 10_000, 30_000],
    }).finally(() => {
      running.delete(claim.id);
      place.leave();
    });
    running.set(claim.id, { stop, done });
  }

  function look(): void {
    tend().catch((error: unknown) => log.debug({ err: error }, 'taking AI tasks failed'));
  }

  hearNews(options.changes, {
    waiting: look,
    cancelled: (id) => running.get(id)?.stop.abort(new Revoked()),
    missed: look,
  });
  const loops = [
    loop('heartbeat of AI work', BEAT_MS, log, () => store.beat(database.sql, workerId, capabilities)),
    loop('look for AI tasks', LOOK_MS, log, async () => {
      unsure = true;
      await tend();
    }),
    loop('take-over of AI tasks', TAKE_OVER_MS, log, () => takeOver(claims, log)),
    loop('sweep of AI folders', SWEEP_MS, log, async () => {
      await store.forgetOldWorkers(database.sql);
      const dead = await folders.sweep(() => store.livingWorkers(database.sql));
      if (dead.length > 0) await store.declareDead(database.sql, { ids: dead });
    }),
  ] satisfies Loop[];
  log.info({ can: kinds, concurrency: options.concurrency }, 'AI tasks are taken');
  const waiting = ALWAYS_ACCEPTED.filter((kind) => !kinds.includes(kind));
  if (waiting.length > 0) {
    log.warn(
      { waiting },
      'AI tasks of some kinds wait for an engine; "npx tradewind doctor" says what to install',
    );
  }

  return {
    metrics,
    async stop() {
      stopping = true;
      await Promise.all(loops.map((each) => each.stop()));
      // A task may be on its way into these hands.
      await tend().catch(() => {});
      for (const { stop } of running.values()) stop.abort(new Handed());
      await Promise.all([...running.values()].map(({ done }) => done));
      await folders.close();
    },
  };
}

async function takeOver(claims: Claims, log: Logger): Promise<void> {
  const tasks = await claims.takeOverFromDead();
  if (tasks.length > 0) log.warn({ tasks }, 'took over AI tasks from dead workers');
}
