import { once } from 'node:events';
import type { Server } from 'node:http';
import net from 'node:net';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { readModels } from '../../engines/index.ts';
import { buildApp } from '../app.ts';
import { createBackends } from '../backends/backends.ts';
import type { Makers } from '../backends/maker.ts';
import { buildPlatform, createTaskEnds } from '../build-platform.ts';
import { agreeOnCatalog } from '../cloud/ground/catalog/in-force.ts';
import { followCatalog } from '../cloud/ground/catalog/live.ts';
import { type Catalog, loadCatalog } from '../cloud/ground/catalog/service.ts';
import { prepareProjects } from '../cloud/network/project-changes/service.ts';
import type { Config } from '../config.ts';
import { createWorkTraces } from '../convergence/traces.ts';
import type { Endings } from '../convergence/waiting-tasks.ts';
import { type ListeningChangeFeed, listenForChanges } from '../db/changes.ts';
import { openDatabase } from '../db/database.ts';
import { createDatabaseClock, requireSameTime } from '../db/database-clock.ts';
import { createPatience } from '../db/outages.ts';
import type { Api } from '../http/server.ts';
import { createWorkerServer } from '../http/worker-server.ts';
import { ensureSigningKey } from '../iam/identity/signed-tokens.ts';
import { createTokenUseRecorder } from '../iam/tokens/use-recorder.ts';
import { OperatorError } from '../lib/errors.ts';
import { parseAllowedHosts } from '../lib/outside-request.ts';
import type { Clock } from '../lib/time.ts';
import { accessLogOf } from '../log.ts';
import { createRequestMeasures } from '../requests/measures.ts';
import { encryptionKeysOf } from '../secrets/encryption-keys.ts';
import { prepareSecrets } from '../secrets/preparation.ts';
import { createSecrets, type Secrets } from '../secrets/secrets.ts';
import { startTracing } from '../tracing/start.ts';
import { deletionTasks } from '../tradewind/deletions/tasks.ts';
import * as testKits from '../tradewind/test-kit/kit.ts';
import { createPartialReset, leaveNothing } from '../tradewind/test-kit/partial-reset.ts';
import { createSnapshots } from '../tradewind/test-kit/snapshots.ts';
import { createTurns } from '../tradewind/test-kit/turns.ts';
import { requireAiSandbox } from './ai-worker.ts';
import { sourceOf } from './catalog-apply.ts';
import { keepComparing } from './clocks.ts';
import type { Role } from './command.ts';
import { ensureFirstAccount } from './first-account.ts';
import { type FirstToken, firstTokenFile, makeFirstToken } from './first-token.ts';
import { startHousekeeping } from './housekeeping.ts';
import { letterheadOf } from './mail.ts';
import { hostOf, MAKERS } from './makers.ts';
import { createMetrics } from './metrics.ts';
import { createReadiness } from './readiness.ts';
import { startRemovalTime } from './removal-time.ts';
import { prepareSchema, watchSchema } from './schema.ts';
import { applySeed, createSeedCallers } from './seed/apply.ts';
import { readSeed } from './seed/file.ts';
import { sendTo } from './seed/requests.ts';
import { hasDatabase, openStorage } from './storage.ts';
import { createTaskWorker, followDataKeys } from './task-worker.ts';

/** `setting` is the name of the port's setting. */
export type ListenAddress = Pick<Config, 'host' | 'port'> & { setting?: string };

const WHYS: Record<string, string> = {
  EADDRINUSE: 'another program listens there; stop it or set TRADEWIND_PORT to another port',
  EACCES: 'this user may not use that port; set TRADEWIND_PORT to a port above 1023',
  EADDRNOTAVAIL: 'this machine has no such address; set TRADEWIND_HOST to one of its own',
  ENOTFOUND: 'the host name is unknown; set TRADEWIND_HOST to an address of this machine',
};

/**
 * Checks the port early, since a start would otherwise notice only at its end, after making the database.
 * @throws OperatorError
 */
export async function requireFreePort(address: ListenAddress): Promise<void> {
  const probe = net.createServer();
  try {
    probe.listen(address.port, address.host);
    await once(probe, 'listening');
  } catch (error) {
    throw cannotListen(address, error);
  }
  probe.close();
  await once(probe, 'close');
}

export function cannotListen(
  { host, port, setting = 'TRADEWIND_PORT' }: ListenAddress,
  cause: unknown,
): OperatorError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const why = (WHYS[code ?? ''] ?? message).replace('TRADEWIND_PORT', setting);
  const what = setting === 'TRADEWIND_PORT' ? 'The API' : 'The worker';
  return new OperatorError(`${what} can't listen on ${host}, port ${port}: ${why}`, { cause });
}

/** Puts together what the routes for tests need, where there is a kit. */
export function testKitParts(
  kit: testKits.TestKit | undefined,
  deps: Omit<Endings, 'taskEnds'> & {
    secrets: Secrets;
    changes: ListeningChangeFeed;
    catalog: Pick<Catalog, 'regions'>;
    normalSpeed: number;
  },
): testKits.TestKitParts | undefined {
  if (!kit) return undefined;
  const { database, changes, normalSpeed } = deps;
  const taskEnds = createTaskEnds(deps);
  const work = testKits.createWorkInProgress({ ...deps, taskEnds });
  const alone = createTurns(database);
  const snapshots = createSnapshots(database, alone, async ({ gone, there }) => {
    kit.calls.allow(there);
    changes.forgetAll();
    await leaveNothing({ calls: kit.calls, database }, gone);
  });
  const partial = createPartialReset({ ...deps, calls: kit.calls, alone });
  return { kit, snapshots, partial, work, taskTypes: typesUnderRules(taskEnds.keys()), normalSpeed };
}

/** Deletions with contents want nothing of a backend themselves: no rule ever reaches them. */
function typesUnderRules(types: Iterable<string>): ReadonlySet<string> {
  const ofDeletions = new Set(deletionTasks().map(({ type }) => type));
  return new Set([...types].filter((type) => !ofDeletions.has(type)));
}

/** For the last traces, if nobody takes them. */
const TRACES_MS = 2_000;

/** A running Tradewind. */
export interface RunningPlatform {
  /** Where the API listens; undefined in a process that is only a worker. */
  address: { host: string; port: number } | undefined;
  /** The token that this start made, if it was the first one without a bootstrap token. */
  firstToken: FirstToken | undefined;
  /** Resolves when a later release has removed parts of the schema that this one needs. */
  outgrown: Promise<OperatorError>;
  /** Stops gracefully: no new requests, running ones get `graceMs`, unfinished work is released. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Starts database, schema, first account, workers and API in the order of their dependencies. At a `terminal`,
 * the first token can be shown.
 */
export async function startPlatform(
  config: Config,
  role: Role,
  log: Logger,
  {
    terminal = false,
    makers: givenMakers = MAKERS,
    clock: givenClock,
  }: { terminal?: boolean; makers?: Makers; clock?: Clock } = {},
): Promise<RunningPlatform> {
  const databaseClock = createDatabaseClock();
  const kit = config.testApi ? testKits.createTestKit(databaseClock, config.testClock) : undefined;
  const makers = kit?.makers(givenMakers) ?? givenMakers;
  const clock = kit?.clock ?? givenClock ?? databaseClock;
  const undo: (() => Promise<void>)[] = [];
  let graceMs = 0;
  const listenAt = role === 'worker' ? workerAddress(config) : config;
  if (listenAt) await requireFreePort(listenAt);
  // Invalid settings are reported before anything is made.
  if (role !== 'api' && config.ai.modelDir !== undefined) readModels(config.ai.modelDir);
  if (role !== 'api' && config.mail.templates !== undefined) letterheadOf(config);
  if (role !== 'api') await requireAiSandbox(config);
  const ending = async () => {
    for (let step = undo.pop(); step; step = undo.pop()) await step();
  };
  try {
    const seed = config.seed && (await readSeed(config.seed.file, config.seed.variables));
    const loading = loadCatalog(config.catalogDir, makers);
    // Awaited below; a failure must not count as unhandled while the database starts.
    loading.catch(() => {});
    // A start that can't succeed must not create anything.
    if (!hasDatabase(config)) await loading;
    const patiently = createPatience(config.databaseWaitSeconds, log);
    const storage = await openStorage(config, log, { patiently });
    undo.push(() => storage.stop());
    const tracing = await startTracing(config.tracing, log);
    undo.push(async () => tracing?.stop(TRACES_MS));
    const database = openDatabase(storage.connection, undefined, {
      clock,
      log,
      inTurns: config.testApi,
    });
    undo.push(() => database.close());
    await patiently(() => requireSameTime(database.pool, databaseClock));
    const comparing = keepComparing(databaseClock, { database, log });
    undo.push(() => comparing.stop());
    const catalog = await loading;
    const encryptionKeys = encryptionKeysOf(config);
    const secrets = createSecrets({ sql: database.sql, encryptionKeys });
    const backends = createBackends(makers, {
      sql: database.sql,
      secrets,
      ...hostOf(config),
    });
    // A backend that lacks something stops the start before anybody follows its catalogue.
    backends.adopt(catalog);
    await patiently(async () => {
      const { exclusive: alone } = storage;
      await prepareSchema(database, { alone, log });
      await prepareSecrets(secrets, { database, clock, encryptionKeys, alone, log });
      await agreeOnCatalog({
        database,
        clock,
        catalog,
        ...sourceOf(config),
        alone,
        log,
      });
      await ensureFirstAccount({ database, clock, bootstrapToken: config.bootstrapToken });
      await ensureSigningKey({ database, clock, secrets });
      await database.transaction((tx) => prepareProjects(tx, catalog, clock.now()));
    });
    const watch = watchSchema(database, log);
    undo.push(() => watch.stop());
    const removalTime = await patiently(() => startRemovalTime({ database, clock, databaseClock, log }));
    undo.push(() => removalTime.stop());
    const clocks = { databaseClock, removalTime };
    const changes = await patiently(() => listenForChanges(storage.connection));
    undo.push(() => changes.close());
    const testKit = testKitParts(kit, {
      database,
      clock,
      log,
      secrets,
      changes,
      catalog,
      normalSpeed: config.simulationSpeed,
    });
    const worker =
      role === 'api'
        ? undefined
        : createTaskWorker({
            config,
            log,
            storage,
            database,
            changes,
            clock,
            clocks,
            agreed: catalog,
            makers,
            tracing,
          });
    if (worker) undo.push(() => worker.stop(graceMs));
    const working = worker?.start() ?? Promise.resolve();
    // If one fails, the other must still be stopped.
    const [api] = await Promise.allSettled([
      role !== 'worker' ? startApi() : listenAt && startReports(listenAt),
      working,
    ]);
    if (api.status === 'rejected') throw api.reason;
    await working;
    worker?.takeAiTasks();
    const address = api.value;
    const file = firstTokenFile(config);
    const firstToken =
      address && (await patiently(() => makeFirstToken({ database, clock, file, terminal })));
    // What a reset brings back.
    await testKit?.snapshots.begin();
    return {
      address,
      firstToken,
      outgrown: watch.outgrown,
      async stop(grace) {
        graceMs = grace;
        await ending();
      },
    };

    async function follow() {
      followDataKeys(secrets, changes, log);
      const live = await patiently(() =>
        followCatalog({ database, changes, log, agreed: catalog, kinds: makers, backends }),
      );
      undo.push(() => live.stop());
      return live;
    }

    async function listen(app: Api, at: ListenAddress): Promise<void> {
      undo.push(() => closeWithin(app, graceMs, log));
      const listening = app.listen({ host: at.host, port: at.port, listenTextResolver: () => 'Listening' });
      await listening.catch((error: unknown) => {
        throw cannotListen(at, error);
      });
    }

    /** Serves health and metrics of a process without the API. */
    async function startReports(at: ListenAddress): Promise<undefined> {
      const live = await follow();
      const readiness = createReadiness({ database, role, live, worker, clocks });
      const metrics = createMetrics({ database, worker, clocks, open: config.openMetrics });
      await listen(createWorkerServer({ log, readiness, metrics }), at);
    }

    async function startApi(): Promise<{ host: string; port: number }> {
      const live = await follow();
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
        smtp: config.mail.smtpUrl !== undefined,
        requestMeasures: measures,
        traces: tracing && createWorkTraces(tracing, database.sql),
      });
      const uses = createTokenUseRecorder({ database, authenticator: on.authenticator, log });
      uses.start();
      undo.push(() => uses.stop());
      const { events } = on;
      const metrics = createMetrics({ database, worker, clocks, events, registry, open: config.openMetrics });
      const housekeeping = startHousekeeping(on, { clocks, kept: config.kept });
      undo.push(() => housekeeping.stop());
      const seedCallers = seed && createSeedCallers(on.authenticator);
      const app = await buildApp({
        on: seedCallers ? { ...on, authenticator: seedCallers.authenticator } : on,
        log,
        readiness: createReadiness({ database, role, live, worker, clocks }),
        rateLimit: config.rateLimit,
        strict: config.strict,
        metrics,
        measures,
        tracing,
        ...(testKit && { testKit }),
        trustedProxies: config.trustedProxies,
        ...(config.accessLog && log.isLevelEnabled('info') && { accessLog: accessLogOf(log) }),
      });
      if (seed && seedCallers) {
        await working;
        await applySeed({ database, clock, callers: seedCallers, send: sendTo(app) }, seed);
        seedCallers.end();
      }
      await listen(app, config);
      return { host: config.host, port: portOf(app.server.address(), config.port) };
    }
  } catch (error) {
    await ending().catch((fault: unknown) =>
      log.error({ err: fault }, 'Stopping after a failed start failed as well'),
    );
    throw error;
  }
}

function workerAddress({ host, workerPort }: Config): ListenAddress | undefined {
  return workerPort === undefined ? undefined : { host, port: workerPort, setting: 'TRADEWIND_WORKER_PORT' };
}

async function closeWithin(app: Api, graceMs: number, log: Logger): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), graceMs);
  });
  if ((await Promise.race([app.close(), late])) === 'late') {
    log.warn('Some requests were still unanswered and are cut off');
    app.server.closeAllConnections();
  }
  clearTimeout(timer);
}

/** Returns the actual port, which the system chose if the setting is 0. */
function portOf(address: ReturnType<Server['address']>, wanted: number): number {
  return typeof address === 'object' && address !== null ? address.port : wanted;
}
