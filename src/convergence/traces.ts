import { sql } from 'kysely';
import type { Sql } from '../db/database.ts';
import type { Tracing } from '../lib/tracing.ts';
import type { Claim } from './claims.ts';
import type { Outcome } from './measures.ts';

/** A task, and the request that started it. */
interface Traced {
  id: string;
  /** Null for what no request started. */
  request_id: string | null;
}

export interface WorkTraces {
  /** Returns the task that a want is pursued for, if any. Call it before that may have ended. */
  taskOf(claim: Pick<Claim, 'generation' | 'id' | 'kind'>): Promise<Traced | undefined>;
  /** A backend was asked to bring something about, from `begunAt` until now, in milliseconds since 1970. */
  called(call: { claim: Claim; task: Traced | undefined; outcome: Outcome; begunAt: number }): void;
  /** A task has ended now, `seconds` after it was accepted. */
  ended(task: Traced & { type: string; state: string; error: string | null; seconds: number }): void;
}

/** In spans, a task has the name `task <ID>`, and is a child of its request. */
const spanOf = ({ id }: Pick<Traced, 'id'>): string => `task ${id}`;
const FAILED: readonly Outcome[] = ['error', 'refused', 'unavailable'];

export function createWorkTraces(tracing: Tracing, db: Sql): WorkTraces {
  return {
    async taskOf({ kind, id, generation }) {
      const asked = sql<Traced>`
        select tasks.id, request_id from task_wants join tasks on tasks.id = task_id
        where task_wants.kind = ${kind} and want_id = ${id} and task_wants.generation <= ${generation}
        order by task_wants.generation desc limit 1`.execute(db);
      // A trace is not worth a failure.
      return asked.then(({ rows }) => rows[0]).catch(() => undefined);
    },
    called({ claim, task, outcome, begunAt }) {
      const { kind, id, region_id, spec, failures } = claim;
      tracing.record({
        name: `${spec === null ? 'remove' : 'converge'} ${kind}`,
        kind: 'client',
        request: task?.request_id ?? undefined,
        ...(task && { parent: spanOf(task) }),
        begunAt,
        endedAt: Date.now(),
        attributes: {
          'tradewind.kind': kind,
          'tradewind.id': id,
          'tradewind.region_id': region_id,
          'tradewind.outcome': outcome,
          'tradewind.failures': failures,
        },
        error: FAILED.includes(outcome) ? outcome : undefined,
      });
    },
    ended({ id, request_id, type, state, error, seconds }) {
      const endedAt = Date.now();
      tracing.record({
        name: `task ${type}`,
        kind: 'internal',
        request: request_id ?? undefined,
        id: spanOf({ id }),
        ...(request_id !== null && { parent: request_id }),
        begunAt: endedAt - seconds * 1_000,
        endedAt,
        attributes: { 'tradewind.task_id': id, 'tradewind.task_type': type, 'tradewind.state': state },
        error: error ?? undefined,
      });
    },
  };
}
