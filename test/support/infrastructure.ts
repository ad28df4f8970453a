import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import type pg from 'pg';
import type { Kind } from '../../src/backends/contract/backend.ts';
import type { Specs } from '../../src/backends/contract/specs.ts';

/** Makes the task `$1` so old that its deadline has passed, whatever it was. */
export const AGED = `
  update tasks set created_on = created_on - interval '2 hours', deadline_at = deadline_at - interval '2 hours'
  where id = $1`;

/** Makes something that exists and is as wanted, without a task that made it. The caller inserts its rows. */
export async function alreadyThere<K extends Kind>(pool: pg.Pool, kind: K, id: string, spec: Specs[K]): Promise<void> {
  await pool.query(
    `insert into wants (kind, id, client_id, project_id, region_id, spec, settled_generation, observed)
     values ($1, $2, 1, 1, 1, $3, 1, '{}')`,
    [kind, id, JSON.stringify(spec)],
  );
  await pool.query(
    `insert into simulated_objects (kind, id, spec, doing, began_at, takes_ms) values ($1, $2, $3, 'making', now(), 0)`,
    [kind, id, JSON.stringify(spec)],
  );
}

/** Pretends that all simulated work, or that on one thing, began an hour earlier. Returns how many things there are. */
export async function hurry(pool: pg.Pool, id?: string): Promise<number> {
  const earlier = `update simulated_objects set began_at = began_at - interval '1 hour' where $1::text is null or id::text = $1`;
  const { rowCount } = await change(pool, earlier, [id]);
  await change(pool, `update wants set due_at = now() where due_at is not null`);
  return rowCount ?? 0;
}

/** Workers lock rows of the same tables in an order of their own, so that this may be what a deadlock ends. */
function change(pool: pg.Pool, statement: string, values: unknown[] = []): Promise<pg.QueryResult> {
  return pRetry(() => pool.query(statement, values), {
    minTimeout: 20,
    shouldRetry: ({ error }) => (error as { code?: string }).code === '40P01',
  });
}

/** Returns every trace of what is or was wanted of a kind, or of all kinds. */
export async function infrastructure(pool: pg.Pool, kind?: Kind): Promise<{ wanted: string[]; there: string[] }> {
  const names = async (table: string) => {
    const { rows } = await pool.query<{ name: string }>(
      `select kind || ' ' || id as name from ${table} where $1::text is null or kind = $1 order by 1`,
      [kind ?? null],
    );
    return rows.map(({ name }) => name);
  };
  return { wanted: await names('wants'), there: await names('simulated_objects') };
}

/** Returns what is wanted of one thing, and what exists; undefined if nothing is, null if it must go. */
export async function specOf<K extends Kind>(
  pool: pg.Pool,
  kind: K,
  id: string,
): Promise<{ wanted: Specs[K] | null | undefined; there: Specs[K] | undefined }> {
  const find = async (table: string) => {
    const query = `select spec from ${table} where kind = $1 and id = $2`;
    const { rows } = await pool.query<{ spec: Specs[K] | null }>(query, [kind, id]);
    return rows[0]?.spec;
  };
  return { wanted: await find('wants'), there: (await find('simulated_objects')) ?? undefined };
}

/** Returns the result of `ended`, and finishes all simulated work at once until then. */
export async function hurried<T>(pool: pg.Pool, ended: Promise<T>): Promise<T> {
  const over = new AbortController();
  const hurrying = (async () => {
    while (!over.signal.aborted) {
      await hurry(pool);
      await sleep(50);
    }
  })();
  try {
    return await ended;
  } finally {
    over.abort();
    await hurrying;
  }
}
