import type { Registry } from 'prom-client';
import { type BackendRouter, backendsIn } from '../backends/backends.ts';
import { inMaintenanceNow } from '../cloud/ground/maintenance/service.ts';
import { waitingDeletionsQueue } from '../cloud/ground/tasks/behind/queue.ts';
import { invoiceAttacher } from '../cloud/money/invoices/work.ts';
import { WAITING_DELETIONS } from '../cloud/wings.ts';
import type { Config } from '../config.ts';
import { type Troubles, watchBackends } from '../convergence/backend-health.ts';
import { startComparing } from '../convergence/comparing.ts';
import { listenToBackends } from '../convergence/listening.ts';
import { wantsQueue } from '../convergence/queue.ts';
import type { Database } from '../db/database.ts';
import type { Outlet } from '../mail/sending/outlets.ts';
import { mailQueue } from '../mail/sending/queue.ts';
import type { Platform } from '../platform.ts';
import { deletionQueue } from '../tradewind/deletions/work/pursuit.ts';
import { createSendingMeasures, startFanOut, webhookQueue } from '../tradewind/webhooks/sending/queue.ts';
import type { Worker } from '../worker/worker.ts';
import { startLoops } from './loops.ts';
import type { Undo } from './preparation.ts';

/** Lets a worker take work of all kinds but AI tasks, and starts what watches backends and tells webhooks. */
export async function serveQueues(
  worker: Pick<Worker, 'id' | 'serve'>,
  on: Platform,
  deps: {
    config: Config;
    registry: Registry;
    /** Another database for what may be repeated after a crash of the server. */
    repeatable: Database;
    backends: BackendRouter;
    /** Whether the clock can be trusted. */
    mayWork(): boolean;
    outlet: Outlet;
    undo: Undo;
    /** Is told of the problems of backends. */
    changed(troubles: Troubles): void;
  },
): Promise<void> {
  const { config, registry, repeatable, mayWork, outlet, undo, changed } = deps;
  const regions = config.workerRegions;
  const backends = regions ? backendsIn(deps.backends, regions) : deps.backends;
  const { database, changes, clock, log } = on;
  const workerId = worker.id;
  worker.serve(wantsQueue({ ...on, workerId, claims: repeatable, backendOf: backends.of, regions }));
  worker.serve(deletionQueue(on, workerId));
  worker.serve(waitingDeletionsQueue(on, { workerId, deletions: WAITING_DELETIONS }));
  // What is sent twice has the same ID, so that it may be repeated after a crash of the database.
  worker.serve(webhookQueue({ ...on, workerId, database: repeatable, measures: createSendingMeasures(registry) }));
  const mails = { workerId, database: repeatable, outlet, letterhead: on.letterhead(), attach: invoiceAttacher(on) };
  worker.serve(mailQueue({ ...on, ...mails }));
  startLoops(on, { config, undo, mayWork });
  const fanOut = startFanOut({ database, changes, clock, log });
  undo.push(() => fanOut.stop());
  const watching = await watchBackends({ backends, log, registry, changed });
  undo.push(() => watching.stop());
  const listening = listenToBackends({ backends, database, log });
  undo.push(() => listening.stop());
  const comparing = startComparing({
    database,
    backends,
    everyMs: config.compareMs,
    log,
    registry,
    leftAlone: () => inMaintenanceNow(database.sql),
  });
  undo.push(() => comparing.stop());
}
