import { Gauge, Registry } from 'prom-client';
import { workFigures } from '../convergence/figures.ts';
import type { Sql } from '../db/database.ts';
import { queueFigures } from '../streaming/ai-tasks/store.ts';
import { readerLags } from '../tradewind/events/store.ts';
import { MOST_COUNTED, webhookFigures } from '../tradewind/webhooks/sending/figures.ts';
import { livingWorkers } from '../worker/heartbeat.ts';

/** Figures that all processes on a database share: each reads them from there. */
export interface SharedFigures {
  /** Returns them in the text format of Prometheus. */
  text(sql: Sql): Promise<string>;
}

type Refresh = (sql: Sql) => Promise<void>;

export function createSharedFigures(): SharedFigures {
  const registry = new Registry();
  const refreshes = [tasks, webhooks, aiTasks, workers].map((make) => make(registry));
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
  const oldest = gauge(
    registry,
    'tradewind_oldest_unended_task_seconds',
    'Age of the oldest task that has not ended',
  );
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

function aiTasks(registry: Registry): Refresh {
  const waiting = gauge(
    registry,
    'tradewind_ai_waiting_tasks',
    'AI tasks that are waiting for a worker',
    'status',
  );
  const oldest = gauge(
    registry,
    'tradewind_ai_oldest_waiting_seconds',
    'Age of the AI task that has waited longest',
  );
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
