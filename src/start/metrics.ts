import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Database } from '../db/database.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Events } from '../tradewind/events/service.ts';
import type { Clocks } from './clocks.ts';
import { createSharedFigures } from './shared-figures.ts';
import type { TaskWorker } from './task-worker.ts';

/** Prometheus itself waits for ten seconds. */
const PATIENCE_MS = 5_000;

/**
 * Creates the metrics of this process, of its worker, and of what all processes share. The latter are left out while the
 * database doesn't answer.
 */
export function createMetrics(deps: {
  database: Database;
  worker: Pick<TaskWorker, 'metrics' | 'pools'> | undefined;
  clocks: Clocks;
  events?: Pick<Events, 'figures'>;
  /** With what else is measured in this process. */
  registry?: Registry;
  open: boolean;
}): Metrics {
  const { database, worker, clocks, events, registry = new Registry() } = deps;
  measureProcess(registry);
  measureClocks(registry, clocks);
  measureConnections(registry, () => ({ main: database.pool, ...worker?.pools() }));
  if (events) measureListeners(registry, events);
  const answers = new Gauge({
    name: 'tradewind_database_up',
    help: 'Whether the database answers this process',
    registers: [registry],
  });
  const shared = createSharedFigures();
  // Those who ask at the same time share the answer.
  let asking: Promise<string | undefined> | undefined;

  function sharedText(): Promise<string | undefined> {
    asking ??= shared
      .text(database.sql)
      .catch(() => undefined)
      .finally(() => {
        asking = undefined;
      });
    return within(PATIENCE_MS, asking);
  }

  return {
    open: deps.open,
    async text() {
      const text = await sharedText();
      answers.set(text === undefined ? 0 : 1);
      const own = [await registry.metrics(), await worker?.metrics()];
      return [...own, text].filter(Boolean).join('\n');
    },
  };
}

function measureProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  // These are sums under names that Prometheus reserves for counters; the metrics by type contain the same.
  for (const name of ['handles', 'requests', 'resources']) {
    registry.removeSingleMetric(`nodejs_active_${name}_total`);
  }
}

function measureClocks(registry: Registry, { databaseClock, removalTime }: Clocks): void {
  const registers = [registry];
  new Gauge({
    name: 'tradewind_clock_ahead_seconds',
    help: 'By how much the clock of this machine is ahead of that of the database; negative if it is behind',
    registers,
    collect() {
      this.set(databaseClock.aheadMs() / 1_000);
    },
  });
  new Gauge({
    name: 'tradewind_removal_late_seconds',
    help: 'By how much the removal of what is old is behind, after a jump of the clock of the database or a long stop',
    registers,
    collect() {
      this.set(removalTime.lateMs() / 1_000);
    },
  });
}

type Pools = Record<string, Database['pool']>;

function measureConnections(registry: Registry, pools: () => Pools): void {
  new Gauge({
    name: 'tradewind_database_connections',
    help: 'Connections of this process to the database, by what they are for; waiting: what waits for one',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const [name, pool] of Object.entries(pools())) {
        this.set({ pool: name, state: 'busy' }, pool.totalCount - pool.idleCount);
        this.set({ pool: name, state: 'idle' }, pool.idleCount);
        this.set({ pool: name, state: 'waiting' }, pool.waitingCount);
      }
    },
  });
}

function measureListeners(registry: Registry, events: Pick<Events, 'figures'>): void {
  const registers = [registry];
  new Gauge({
    name: 'tradewind_event_listeners',
    help: 'Requests at this process that follow events',
    registers,
    collect() {
      this.set(events.figures().listeners);
    },
  });
  new Gauge({
    name: 'tradewind_event_held_up_seconds',
    help: 'For how long events could not be told to the listeners of this process: a transaction before them goes on',
    registers,
    collect() {
      this.set(events.figures().heldUpSeconds);
    },
  });
}

async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
