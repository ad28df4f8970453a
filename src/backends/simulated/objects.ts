import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import { Unavailable } from '../contract/backend.ts';

/** What the simulated infrastructure has, or is making or removing. */
export interface SimulatedObject {
  spec: object;
  doing: string;
  /** Of what was begun last. */
  age_ms: number;
  takes_ms: number;
  revision: number;
}

export async function findObject(
  db: Kysely<Tables>,
  kind: string,
  id: string,
): Promise<SimulatedObject | undefined> {
  const { rows } = await sql<SimulatedObject>`
    select spec, doing, takes_ms, revision,
      extract(epoch from clock_timestamp() - began_at)::float8 * 1000 as age_ms
    from simulated_objects where kind = ${kind} and id = ${id}`.execute(db);
  return rows[0];
}

export interface Beginning {
  spec: object;
  doing: string;
  takesMs: number;
}

/** False where it is there already. */
export async function insertObject(
  db: Kysely<Tables>,
  kind: string,
  id: string,
  { spec, doing, takesMs }: Beginning,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into simulated_objects (kind, id, spec, doing, began_at, takes_ms)
    values (${kind}, ${id}, ${JSON.stringify(spec)}, ${doing}, clock_timestamp(), ${takesMs})
    on conflict do nothing`.execute(db);
  return numAffectedRows === 1n;
}

/** False where somebody else changed it since it was read. */
export async function updateObject(
  db: Kysely<Tables>,
  kind: string,
  id: string,
  revision: number,
  { spec, doing, takesMs }: Beginning,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update simulated_objects set spec = ${JSON.stringify(spec)}, doing = ${doing},
      began_at = clock_timestamp(), takes_ms = ${takesMs}, revision = revision + 1
    where kind = ${kind} and id = ${id} and revision = ${revision}`.execute(db);
  return numAffectedRows === 1n;
}

export async function deleteObject(
  db: Kysely<Tables>,
  kind: string,
  id: string,
  revision: number,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from simulated_objects where kind = ${kind} and id = ${id} and revision = ${revision}`.execute(db);
  return numAffectedRows === 1n;
}

/** What the object made; null where it hasn't yet. */
export async function madeOf(db: Kysely<Tables>, kind: string, id: string): Promise<object | null> {
  const found = await db
    .selectFrom('simulated_objects')
    .select('made')
    .where('kind', '=', kind)
    .where('id', '=', id)
    .executeTakeFirst();
  return found?.made ?? null;
}

/** What the object makes the first time, and answers from then on. */
export async function madeOnce(
  db: Kysely<Tables>,
  kind: string,
  id: string,
  make: () => Promise<object>,
): Promise<object> {
  const found = await madeOf(db, kind, id);
  if (found) return found;
  const { rows } = await sql<{ made: object }>`
    update simulated_objects set made = coalesce(made, ${JSON.stringify(await make())}::jsonb)
    where kind = ${kind} and id = ${id} returning made`.execute(db);
  const [row] = rows;
  if (!row) throw new Unavailable(`${kind} ${id} went meanwhile`);
  return row.made;
}
