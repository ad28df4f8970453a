import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import { createBackends } from '../backends/backends.ts';
import { buildPlatform } from '../build-platform.ts';
import { followCatalog } from '../cloud/ground/catalog/live.ts';
import type { Troubles } from '../convergence/backend-health.ts';
import { createMeasures } from '../convergence/measures.ts';
import { createWorkTraces } from '../convergence/traces.ts';
import { openDatabase } from '../db/database.ts';
import { createPatience } from '../db/outages.ts';
import { parseAllowedHosts } from '../lib/outside-request.ts';
import { encryptionKeysOf } from '../secrets/encryption-keys.ts';
import { createSecrets } from '../secrets/secrets.ts';
import type { AiQueue } from '../streaming/ai-tasks/work/queue.ts';
import { startWorker, type Worker } from '../worker/worker.ts';
import { aiQueueOf, mediaOf, prepareAiWork } from './ai-worker.ts';
import { hostOf, outletOf } from './from-settings.ts';
import { createInspection } from './inspection.ts';
import { followDataKeys, type Prepared, type Undo } from './preparation.ts';
import { serveQueues } from './queues.ts';

const CONNECTIONS = 10;

export interface TaskWorker {
  /** Resolves when it takes tasks. The schema must be up to date. */
  start(): Promise<void>;
  /**
   * Begins to take AI tasks as well. Call it when all else is ready: it asks programs for their versions and
   * tries the sandbox, which takes a second that nobody has to wait for.
   */
  takeAiTasks(): void;
  /** Returns the metrics of its work in the text format of Prometheus. */
  metrics(): Promise<string>;
  /** Its own connections to the database, by what they are for. */
  pools(): Record<string, Pool>;
  /** Returns the last known problems of backends. */
  troubles(): Troubles;
  /** Lets running calls finish within `graceMs`, and releases the rest. */
  stop(graceMs: number): Promise<void>;
}

/** Creates a worker. The given database, announcements and catalogue are those of its process. */
export function createTaskWorker(prepared: Prepared): TaskWorker {
  const { config, log, storage, database, changes, clock, clocks, catalog, makers, tracing } = prepared;
  const mayWork = () => clocks.databaseClock.problem() === undefined;
  const { connection, exclusive } = storage;
  const inTurns = config.testApi;
  const registry = new Registry();
  let stopping = false;
  let beginAi: (() => Promise<void>) | undefined;
  let aiTasks: AiQueue | undefined;
  let troubles: Troubles = {};
  let pools: Record<string, Pool> = {};
  const undo: Undo = [];
  return {
    async start() {
      const repeatable = openDatabase(connection, CONNECTIONS, { repeatable: true, clock, log, inTurns });
      undo.push(() => repeatable.close());
      // Requests of the same process would wait behind hundreds of tasks for the connections of the given database.
      const own = openDatabase(connection, CONNECTIONS, { clock, log, inTurns });
      undo.push(() => own.close());
      pools = { work: own.pool, queues: repeatable.pool };
      const patiently = createPatience(config.databaseWaitSeconds, log);
      // A separate pool from that of the backends: a call that waits for a new key may hold one of their connections.
      const secrets = createSecrets({ sql: repeatable.sql, encryptionKeys: encryptionKeysOf(config) });
      await patiently(() => secrets.load());
      followDataKeys(secrets, changes, log);
      // Real infrastructure doesn't forget its state, as `repeatable` may.
      const backends = createBackends(makers, { sql: own.sql, secrets, ...hostOf(config) });
      const live = await patiently(() =>
        followCatalog({ database, changes, log, agreed: catalog, kinds: makers, backends }),
      );
      undo.push(() => live.stop());
      const unknown = config.workerRegions?.filter((id) => !live.catalog.regions.has(id)) ?? [];
      if (unknown.length > 0)
        log.warn({ regions: unknown }, 'TRADEWIND_WORKER_REGIONS names regions that the catalogue does not have');
      const outlet = outletOf(config, log);
      undo.push(async () => outlet.close());
      const worker = await patiently(() =>
        startWorker({
          database: repeatable,
          changes,
          log,
          takeOverAllAtStart: exclusive,
          regions: config.workerRegions,
          mayWork,
        }),
      );
      undo.push(async (graceMs) => {
        await worker.stop(graceMs);
        await aiTasks?.close();
      });
      const measures = createMeasures(registry);
      const webhookHosts = parseAllowedHosts(config.webhookHosts);
      const on = buildPlatform({
        database: own,
        changes,
        catalog: live.catalog,
        clock,
        log,
        backends,
        secrets,
        webhookHosts,
        suspensionStopsMachines: config.suspensionStopsMachines,
        letterhead: prepared.letterhead,
        media: mediaOf(config),
        inspection: createInspection({ config, database: own, backends }),
        measures,
        traces: tracing && createWorkTraces(tracing, repeatable.sql),
      });
      await serveQueues(worker, on, {
        config,
        registry,
        repeatable,
        backends,
        mayWork,
        outlet,
        undo,
        changed(now) {
          troubles = now;
        },
      });
      beginAi = () => aiWork({ workerId: worker.id, database: own, clock, log, registry }, worker);
    },
    takeAiTasks() {
      const beginning = beginAi?.().catch((error: unknown) => log.error({ err: error }, 'No AI tasks are taken here'));
      undo.push(async () => beginning);
    },
    metrics: () => registry.metrics(),
    pools: () => pools,
    troubles: () => troubles,
    async stop(graceMs) {
      stopping = true;
      for (let step = undo.pop(); step; step = undo.pop()) await step(graceMs);
    },
  };

  async function aiWork(foundation: Parameters<typeof aiQueueOf>[2], worker: Pick<Worker, 'can' | 'serve'>) {
    const preparation = await prepareAiWork(config, log);
    if (!preparation || stopping) return;
    aiTasks = await aiQueueOf(config, preparation, foundation);
    await worker.can(preparation.capabilities);
    worker.serve(aiTasks);
  }
}
