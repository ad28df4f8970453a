import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isTransient, reasonFor } from './failure.ts';
import { type Gate, parked } from './gate.ts';
import { TaskFailure } from './task-handler.ts';

const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 200;
const PAUSE_FACTOR = 3;

/** What is recorded of a step. A failure is a value too, so that a replay sees the same text and not a revived error. */
export type StepOutcome<T> = { ok: true; value: T } | { ok: false; reason: string };

export interface StepContext {
  taskId: string;
  name: string;
  signal: AbortSignal;
  gate: Gate;
  /** Counts the step out of the gate. */
  leave: () => void;
  log: Logger;
}

/**
 * Runs one step to its outcome: transient faults are tried again with growing pauses.
 * Rejects only when the task ended meanwhile.
 */
export async function attemptStep<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { taskId, name, signal, gate, leave, log }: StepContext,
): Promise<StepOutcome<T>> {
  for (let attempt = 1, pause = FIRST_PAUSE_MS; ; attempt += 1, pause *= PAUSE_FACTOR) {
    try {
      return { ok: true, value: await untilAborted(signal, work(signal)) };
    } catch (error) {
      signal.throwIfAborted();
      const again = isTransient(error) && attempt < ATTEMPTS;
      log.warn(
        {
          ...(error instanceof TaskFailure ? { reason: error.message } : { err: error }),
          taskId,
          step: name,
          attempt,
        },
        again ? 'step failed, trying again' : 'step failed',
      );
      if (!again) return { ok: false, reason: reasonFor(error, taskId, name) };
    }
    await delay(pause, undefined, { signal });
    if (gate.closed) {
      leave();
      await parked();
    }
  }
}

/** `work`, or a rejection as soon as `signal` fires: work that hangs and ignores the signal must not hold its place. */
export async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
