import type { Logger } from 'pino';

export interface Loop {
  /** Starts a round at once, or right after the running one. */
  now(): void;
  /** Resolves when the running round has ended. */
  stop(): Promise<void>;
}

/** The part of a pause by which it may be shorter or longer. */
const SPREAD = 0.25;

/**
 * Does `work` after `firstAfterMs` and then about every `ms`, one round at a time. The pauses vary, so that loops that begin together
 * don't all ask the database at the same moment, each over a connection of its own. A failed round is logged, once for
 * each different error, and the loop goes on.
 */
export function loop(name: string, ms: number, log: Logger, work: () => Promise<void>, firstAfterMs = 0): Loop {
  let stopped = false;
  let again = false;
  let timer: NodeJS.Timeout | undefined;
  let atWork: Promise<void> | undefined;
  let fault: string | undefined;
  async function round(): Promise<void> {
    try {
      while (again && !stopped) {
        again = false;
        await work();
        if (fault !== undefined) log.info(`${name} works again`);
        fault = undefined;
      }
    } catch (error) {
      const known = fault === String(error);
      fault = String(error);
      if (!stopped) log[known ? 'debug' : 'warn']({ err: error }, `${name} failed, trying again`);
    }
    atWork = undefined;
    if (!stopped) timer = setTimeout(now, ms * (1 + SPREAD * (2 * Math.random() - 1)));
  }
  function now(): void {
    again = true;
    if (atWork || stopped) return;
    clearTimeout(timer);
    atWork = round();
  }
  if (firstAfterMs > 0) timer = setTimeout(now, firstAfterMs);
  else now();
  return {
    now,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await atWork;
    },
  };
}

/**
 * Returns `work`, or rejects as soon as `signal` fires: work that hangs and ignores the signal must not block
 * its caller.
 */
export async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

const JITTER = 0.25;

/** How long to wait after failures, in milliseconds: the first time, and at most. */
export interface Waits {
  firstMs: number;
  longestMs: number;
}

/**
 * Returns how long to wait after that many failures in a row, in milliseconds: twice as long each time, and a quarter
 * more or less. `random` returns numbers from 0 to 1.
 */
export function waitAfter(failures: number, { firstMs, longestMs }: Waits, random: () => number): number {
  const wait = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), longestMs);
  return wait * (1 - JITTER + 2 * JITTER * random());
}
