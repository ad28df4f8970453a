import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../../db/database.ts';
import type { Clock } from '../../../lib/time.ts';
import { noteProgress, type Step } from '../store.ts';
import { afterFault, type Claims } from './claims.ts';
import type { WorkFolders } from './folders.ts';
import type { AiMetrics } from './metrics.ts';
import { type RunContext, type RunEnd, runTask } from './run.ts';
import type { Slot } from './slots.ts';
import type { Claim } from './store.ts';

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
  return end.kind === 'done'
    ? { to: 'SUCCESS', result: end.result }
    : { to: 'FAILURE', result: { error: end.reason } };
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

/**
 * While the database is unavailable, the outcome waits; if that takes too long, another worker repeats the
 * work.
 */
async function release(
  claim: Claim,
  step: Step,
  { claims, metrics }: WorkContext,
  log: Logger,
): Promise<void> {
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
