import { sql } from 'kysely';
import type { Progress, Provisioner } from '../../cloud/provisioning/provisioner.ts';
import type { Database } from '../../db/database.ts';

/** One state on the way, and how long it lasts at the usual speed. */
export interface Phase {
  state: string;
  ms: number;
}

interface Life {
  kind: string;
  /** From the order on, the last of them being what it stays in. */
  making: Phase[];
  done: string;
  removing: Phase;
}

/**
 * Things that get ready just by time going by: how far one has come follows from when it was ordered, by
 * the database's clock, so that restarts and repeated questions change nothing.
 */
export function createTimedResources(
  { database, speed }: { database: Database; speed: number },
  life: Life,
): Provisioner<{ id: string }> {
  return {
    async order({ id }) {
      await sql`
        insert into simulated_resources (id, kind, ordered_at) values (${id}, ${life.kind}, clock_timestamp())
        on conflict do nothing`.execute(database.sql);
    },

    async remove({ id }) {
      await sql`
        update simulated_resources set removal_ordered_at = coalesce(removal_ordered_at, clock_timestamp())
        where id = ${id}`.execute(database.sql);
    },

    async progress(id) {
      const { rows } = await sql<{ age: number; removal_age: number | null }>`
        select extract(epoch from clock_timestamp() - ordered_at)::float8 * 1000 as age,
          extract(epoch from clock_timestamp() - removal_ordered_at)::float8 * 1000 as removal_age
        from simulated_resources where id = ${id}`.execute(database.sql);
      const [row] = rows;
      if (!row) return { state: 'gone', askAgainMs: null };
      if (row.removal_age === null) return phaseAt(life.making, life.done, row.age, speed);
      const removal = phaseAt([life.removing], 'gone', row.removal_age, speed);
      if (removal.askAgainMs === null) {
        await database.sql.deleteFrom('simulated_resources').where('id', '=', id).execute();
      }
      return removal;
    },
  };
}

/** For what goes together with something else, in no time of its own. */
export async function forget(database: Database, ids: readonly string[]): Promise<void> {
  await sql`delete from simulated_resources where id = any(${ids}::uuid[])`.execute(database.sql);
}

/** The phase that `age` milliseconds after the order lie in, and how long it still lasts. */
export function phaseAt(phases: Phase[], done: string, age: number, speed: number): Progress {
  let end = 0;
  for (const { state, ms } of phases) {
    end += ms / speed;
    if (age < end) return { state, askAgainMs: Math.ceil(end - age) };
  }
  return { state: done, askAgainMs: null };
}
