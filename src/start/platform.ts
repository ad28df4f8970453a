import type { Logger } from 'pino';
import { readModels } from '../../engines/index.ts';
import { createTestKitParts, readSeed } from '../../test-kit/index.ts';
import type { Makers } from '../backends/maker.ts';
import { createTaskEnds } from '../build-platform.ts';
import type { Config } from '../config.ts';
import { makeConsoleCode } from '../iam/logins/console/service.ts';
import type { OperatorError } from '../lib/errors.ts';
import type { Clock } from '../lib/time.ts';
import { requireAiSandbox } from './ai-worker.ts';
import { startApi, startReports } from './api.ts';
import type { Role } from './command.ts';
import { type FirstToken, firstTokenFile, makeFirstToken } from './first-account.ts';
import { letterheadOf, MAKERS } from './from-settings.ts';
import { requireFreePort, workerAddress } from './listening.ts';
import { type Prepared, prepare, type Undo } from './preparation.ts';
import { createTaskWorker } from './task-worker.ts';

export interface RunningPlatform {
  /** Where the API listens; undefined in a process that is only a worker. */
  address: { host: string; port: number } | undefined;
  /** The token that this start made, if it was the first one without a bootstrap token. */
  firstToken: FirstToken | undefined;
  /** Signs whoever sits at the terminal in to the console; undefined if nobody does. */
  consoleCode?: string | undefined;
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
  { terminal = false, makers = MAKERS, clock }: { terminal?: boolean; makers?: Makers; clock?: Clock } = {},
): Promise<RunningPlatform> {
  const undo: Undo = [];
  const ending = async (graceMs: number) => {
    for (let step = undo.pop(); step; step = undo.pop()) await step(graceMs);
  };
  const listenAt = role === 'worker' ? workerAddress(config) : config;
  if (listenAt) await requireFreePort(listenAt);
  // Invalid settings are reported before anything is made.
  if (config.mail.templates !== undefined) letterheadOf(config);
  if (role !== 'api') await requireWorkSettings(config);
  try {
    const seed = config.seed && (await readSeed(config.seed.file, config.seed.variables));
    const prepared = await prepare(config, log, { makers, clock }, undo);
    const testKit = testKitOf(prepared);
    const worker = role === 'api' ? undefined : createTaskWorker(prepared);
    if (worker) undo.push((graceMs) => worker.stop(graceMs));
    const working = worker?.start() ?? Promise.resolve();
    // If one fails, the other must still be stopped.
    const [serving] = await Promise.allSettled([
      role === 'worker'
        ? listenAt && startReports(prepared, { at: listenAt, worker, undo })
        : startApi(prepared, { role, seed, testKit, worker, working, undo }),
      working,
    ]);
    if (serving.status === 'rejected') throw serving.reason;
    await working;
    worker?.takeAiTasks();
    const address = serving.value;
    const firstToken = address && (await makeToken(prepared, terminal));
    const consoleCode = address && terminal && config.console ? await makeConsoleCode(prepared) : undefined;
    // What a reset brings back.
    await testKit?.snapshots.begin();
    return { address, firstToken, consoleCode, outgrown: prepared.outgrown, stop: ending };
  } catch (error) {
    await ending(0).catch((fault: unknown) =>
      log.error({ err: fault }, 'Stopping after a failed start failed as well'),
    );
    throw error;
  }
}

/** @throws SettingError, OperatorError for what would keep a worker from its work */
async function requireWorkSettings(config: Config): Promise<void> {
  if (config.ai.modelDir !== undefined) readModels(config.ai.modelDir);
  await requireAiSandbox(config);
}

function testKitOf({ kit, config, database, clock, log, changes, catalog, secrets }: Prepared) {
  if (!kit) return undefined;
  const taskEnds = createTaskEnds({ clock, secrets });
  const normalSpeed = config.simulationSpeed;
  return createTestKitParts(kit, { database, clock, log, changes, catalog, taskEnds, normalSpeed });
}

function makeToken({ config, database, clock, patiently }: Prepared, terminal: boolean) {
  const file = firstTokenFile(config);
  return patiently(() => makeFirstToken({ database, clock, file, terminal }));
}
