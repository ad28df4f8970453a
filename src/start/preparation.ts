import type { Logger } from 'pino';
import { createTestKit } from '../../test-kit/index.ts';
import { createBackends } from '../backends/backends.ts';
import type { Makers } from '../backends/maker.ts';
import { loadCatalog } from '../cloud/ground/catalog/service.ts';
import type { Config } from '../config.ts';
import { type ChangeFeed, listenForChanges } from '../db/changes.ts';
import { openDatabase, withDryRuns } from '../db/database.ts';
import { createDatabaseClock, requireSameTime } from '../db/database-clock.ts';
import { createPatience } from '../db/outages.ts';
import type { Clock } from '../lib/time.ts';
import { encryptionKeysOf } from '../secrets/encryption-keys.ts';
import { createSecrets, type LoadedSecrets } from '../secrets/secrets.ts';
import { startTracing } from '../tracing/start.ts';
import { sourceOf } from './catalog-apply.ts';
import { keepComparing, startRemovalTime } from './clocks.ts';
import { hostOf, letterheads } from './from-settings.ts';
import { prepareContents, watchSchema } from './schema.ts';
import { hasDatabase, openStorage } from './storage.ts';

/** What a stop does, the last first. */
export type Undo = ((graceMs: number) => Promise<void>)[];

/** What a process has when its database is ready: its API and its worker are built from it. */
export type Prepared = Awaited<ReturnType<typeof prepare>>;

/** Reads the catalogue, opens the database, and makes sure that all is in it that a process needs. */
export async function prepare(
  config: Config,
  log: Logger,
  given: { makers: Makers; clock: Clock | undefined },
  undo: Undo,
) {
  const databaseClock = createDatabaseClock();
  const kit = config.testApi ? createTestKit(databaseClock, config.testClock) : undefined;
  const makers = kit?.makers(given.makers) ?? given.makers;
  const clock = kit?.clock ?? given.clock ?? databaseClock;
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
  const plain = openDatabase(storage.connection, undefined, {
    clock,
    log,
    inTurns: config.testApi,
  });
  undo.push(() => plain.close());
  const database = withDryRuns(plain);
  await patiently(() => requireSameTime(database.pool, databaseClock));
  const comparing = keepComparing(databaseClock, { database, log });
  undo.push(() => comparing.stop());
  const catalog = await loading;
  const encryptionKeys = encryptionKeysOf(config);
  const secrets = createSecrets({ sql: database.sql, encryptionKeys });
  const backends = createBackends(makers, { sql: database.sql, secrets, ...hostOf(config) });
  // A backend that lacks something stops the start before anybody follows its catalogue.
  backends.adopt(catalog);
  const { exclusive: alone } = storage;
  const contents = { database, clock, catalog, source: sourceOf(config), secrets, encryptionKeys };
  await patiently(() => prepareContents({ ...contents, bootstrapToken: config.bootstrapToken, alone, log }));
  const watch = watchSchema(database, log);
  undo.push(() => watch.stop());
  const removalTime = await patiently(() => startRemovalTime({ database, clock, databaseClock, log }));
  undo.push(() => removalTime.stop());
  const changes = await patiently(() => listenForChanges(storage.connection));
  undo.push(() => changes.close());
  const { outgrown } = watch;
  const clocks = { databaseClock, removalTime };
  return {
    config,
    log,
    kit,
    makers,
    patiently,
    storage,
    tracing,
    database,
    clock,
    clocks,
    catalog,
    secrets,
    backends,
    letterhead: letterheads(config),
    changes,
    outgrown,
  };
}

/** For the last traces, if nobody takes them. */
const TRACES_MS = 2_000;

/** A process that can't use a new key continues with those that it has. */
export function followDataKeys(secrets: LoadedSecrets, changes: ChangeFeed, log: Logger): void {
  secrets.follow(changes, (error) =>
    log.error({ err: error }, 'A new data key cannot be used; this process may be unable to read secrets'),
  );
}
