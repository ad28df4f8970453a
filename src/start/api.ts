import { Registry } from 'prom-client';
import type { Seed, TestKitParts } from '../../test-kit/index.ts';
import { applySeed, createSeedCallers, sendTo } from '../../test-kit/index.ts';
import { buildApp } from '../app.ts';
import { buildPlatform } from '../build-platform.ts';
import { followCatalog, type LiveCatalog } from '../cloud/ground/catalog/live.ts';
import { createWorkTraces } from '../convergence/traces.ts';
import { createWorkerServer } from '../http/worker-server.ts';
import { createTokenUseRecorder } from '../iam/tokens/use-recorder.ts';
import { parseAllowedHosts } from '../lib/outside-request.ts';
import { accessLogOf } from '../log.ts';
import { createRequestMeasures } from '../requests/measures.ts';
import { mediaOf } from './ai-worker.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createInspection } from './inspection.ts';
import { type ListenAddress, listen } from './listening.ts';
import { createMetrics } from './metrics.ts';
import { followDataKeys, type Prepared, type Undo } from './preparation.ts';
import { createReadiness } from './readiness.ts';
import type { TaskWorker } from './task-worker.ts';

/** The folder of the embedded database, if that is used. */
const embeddedIn = ({ databaseUrl, dataDir }: Prepared['config']) => (databaseUrl === undefined ? dataDir : undefined);

async function follow(prepared: Prepared, undo: Undo): Promise<LiveCatalog> {
  const { database, changes, log, catalog, makers, backends, secrets, patiently } = prepared;
  followDataKeys(secrets, changes, log);
  const live = await patiently(() =>
    followCatalog({ database, changes, log, agreed: catalog, kinds: makers, backends }),
  );
  undo.push(() => live.stop());
  return live;
}

/** Serves health and metrics of a process without the API. */
export async function startReports(
  prepared: Prepared,
  { at, worker, undo }: { at: ListenAddress; worker: TaskWorker | undefined; undo: Undo },
): Promise<undefined> {
  const { config, log, database, clocks } = prepared;
  const live = await follow(prepared, undo);
  const readiness = createReadiness({ database, role: 'worker', live, worker, clocks, folder: embeddedIn(config) });
  const metrics = createMetrics({ database, worker, clocks, folder: config.dataDir, open: config.openMetrics });
  await listen(createWorkerServer({ log, readiness, metrics }), at, { log, undo });
}

/** Starts the API and the housekeeping of its process. A seed is applied once `working` has resolved. */
export async function startApi(
  prepared: Prepared,
  {
    role,
    seed,
    testKit,
    worker,
    working,
    undo,
  }: {
    role: 'all' | 'api';
    seed: Seed | undefined;
    testKit: TestKitParts | undefined;
    worker: TaskWorker | undefined;
    working: Promise<void>;
    undo: Undo;
  },
): Promise<{ host: string; port: number }> {
  const { config, log, database, clock, clocks, changes, backends, secrets, tracing } = prepared;
  const live = await follow(prepared, undo);
  const webhookHosts = parseAllowedHosts(config.webhookHosts);
  const registry = new Registry();
  const measures = createRequestMeasures(registry);
  const on = buildPlatform({
    database,
    changes,
    catalog: live.catalog,
    clock,
    log,
    backends,
    secrets,
    webhookHosts,
    suspensionStopsMachines: config.suspensionStopsMachines,
    console: config.console,
    media: mediaOf(config),
    inspection: createInspection(prepared),
    letterhead: prepared.letterhead,
    smtp: config.mail.smtpUrl !== undefined,
    requestMeasures: measures,
    traces: tracing && createWorkTraces(tracing, database.sql),
  });
  const uses = createTokenUseRecorder({ database, authenticator: on.authenticator, log });
  uses.start();
  undo.push(() => uses.stop());
  const { events } = on;
  const metrics = createMetrics({
    database,
    worker,
    clocks,
    folder: config.dataDir,
    events,
    registry,
    open: config.openMetrics,
  });
  const housekeeping = startHousekeeping(on, { clocks, kept: config.kept });
  undo.push(() => housekeeping.stop());
  const seedCallers = seed && createSeedCallers(on.authenticator);
  const app = await buildApp({
    on: seedCallers ? { ...on, authenticator: seedCallers.authenticator } : on,
    log,
    readiness: createReadiness({ database, role, live, worker, clocks, folder: embeddedIn(config) }),
    rateLimit: config.rateLimit,
    strict: config.strict,
    console: config.console,
    metrics,
    measures,
    tracing,
    testKit,
    trustedProxies: config.trustedProxies,
    ...(config.accessLog && log.isLevelEnabled('info') && { accessLog: accessLogOf(log) }),
  });
  if (seed && seedCallers) {
    await working;
    await applySeed({ database, clock, callers: seedCallers, send: sendTo(app) }, seed);
    seedCallers.end();
  }
  return listen(app, config, { log, undo });
}
