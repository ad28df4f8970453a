import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { workFigures } from '../convergence/figures.ts';
import type { Database } from '../db/database.ts';
import type { Metrics } from '../http/metrics.ts';
import { queueFigures } from '../streaming/ai-tasks/store.ts';
import { livingWorkers } from '../worker/heartbeat.ts';
import type { TaskWorker } from './task-worker.ts';

/** Creates the metrics of this process, of its worker, and of the queue that all processes share. */
export function createMetrics(deps: {
  database: Database;
  worker: Pick<TaskWorker, 'metrics'> | undefined;
  open: boolean;
}): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // These are sums under names that Prometheus reserves for counters; the metrics by type contain the same.
  for (const name of ['handles', 'requests', 'resources']) {
    registry.removeSingleMetric(`nodejs_active_${name}_total`);
  }
  const gauge = (name: string, help: string, more: object = {}) =>
    new Gauge({ name, help, registers: [registry], ...more });
  const waiting = gauge('tradewind_ai_waiting_tasks', 'AI tasks that are waiting for a worker', {
    labelNames: ['status'],
  });
  const oldest = gauge('tradewind_ai_oldest_waiting_seconds', 'Age of the AI task that has waited longest');
  const running = gauge('tradewind_ai_running_tasks', 'AI tasks that are running, in all processes');
  const unended = gauge('tradewind_unended_tasks', 'Tasks that have not ended, in all processes', {
    labelNames: ['state'],
  });
  const oldestTask = gauge(
    'tradewind_oldest_unended_task_seconds',
    'Age of the oldest task that has not ended',
  );
  const wants = gauge(
    'tradewind_wants',
    'Infrastructure that is not as wanted yet: in the hands of workers, due without a worker, or waiting for a moment to come',
    { labelNames: ['state'] },
  );
  const failing = gauge('tradewind_failing_wants', 'Infrastructure whose last try failed');
  const oldestDue = gauge(
    'tradewind_oldest_due_want_seconds',
    'How long the oldest due want has had no worker',
  );
  const workers = gauge('tradewind_workers', 'Worker processes that are alive');
  const connections = gauge(
    'tradewind_database_connections',
    'Connections of this process to the database; waiting: what waits for one',
    { labelNames: ['state'] },
  );
  return {
    open: deps.open,
    async text() {
      const { sql, pool } = deps.database;
      const figures = await queueFigures(sql);
      waiting.reset();
      for (const { status, count } of figures.waiting) waiting.set({ status }, count);
      oldest.set(figures.oldestSeconds);
      running.set(figures.running);
      const work = await workFigures(sql);
      for (const state of ['NEW', 'RUNNING'] as const) unended.set({ state }, work.tasks[state]);
      oldestTask.set(work.tasks.oldestSeconds);
      for (const [state, count] of Object.entries(work.wants)) wants.set({ state }, count);
      failing.set(work.failing);
      oldestDue.set(work.oldestDueSeconds);
      workers.set((await livingWorkers(sql)).size);
      connections.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
      connections.set({ state: 'idle' }, pool.idleCount);
      connections.set({ state: 'waiting' }, pool.waitingCount);
      const parts = await Promise.all([registry.metrics(), deps.worker?.metrics()]);
      return parts.filter(Boolean).join('\n');
    },
  };
}
