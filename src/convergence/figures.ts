import { sql } from 'kysely';
import type { Sql } from '../db/database.ts';

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
