import { sql } from 'kysely';
import { Histogram, type Registry } from 'prom-client';
import type { Sql } from '../db/database.ts';

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

/** How much work there is, in all processes together. */
export interface WorkFigures {
  /** Tasks that have not ended, by state, and the age of the oldest in seconds. */
  tasks: { NEW: number; RUNNING: number; oldestSeconds: number };
  /** What is wanted and not there yet: in the hands of workers, due, or waiting for a moment to come. */
  wants: { working: number; due: number; waiting: number };
  /** How many of them have failed at least once since they last succeeded. */
  failing: number;
  /** For how long the want that has been due longest has had no worker. */
  oldestDueSeconds: number;
}

interface FailedMachines {
  regionId: number;
  state: 'crashed' | 'host_gone';
  count: number;
}

/** Returns how many machines have crashed or lost their host. The condition is that of a partial index. */
export async function failedMachines(db: Sql): Promise<FailedMachines[]> {
  const { rows } = await sql<FailedMachines>`
    select region_id as "regionId", observed ->> 'power' as state, count(*) as count from wants
    where kind = 'machine' and observed ->> 'power' in ('crashed', 'host_gone')
    group by region_id, observed ->> 'power'`.execute(db);
  return rows;
}

/** The conditions are those of partial indexes: nobody looks through all that has ended. */
export async function workFigures(db: Sql): Promise<WorkFigures> {
  const tasks = await sql<{ state: 'NEW' | 'RUNNING'; count: number; age: number }>`
    select state, count(*) as count, extract(epoch from now() - min(created_on))::float8 as age
    from tasks where state in ('NEW', 'RUNNING') group by state`.execute(db);
  const wants = await sql<WorkFigures['wants'] & { failing: number; age: number | null }>`
    select count(*) filter (where worker_id is not null) as working,
      count(*) filter (where worker_id is null and due_at <= now()) as due,
      count(*) filter (where worker_id is null and due_at > now()) as waiting,
      count(*) filter (where failures > 0) as failing,
      extract(epoch from now() - min(due_at) filter (where worker_id is null))::float8 as age
    from wants where worker_id is not null or (worker_id is null and due_at is not null)`.execute(db);
  const [{ working = 0, due = 0, waiting = 0, failing = 0, age } = {}] = wants.rows;
  const countOf = (state: string) => tasks.rows.find((row) => row.state === state)?.count ?? 0;
  return {
    tasks: {
      NEW: countOf('NEW'),
      RUNNING: countOf('RUNNING'),
      oldestSeconds: Math.max(0, ...tasks.rows.map((row) => row.age)),
    },
    wants: { working, due, waiting },
    failing,
    oldestDueSeconds: Math.max(0, age ?? 0),
  };
}
