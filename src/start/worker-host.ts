import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker as Thread } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Troubles } from '../convergence/backend-health.ts';
import { packageRoot } from '../lib/package-root.ts';
import type { Storage } from './storage.ts';
import type { TaskWorker } from './task-worker.ts';
import type { FromThread, ToThread } from './worker-thread-messages.ts';

const ENTRY = import.meta.url.endsWith('.ts')
  ? 'src/start/worker-thread.ts'
  : 'dist/src/start/worker-thread.js';
/** The id of a thread that has ended. */
const ENDED = -1;
/** A thread that is too busy to answer is left out of the metrics. */
const MEASURE_MS = 1_000;
const RESTART_PAUSE_MS = 1_000;
/** How long a thread may take after its grace to release its work before it is ended. */
const LAST_WAIT_MS = 2_000;

/**
 * Runs tasks in a separate thread, so that requests don't wait while it compares specs or makes certificates.
 * The thread loads its code while the database starts, and is restarted if it ends by itself.
 */
export function hostWorkerThread(config: Config, log: Logger): TaskWorker {
  let troubles: Troubles = {};
  let thread = launch();
  let stopping = false;

  function launch(): Thread {
    const next = new Thread(path.join(packageRoot, ENTRY), { workerData: { ...config } });
    troubles = {};
    next.on('message', (message: FromThread) => {
      if (message.has === 'troubles') troubles = message.troubles;
    });
    next.on('error', (error) => log.error({ err: error }, 'The thread that takes tasks failed'));
    return next;
  }

  async function begin(storage: Pick<Storage, 'connection' | 'exclusive'>): Promise<void> {
    const begun = thread;
    begun.once('exit', () => {
      if (!stopping && begun === thread) void again(storage);
    });
    tell({ do: 'start', storage: { connection: storage.connection, exclusive: storage.exclusive } });
    for (let has = ''; has !== 'started'; ) {
      [{ has }] = (await once(begun, 'message')) as [FromThread];
    }
  }

  async function again(storage: Pick<Storage, 'connection' | 'exclusive'>): Promise<void> {
    await sleep(RESTART_PAUSE_MS);
    if (stopping) return;
    log.info('Starting the thread that takes tasks again');
    thread = launch();
    await begin(storage).catch(() => {});
  }

  function tell(message: ToThread): void {
    thread.postMessage(message);
  }

  return {
    start: begin,
    async metrics() {
      if (thread.threadId === ENDED) return '';
      const signal = AbortSignal.timeout(MEASURE_MS);
      const asked = thread;
      tell({ do: 'measure' });
      for (;;) {
        const [message] = (await once(asked, 'message', { signal }).catch(() => [undefined])) as [
          FromThread | undefined,
        ];
        if (!message) return '';
        if (message.has === 'measured') return message.metrics;
      }
    },
    troubles: () => troubles,
    async stop(graceMs) {
      stopping = true;
      if (thread.threadId === ENDED) return;
      const ended = once(thread, 'exit');
      tell({ do: 'stop', graceMs });
      const patience = new AbortController();
      const late = sleep(graceMs + LAST_WAIT_MS, undefined, { signal: patience.signal }).then(() =>
        thread.terminate(),
      );
      await Promise.race([ended, late.catch(() => {})]);
      patience.abort();
    },
  };
}
