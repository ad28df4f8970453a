import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { maintenanceSeconds } from '../cloud/ground/maintenance/service.ts';
import { unmeteredSeconds } from '../cloud/money/costs/traffic.ts';
import { countByRegion } from '../cloud/network/networks/external/service.ts';
import { failedMachines, workFigures } from '../convergence/measures.ts';
import type { Database, Sql } from '../db/database.ts';
import type { Metrics } from '../http/metrics.ts';
import { mailFigures } from '../mail/sending/claims.ts';
import { queueFigures } from '../streaming/ai-tasks/store.ts';
import { unsealedSeconds } from '../tradewind/audit/chain.ts';
import type { Events } from '../tradewind/events/service.ts';
import { readerLags } from '../tradewind/events/store.ts';
import { MOST_COUNTED, webhookFigures } from '../tradewind/webhooks/sending/figures.ts';
import { livingWorkers } from '../worker/heartbeat.ts';
import { diskOf } from './alarms.ts';
import type { Clocks } from './clocks.ts';
import type { TaskWorker } from './task-worker.ts';

/** Figures that all processes on a database share: each reads them from there. */
export interface SharedFigures {
  /** Returns them in the text format of Prometheus. */
  text(sql: Sql): Promise<string>;
}

type Refresh = (sql: Sql) => Promise<void>;

export function createSharedFigures(registry = new Registry()): SharedFigures {
  const refreshes = [tasks, machines, webhooks, mails, auditLog, aiTasks, workers, addresses, maintenance, traffic].map(
    (make) => make(registry),
  );
  return {
    async text(sql) {
      for (const refresh of refreshes) await refresh(sql);
      return registry.metrics();
    },
  };
}

function gauge(registry: Registry, name: string, help: string, ...labelNames: string[]): Gauge {
  return new Gauge({ name, help, labelNames, registers: [registry] });
}

function tasks(registry: Registry): Refresh {
  const unended = gauge(registry, 'tradewind_unended_tasks', 'Tasks that have not ended', 'state');
  const oldest = gauge(registry, 'tradewind_oldest_unended_task_seconds', 'Age of the oldest task that has not ended');
  const wants = gauge(
    registry,
    'tradewind_wants',
    'Infrastructure that is not as wanted yet: in the hands of workers, due without a worker, or waiting for a moment to come',
    'state',
  );
  const failing = gauge(registry, 'tradewind_failing_wants', 'Infrastructure whose last try failed');
  const oldestDue = gauge(
    registry,
    'tradewind_oldest_due_want_seconds',
    'How long the oldest due want has had no worker',
  );
  return async (sql) => {
    const work = await workFigures(sql);
    for (const state of ['NEW', 'RUNNING'] as const) unended.set({ state }, work.tasks[state]);
    oldest.set(work.tasks.oldestSeconds);
    for (const [state, count] of Object.entries(work.wants)) wants.set({ state }, count);
    failing.set(work.failing);
    oldestDue.set(work.oldestDueSeconds);
  };
}

function machines(registry: Registry): Refresh {
  const failed = gauge(
    registry,
    'tradewind_failed_machines',
    'Machines of instances that have crashed, or whose host does not answer (host_gone)',
    ...['region', 'state'],
  );
  return async (sql) => {
    const counted = await failedMachines(sql);
    failed.reset();
    for (const { regionId: region, state, count } of counted) failed.set({ region, state }, count);
  };
}

function webhooks(registry: Registry): Refresh {
  const deliveries = gauge(
    registry,
    'tradewind_webhook_deliveries',
    `Events that are being sent to webhooks, or wait to be: counted up to ${MOST_COUNTED}`,
    'state',
  );
  const oldest = gauge(
    registry,
    'tradewind_webhook_oldest_delivery_seconds',
    'Age of the oldest event that waits to be sent to a webhook',
  );
  const failing = gauge(registry, 'tradewind_failing_webhooks', 'Webhooks whose last attempts all failed');
  const lag = gauge(
    registry,
    'tradewind_event_lag_seconds',
    'Age of the oldest event that a reader has not read: "webhooks" are the workers that pass events on',
    'reader',
  );
  return async (sql) => {
    const figures = await webhookFigures(sql);
    deliveries.set({ state: 'sending' }, figures.sending);
    deliveries.set({ state: 'waiting' }, figures.waiting);
    oldest.set(figures.oldestSeconds);
    failing.set(figures.failing);
    const lags = await readerLags(sql);
    lag.reset();
    for (const { name, seconds } of lags) lag.set({ reader: name }, seconds);
  };
}

function mails(registry: Registry): Refresh {
  const count = gauge(
    registry,
    'tradewind_mails',
    'Mails that wait, that wait after an attempt that failed, or that were given up in the last hour',
    'state',
  );
  const oldest = gauge(registry, 'tradewind_oldest_mail_seconds', 'Age of the oldest mail that waits to be sent');
  return async (sql) => {
    const { waiting, failing, failed, oldestSeconds } = await mailFigures(sql);
    for (const [state, value] of Object.entries({ waiting, failing, failed })) count.set({ state }, value);
    oldest.set(oldestSeconds);
  };
}

function auditLog(registry: Registry): Refresh {
  const unsealed = gauge(
    registry,
    'tradewind_audit_unsealed_seconds',
    'For how long the oldest record of the audit log has waited for its seal',
  );
  return async (sql) => unsealed.set(await unsealedSeconds(sql));
}

function aiTasks(registry: Registry): Refresh {
  const waiting = gauge(registry, 'tradewind_ai_waiting_tasks', 'AI tasks that are waiting for a worker', 'status');
  const oldest = gauge(registry, 'tradewind_ai_oldest_waiting_seconds', 'Age of the AI task that has waited longest');
  const running = gauge(registry, 'tradewind_ai_running_tasks', 'AI tasks that are running');
  return async (sql) => {
    const figures = await queueFigures(sql);
    waiting.reset();
    for (const { status, count } of figures.waiting) waiting.set({ status }, count);
    oldest.set(figures.oldestSeconds);
    running.set(figures.running);
  };
}

function workers(registry: Registry): Refresh {
  const alive = gauge(registry, 'tradewind_workers', 'Worker processes that are alive');
  return async (sql) => alive.set((await livingWorkers(sql)).size);
}

function addresses(registry: Registry): Refresh {
  const external = gauge(
    registry,
    'tradewind_external_addresses',
    'Public addresses of a region: in use, free, or kept for the network itself',
    ...['region', 'family', 'state'],
  );
  return async (sql) => {
    const regions = await countByRegion(sql);
    external.reset();
    for (const { regionId: region, family, inUse, free, kept } of regions) {
      for (const [state, count] of Object.entries({ in_use: inUse, free, kept })) {
        external.set({ region, family, state }, count);
      }
    }
  };
}

function maintenance(registry: Registry): Refresh {
  const lasting = gauge(
    registry,
    'tradewind_maintenance_seconds',
    'How long a region or a backend has been in maintenance',
    ...['region', 'backend'],
  );
  return async (sql) => {
    const all = await maintenanceSeconds(sql);
    lasting.reset();
    for (const { region, backend, seconds } of all) lasting.set({ region, backend }, seconds);
  };
}

function traffic(registry: Registry): Refresh {
  const late = gauge(
    registry,
    'tradewind_traffic_unmetered_seconds',
    'How long ago the traffic of a region was last metered completely',
    ...['region'],
  );
  return async (sql) => {
    const all = await unmeteredSeconds(sql);
    late.reset();
    for (const { region, seconds } of all) late.set({ region }, seconds);
  };
}

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
  /** The data folder. */
  folder: string;
  events?: Pick<Events, 'figures'>;
  /** With what else is measured in this process. */
  registry?: Registry;
  open: boolean;
}): Metrics {
  const { database, worker, clocks, folder, events, registry = new Registry() } = deps;
  measureProcess(registry);
  measureClocks(registry, clocks);
  measureDisk(registry, folder);
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

function measureDisk(registry: Registry, folder: string): void {
  const measured = [
    ['tradewind_disk_size_bytes', 'Size of the disk that the data folder is on', 'sizeBytes'],
    ['tradewind_disk_free_bytes', 'What is free on the disk that the data folder is on', 'freeBytes'],
  ] as const;
  for (const [name, help, field] of measured) {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const disk = await diskOf(folder);
        if (disk) this.set(disk[field]);
      },
    });
  }
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
