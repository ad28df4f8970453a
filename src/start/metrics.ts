import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Database } from '../db/database.ts';
import type { Metrics } from '../http/metrics.ts';
import { queueFigures } from '../streaming/ai-tasks/store.ts';
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
  return {
    open: deps.open,
    async text() {
      const figures = await queueFigures(deps.database.sql);
      waiting.reset();
      for (const { status, count } of figures.waiting) waiting.set({ status }, count);
      oldest.set(figures.oldestSeconds);
      running.set(figures.running);
      const parts = await Promise.all([registry.metrics(), deps.worker?.metrics()]);
      return parts.filter(Boolean).join('\n');
    },
  };
}
