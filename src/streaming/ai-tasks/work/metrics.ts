import { Counter, Histogram, type Registry } from 'prom-client';

/** The metrics of a worker's tasks. `kind` is transcription or the category of a moderation. */
export interface AiMetrics {
  started(kind: string, waitedSeconds: number): void;
  ended(kind: string, how: 'SUCCESS' | 'FAILURE' | 'RETRY' | 'REVOKED'): void;
  failed(kind: string, reason: string): void;
  /** Records seconds of work, including the fetch, for each second of the media file. */
  worked(kind: string, factor: number): void;
}

export function createAiMetrics(registry: Registry): AiMetrics {
  const registers = [registry];
  const waited = new Histogram({
    name: 'tradewind_ai_task_wait_seconds',
    help: 'From creation to the first start of work',
    labelNames: ['kind'],
    buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400],
    registers,
  });
  const factors = new Histogram({
    name: 'tradewind_ai_real_time_factor',
    help: 'Seconds of work, fetching included, for each second of the media file',
    labelNames: ['kind'],
    buckets: [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 2],
    registers,
  });
  const ends = new Counter({
    name: 'tradewind_ai_task_ends_total',
    help: 'Times that work on a task ended, by what became of the task',
    labelNames: ['kind', 'status'],
    registers,
  });
  const failures = new Counter({
    name: 'tradewind_ai_task_failures_total',
    help: 'Tasks that failed, by reason; "internal" counts our own errors, including retries',
    labelNames: ['kind', 'reason'],
    registers,
  });
  return {
    started: (kind, seconds) => waited.observe({ kind }, seconds),
    ended: (kind, status) => ends.inc({ kind, status }),
    failed: (kind, reason) => failures.inc({ kind, reason }),
    worked: (kind, factor) => factors.observe({ kind }, factor),
  };
}
