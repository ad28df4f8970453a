import { shortHash } from '../cloud/ground/catalog/in-force.ts';
import type { LiveCatalog } from '../cloud/ground/catalog/live.ts';
import type { Database } from '../db/database.ts';
import type { Readiness } from '../http/health.ts';
import { livingWorkers } from '../worker/heartbeat.ts';
import { roomIn, undoneIn } from './alarms.ts';
import type { Clocks } from './clocks.ts';
import type { Role } from './command.ts';
import type { TaskWorker } from './task-worker.ts';

/**
 * A process is ready if it can do the work of its role. The API answers and accepts without workers too: the
 * work is done when a worker exists. Unhealthy backends don't keep it from accepting either.
 */
export function createReadiness(deps: {
  database: Database;
  role: Role;
  live: LiveCatalog;
  worker: Pick<TaskWorker, 'troubles'> | undefined;
  clocks: Clocks;
  /** The folder of the embedded database. */
  folder: string | undefined;
}): Readiness {
  const { database, role, live, worker, clocks, folder } = deps;
  // Anybody may ask, without a token or limit, so concurrent requests share one check.
  let looking: ReturnType<typeof stateOf> | undefined;
  const look = () => {
    looking ??= stateOf(database).finally(() => {
      looking = undefined;
    });
    return looking;
  };
  const undone = remembered(() => undoneIn(database.sql).catch(() => ({})));
  return {
    async check() {
      const facts = { role, catalog: shortHash(live.catalog.hash) };
      const [{ database: answers, workers }, disk] = await Promise.all([look(), roomIn(folder)]);
      const full = database.hasFullDisk()
        ? 'the disk of the database is full: nothing can be changed until there is room'
        : undefined;
      const problems = {
        database: answers,
        catalog: live.problem(),
        clock: clocks.databaseClock.problem(),
      };
      const degraded = {
        ...(answers ? {} : await undone()),
        removal: clocks.removalTime.problem(),
        disk: disk ?? full,
      };
      return role === 'api'
        ? { ...facts, problems, degraded: { ...degraded, workers } }
        : { ...facts, problems: { ...problems, workers }, degraded: { ...degraded, ...troublesOf(worker) } };
    },
  };
}

/** What costs more is looked for less often. */
const REMEMBERED_MS = 10_000;

/** Returns what `look` has found lately. */
function remembered<T>(look: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | undefined;
  let until = 0;
  return () => {
    if (found && performance.now() < until) return found;
    until = performance.now() + REMEMBERED_MS;
    found = look();
    return found;
  };
}

/** By backend name, which may be any text. */
function troublesOf(worker: Pick<TaskWorker, 'troubles'> | undefined): Record<string, string> {
  const troubles = Object.entries(worker?.troubles() ?? {});
  return Object.fromEntries(troubles.map(([name, why]) => [`backend ${name}`, why]));
}

async function stateOf(database: Database): Promise<{ database?: string; workers?: string }> {
  try {
    await database.pool.query('select 1');
  } catch {
    return { database: 'the database does not answer' };
  }
  try {
    if ((await livingWorkers(database.sql)).size > 0) return {};
    return { workers: 'no worker takes tasks: start one with "tradewind serve --role worker"' };
  } catch {
    return { workers: 'the state of the workers is unknown' };
  }
}
