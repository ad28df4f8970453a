import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Counter, Histogram, type Registry } from 'prom-client';
import { type AiCapabilities, ALWAYS_ACCEPTED, type AnalysisProgram, workKinds } from '../../../../engines/index.ts';
import type { Database } from '../../../db/database.ts';
import type { Clock } from '../../../lib/time.ts';
import { declareDead, livingWorkers } from '../../../worker/heartbeat.ts';
import type { Queue } from '../../../worker/worker.ts';
import { AI_TASKS, noteProgress, type Step } from '../store.ts';
import { afterFault, type Claims, createClaims } from './claims.ts';
import { openWorkFolders, type WorkFolders } from './folders.ts';
import { type RunContext, type RunEnd, runTask } from './run.ts';
import { createSlots, type Slot } from './slots.ts';
import { anyWaiting, type Claim, tasksOf } from './store.ts';

/** The metrics of a worker's tasks. `kind` is transcription or the category of a moderation. */
export interface AiMetrics {
  started(kind: string, waitedSeconds: number): void;
  ended(kind: string, how: 'SUCCESS' | 'FAILURE' | 'RETRY' | 'REVOKED'): void;
  failed(kind: string, reason: string): void;
  /** Records seconds of work, including the fetch, for each second of the media file. */
  worked(kind: string, factor: number): void;
}

export function createAiMetrics(registry: Registry): AiMetrics {
  const registers = [registry];
  const waited = new Histogram({
    name: 'tradewind_ai_task_wait_seconds',
    help: 'From creation to the first start of work',
    labelNames: ['kind'],
    buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400],
    registers,
  });
  const factors = new Histogram({
    name: 'tradewind_ai_real_time_factor',
    help: 'Seconds of work, fetching included, for each second of the media file',
    labelNames: ['kind'],
    buckets: [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 2],
    registers,
  });
  const ends = new Counter({
    name: 'tradewind_ai_task_ends_total',
    help: 'Times that work on a task ended, by what became of the task',
    labelNames: ['kind', 'status'],
    registers,
  });
  const failures = new Counter({
    name: 'tradewind_ai_task_failures_total',
    help: 'Tasks that failed, by reason; "internal" counts our own errors, including retries',
    labelNames: ['kind', 'reason'],
    registers,
  });
  return {
    started: (kind, seconds) => waited.observe({ kind }, seconds),
    ended: (kind, status) => ends.inc({ kind, status }),
    failed: (kind, reason) => failures.inc({ kind, reason }),
    worked: (kind, factor) => factors.observe({ kind }, factor),
  };
}

const PROGRESS_MS = 500;
const RELEASE_PAUSE_MS = 1_000;
const RELEASE_ATTEMPTS = 30;

interface WorkContext extends Pick<RunContext, 'program' | 'fetching' | 'limits' | 'signal'> {
  database: Database;
  clock: Clock;
  log: Logger;
  claims: Claims;
  folders: WorkFolders;
  metrics: AiMetrics;
  slot: Slot;
  retryPausesMs: readonly number[];
}

/** Works on a claimed task until the claim is released. Never throws. */
export async function workOn(claim: Claim, context: WorkContext): Promise<void> {
  const { folders, signal, clock, metrics } = context;
  const log = context.log.child({ taskId: claim.id });
  const kind = claim.data.category ?? claim.data.task_name;
  if (claim.retries === 0) metrics.started(kind, (clock.now().getTime() - claim.createdAt.getTime()) / 1_000);
  const progress = progressWriter(claim.id, context.database, log);
  const begun = performance.now();
  let waitedMs = 0;
  async function turn(): Promise<void> {
    const ready = performance.now();
    await context.slot.turn(signal);
    waitedMs = performance.now() - ready;
  }
  let step: Step;
  try {
    const folder = await folders.make(claim.id);
    const end = await runTask(claim, { ...context, folder, log, turn, progress: progress.note });
    if (end.kind === 'done' && end.durationSeconds) {
      metrics.worked(kind, (performance.now() - begun - waitedMs) / 1_000 / end.durationSeconds);
    }
    step = stepAfter(end);
    if (end.kind === 'refused') metrics.failed(kind, end.code);
  } catch (error) {
    step = stepAfterError(error, claim, context, log);
    if (!signal.aborted) metrics.failed(kind, 'internal');
  }
  await folders
    .remove(claim.id)
    .catch((error: unknown) => log.warn({ err: error }, 'AI task: its files could not be removed'));
  await progress.stop();
  await release(claim, step, context, log);
}

function stepAfter(end: RunEnd): Step {
  if (end.kind === 'refused') return { to: 'FAILURE', result: { error: end.reason } };
  return { to: 'SUCCESS', result: end.result, frameRate: end.framesPerSecond };
}

function stepAfterError(
  error: unknown,
  claim: Claim,
  { signal, clock, retryPausesMs }: WorkContext,
  log: Logger,
): Step {
  // Releases the task; if it was cancelled, it has ended already.
  if (signal.aborted) return { to: 'PENDING' };
  log.error({ err: error, retries: claim.retries }, 'AI task: failed because of an internal error');
  return afterFault(claim, { now: clock.now(), pausesMs: retryPausesMs });
}

/** While the database is unavailable, the outcome waits; if that takes too long, another worker repeats the work. */
async function release(claim: Claim, step: Step, { claims, metrics }: WorkContext, log: Logger): Promise<void> {
  const kind = claim.data.category ?? claim.data.task_name;
  for (let attempt = 1; attempt <= RELEASE_ATTEMPTS; attempt++) {
    try {
      const taken = await claims.release(claim.id, step);
      const status = taken ? step.to : 'REVOKED';
      log.info({ status }, `AI task: ${status}`);
      if (status === 'SUCCESS' || status === 'FAILURE' || status === 'RETRY' || status === 'REVOKED') {
        metrics.ended(kind, status);
      }
      return;
    } catch (error) {
      log.warn({ err: error, attempt }, 'AI task: its outcome could not be saved');
      await delay(RELEASE_PAUSE_MS);
    }
  }
}

/** Writes a task's progress at most twice a second; the next write makes up for a failed one. */
function progressWriter(id: string, { sql }: Database, log: Logger) {
  let wanted = 0;
  let written = 0;
  let writing: Promise<void> | undefined;
  const stopped = new AbortController();
  async function write(): Promise<void> {
    while (written < wanted && !stopped.signal.aborted) {
      const percent = wanted;
      try {
        await noteProgress(sql, id, percent);
      } catch (error) {
        log.debug({ err: error }, 'AI task: its progress could not be saved');
      }
      written = percent;
      await delay(PROGRESS_MS, undefined, { signal: stopped.signal }).catch(() => {});
    }
    writing = undefined;
  }
  return {
    note(percent: number) {
      wanted = Math.max(wanted, percent);
      writing ??= write();
    },
    async stop() {
      stopped.abort();
      await writing;
    },
  };
}

const RETRY_PAUSES_MS = [2_000, 10_000, 30_000];

export interface AiQueueOptions {
  workerId: string;
  database: Database;
  clock: Clock;
  log: Logger;
  /** Registers the metrics of its tasks. */
  registry: Registry;
  capabilities: AiCapabilities;
  program: AnalysisProgram;
  fetching: RunContext['fetching'];
  limits: RunContext['limits'];
  /** Where tasks keep their files during work. */
  folder: string;
  /** Concurrent analyses in this process, and tasks of one account in all processes. */
  concurrency: number;
  perClient: number;
  /** Pauses before the first, second and third retry after an internal error. */
  retryPausesMs?: readonly number[];
}

export interface AiQueue extends Queue {
  /** Removes the folder of this worker, once the worker has stopped. */
  close(): Promise<void>;
}

/** Opens the queue of AI tasks for this worker's engines. */
export async function openAiQueue(options: AiQueueOptions): Promise<AiQueue> {
  const { workerId, database, log, capabilities, perClient, retryPausesMs = RETRY_PAUSES_MS } = options;
  const claims = createClaims(options);
  const kinds = workKinds(capabilities);
  const metrics = createAiMetrics(options.registry);
  const slots = createSlots(options.concurrency);
  const folders = await openWorkFolders(path.join(options.folder, 'ai'), workerId, log);
  log.info({ can: kinds, concurrency: options.concurrency }, 'Taking AI tasks');
  const waiting = ALWAYS_ACCEPTED.filter((kind) => !kinds.includes(kind));
  if (waiting.length > 0) {
    log.warn({ waiting }, 'AI tasks of some kinds wait for an engine; "npx tradewind doctor" says what to install');
  }
  return {
    name: 'AI tasks',
    topic: AI_TASKS,
    table: 'ai_task_runs',
    isDue: () => anyWaiting(options.clock.now()),
    async take(inHand, begin) {
      if (!slots.hasRoom()) return false;
      // Work that others have taken over may not have noticed yet.
      const except = [...inHand.keys()];
      const claim = await claims.take({ kinds, perClient, except, exceptClients: slots.slowClients() });
      if (!claim) return false;
      const slot = slots.enter(claim.clientId);
      const work = (signal: AbortSignal) =>
        workOn(claim, { ...options, claims, folders, metrics, slot, signal, retryPausesMs }).finally(slot.leave);
      begin({ key: claim.id, state: 'STARTED', work });
      return true;
    },
    claimed: () => tasksOf(database.sql, workerId),
    async giveBack(ids) {
      for (const id of ids) await claims.release(id, { to: 'PENDING' });
    },
    takeFromDead: claims.takeFromDead,
    async sweep() {
      const dead = await folders.sweep(() => livingWorkers(database.sql));
      if (dead.length > 0) await declareDead(database.sql, dead);
    },
    close: folders.close,
  };
}
