import type { Logger } from 'pino';

export interface Loop {
  /** A round at once, or one more after the round at work. */
  now(): void;
  /** Resolves when the round at work has ended. */
  stop(): Promise<void>;
}

/**
 * Does `work` now and then every `ms`, one round at a time. A failed round is logged, once for each fault, and the next
 * comes in its turn.
 */
export function loop(name: string, ms: number, log: Logger, work: () => Promise<void>): Loop {
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
    if (!stopped) timer = setTimeout(now, ms);
  }
  function now(): void {
    again = true;
    if (atWork || stopped) return;
    clearTimeout(timer);
    atWork = round();
  }
  now();
  return {
    now,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await atWork;
    },
  };
}
