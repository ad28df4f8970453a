import { Histogram, type Registry } from 'prom-client';

/** What workers measure of their work. */
export interface Measures {
  /** A backend was asked to bring something about. */
  called(call: { region: number; kind: string; outcome: Outcome; seconds: number }): void;
  /** A task has ended, `seconds` after it was accepted. */
  ended(task: { type: string; state: 'FINISHED' | 'ERROR'; seconds: number }): void;
}

/** `going on`: it takes longer than one call. */
export type Outcome = 'settled' | 'going on' | 'refused' | 'unavailable' | 'error';

/** From calls of simulated things to the creation of large clusters. */
const CALL_BUCKETS = [0.01, 0.05, 0.25, 1, 5, 30, 60];
const TASK_BUCKETS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600];

export function createMeasures(registry: Registry): Measures {
  const registers = [registry];
  const calls = new Histogram({
    name: 'tradewind_backend_call_duration_seconds',
    help: 'Calls that ask a backend to bring something about',
    labelNames: ['region', 'kind', 'outcome'],
    buckets: CALL_BUCKETS,
    registers,
  });
  const tasks = new Histogram({
    name: 'tradewind_task_duration_seconds',
    help: 'Tasks that this process ended, from acceptance to end',
    labelNames: ['type', 'state'],
    buckets: TASK_BUCKETS,
    registers,
  });
  return {
    called: ({ seconds, ...labels }) => calls.observe(labels, seconds),
    ended: ({ seconds, ...labels }) => tasks.observe(labels, seconds),
  };
}
