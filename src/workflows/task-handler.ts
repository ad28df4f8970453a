import type { Transaction } from '../db/database.ts';

/** What a task made, by kind, as its readers see it: `{clusters: ['<id>']}`. */
export type CreatedResources = Record<string, (string | number)[]>;

/** What a running task may ask of the engine. */
export interface TaskRun {
  readonly taskId: string;
  /**
   * Runs `work` and records what it returned, which must be plain JSON: after a crash the recorded value is
   * returned instead. Only a crash between the effect and the record runs `work` again, so it must be
   * idempotent. Transient faults are retried a few times; every other error ends the task.
   * `signal` fires when the task ended meanwhile (cancelled, overdue). Steps must come in the same order every time.
   */
  step<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** A pause that keeps its original end over a restart. */
  sleep(ms: number): Promise<void>;
}

/** One kind of task. Knows nothing of the engine that runs it. */
export interface TaskHandler<Input = unknown, Result = unknown> {
  /** The `task_type` it handles, e.g. `update_k8s_cluster_v2`. */
  readonly type: string;
  /** From acceptance to the latest end: whoever inserts the task's row sets `deadline_at` by it. */
  readonly deadlineMs: number;
  /** Everything outside the database happens in steps of `run`; code between the steps must be deterministic. */
  run(run: TaskRun, input: Input): Promise<Result>;
  /** In the transaction that makes the task FINISHED, so its effect comes once. */
  complete(
    tx: Transaction,
    task: { id: string },
    input: Input,
    result: Result,
  ): Promise<CreatedResources | null>;
  /** In the transaction that makes the task ERROR: release locks, put the old state back. May come before `run` did anything. */
  abandon(tx: Transaction, task: { id: string }, input: Input, reason: string): Promise<void>;
}

/** A failure whose message is fit for the task's reader; the internals go to `cause`. */
export class TaskFailure extends Error {
  /** Whether another attempt may succeed. */
  readonly retryable: boolean;

  constructor(message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'TaskFailure';
    this.retryable = options.retryable ?? false;
  }
}
