import { parentPort, workerData } from 'node:worker_threads';
import type { Config } from '../config.ts';
import type { Troubles } from '../convergence/backend-health.ts';
import { createLog } from '../log.ts';
import { createTaskWorker } from './task-worker.ts';
import type { FromThread, ToThread } from './worker-thread-messages.ts';

/**
 * The thread that runs tasks. It starts with the settings, and is told when the database is ready and when to
 * stop.
 */

const config = workerData as Config;
const told = (troubles: Troubles) =>
  parentPort?.postMessage({ has: 'troubles', troubles } satisfies FromThread);
const worker = createTaskWorker(config, createLog(config), { told });

async function obey(message: ToThread): Promise<void> {
  if (message.do === 'start') {
    await worker.start(message.storage);
    parentPort?.postMessage({ has: 'started' } satisfies FromThread);
  } else if (message.do === 'measure') {
    const metrics = await worker.metrics();
    parentPort?.postMessage({ has: 'measured', metrics } satisfies FromThread);
  } else {
    await worker.stop(message.graceMs);
    parentPort?.close();
  }
}

// An error ends the thread, and its host notices.
parentPort?.on('message', (message: ToThread) => void obey(message));
