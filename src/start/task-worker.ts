import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { createBackends } from '../backends/backends.ts';
import type { Makers } from '../backends/maker.ts';
import { buildPlatform } from '../build-platform.ts';
import { followCatalog } from '../cloud/ground/catalog/live.ts';
import type { Catalog } from '../cloud/ground/catalog/service.ts';
import { waitingDeletionsQueue } from '../cloud/ground/tasks/behind/queue.ts';
import { startSnapshotSchedules } from '../cloud/storage/volumes/schedules/work.ts';
import { WAITING_DELETIONS } from '../cloud/wings.ts';
import type { Config } from '../config.ts';
import { type Troubles, watchBackends } from '../convergence/backend-health.ts';
import { startComparing } from '../convergence/comparing.ts';
import { listenToBackends } from '../convergence/listening.ts';
import { createMeasures } from '../convergence/measures.ts';
import { wantsQueue } from '../convergence/queue.ts';
import { createWorkTraces } from '../convergence/traces.ts';
import type { ChangeFeed } from '../db/changes.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { createPatience } from '../db/outages.ts';
import { parseAllowedHosts } from '../lib/outside-request.ts';
import type { Clock } from '../lib/time.ts';
import type { Tracing } from '../lib/tracing.ts';
import { mailQueue } from '../mail/sending/queue.ts';
import { encryptionKeysOf } from '../secrets/encryption-keys.ts';
import { createSecrets, type LoadedSecrets } from '../secrets/secrets.ts';
import type { AiQueue } from '../streaming/ai-tasks/work/queue.ts';
import { deletionQueue } from '../tradewind/deletions/work/pursuit.ts';
import { createSendingMeasures, startFanOut, webhookQueue } from '../tradewind/webhooks/sending/queue.ts';
import { startWorker, type Worker } from '../worker/worker.ts';
import { aiQueueOf, prepareAiWork } from './ai-worker.ts';
import type { Clocks } from './clocks.ts';
import { letterheadOf, outletOf } from './mail.ts';
import { hostOf } from './makers.ts';
import type { Storage } from './storage.ts';

const CONNECTIONS = 10;

/** Works on tasks. */
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

/** A process that can't use a new key continues with those that it has. */
export function followDataKeys(secrets: LoadedSecrets, changes: ChangeFeed, log: Logger): void {
  secrets.follow(changes, (error) =>
    log.error({ err: error }, 'A new data key cannot be used; this process may be unable to read secrets'),
  );
}

/** Creates a worker. The given database, announcements and catalogue are those of its process. */
export function createTaskWorker({
  config,
  log,
  storage: { connection, exclusive },
  database,
  changes,
  clock,
  clocks,
  agreed,
  makers,
  tracing,
}: {
  config: Config;
  log: Logger;
  storage: Pick<Storage, 'connection' | 'exclusive'>;
  database: Database;
  changes: ChangeFeed;
  clock: Clock;
  clocks: Clocks;
  agreed: Catalog;
  makers: Makers;
  tracing?: Tracing | undefined;
}): TaskWorker {
  const inTurns = config.testApi;
  const registry = new Registry();
  let stopping = false;
  let beginAi: (() => Promise<void>) | undefined;
  let aiTasks: AiQueue | undefined;
  let troubles: Troubles = {};
  let pools: Record<string, Pool> = {};
  const undo: ((graceMs: number) => Promise<void>)[] = [];
  return {
    async start() {
      const repeatable = openDatabase(connection, CONNECTIONS, { repeatable: true, clock, log, inTurns });
      undo.push(() => repeatable.close());
      // Requests of the same process would wait behind hundreds of tasks for the connections of the given database.
      const own = openDatabase(connection, CONNECTIONS, { clock, log, inTurns });
      undo.push(() => own.close());
      pools = { work: own.pool, queues: repeatable.pool };
      const patiently = createPatience(config.databaseWaitSeconds, log);
      // A separate pool from that of the backends: a call that waits for a new key may hold one of their
      // connections.
      const secrets = createSecrets({ sql: repeatable.sql, encryptionKeys: encryptionKeysOf(config) });
      await patiently(() => secrets.load());
      followDataKeys(secrets, changes, log);
      // Real infrastructure doesn't forget its state, as `repeatable` may.
      const backends = createBackends(makers, {
        sql: own.sql,
        secrets,
        ...hostOf(config),
      });
      const live = await patiently(() =>
        followCatalog({ database, changes, log, agreed, kinds: makers, backends }),
      );
      undo.push(() => live.stop());
      const outlet = outletOf(config, log);
      undo.push(async () => outlet.close());
      const worker = await patiently(() =>
        startWorker({
          database: repeatable,
          changes,
          log,
          takeOverAllAtStart: exclusive,
          mayWork: () => clocks.databaseClock.problem() === undefined,
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
        ...{
          webhookHosts,
          measures,
          traces: tracing && createWorkTraces(tracing, repeatable.sql),
        },
      });
      const workerId = worker.id;
      worker.serve(wantsQueue({ ...on, workerId, claims: repeatable, backendOf: backends.of }));
      worker.serve(deletionQueue(on, { workerId, removalTime: clocks.removalTime }));
      worker.serve(waitingDeletionsQueue(on, { workerId, deletions: WAITING_DELETIONS }));
      const changed = (now: Troubles) => {
        troubles = now;
      };
      // What is sent twice has the same ID, so that it may be repeated after a crash of the database.
      worker.serve(
        webhookQueue({
          ...on,
          workerId,
          database: repeatable,
          measures: createSendingMeasures(registry),
        }),
      );
      const letterhead = letterheadOf(config);
      worker.serve(mailQueue({ ...on, workerId, database: repeatable, outlet, letterhead }));
      const schedules = startSnapshotSchedules(on, () => clocks.databaseClock.problem() === undefined);
      undo.push(() => schedules.stop());
      const fanOut = startFanOut({ database: own, changes, clock, log });
      undo.push(() => fanOut.stop());
      const watching = await watchBackends({ backends, log, registry, changed });
      undo.push(() => watching.stop());
      const listening = listenToBackends({ backends, database: own, log });
      undo.push(() => listening.stop());
      const comparing = startComparing({ database: own, backends, everyMs: config.compareMs, log, registry });
      undo.push(() => comparing.stop());
      beginAi = () => aiWork({ workerId, database: own, clock, log, registry }, worker);
    },
    takeAiTasks() {
      const beginning = beginAi?.().catch((error: unknown) =>
        log.error({ err: error }, 'No AI tasks are taken here'),
      );
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

  async function aiWork(
    foundation: Parameters<typeof aiQueueOf>[2],
    worker: Pick<Worker, 'can' | 'serve'>,
  ): Promise<void> {
    const prepared = await prepareAiWork(config, log);
    if (!prepared || stopping) return;
    aiTasks = await aiQueueOf(config, prepared, foundation);
    await worker.can(prepared.capabilities);
    worker.serve(aiTasks);
  }
}
