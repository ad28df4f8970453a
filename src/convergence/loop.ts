import type { Logger } from 'pino';

export interface Loop {
  /** Resolves when the round at work has ended. */
  stop(): Promise<void>;
}

/** Does `work` now and then every `ms`, one round at a time. A failed round is logged; the next comes in its turn. */
export function loop(name: string, ms: number, log: Logger, work: () => Promise<void>): Loop {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  async function round(): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!stopped) log.warn({ err: error }, `${name} failed, trying again`);
    }
    if (stopped) return;
    timer = setTimeout(() => {
      atWork = round();
    }, ms);
  }
  let atWork = round();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await atWork;
    },
  };
}
