import { type Kysely, sql } from 'kysely';
import { Unavailable } from '../src/backends/contract/backend.ts';
import type { MachinePower } from '../src/backends/contract/specs.ts';
import type { Transaction } from '../src/db/database.ts';
import { compiledQuery, ofNames } from '../src/db/statements.ts';
import type { Tables } from '../src/db/tables.ts';
import type { Secrets } from '../src/secrets/secrets.ts';

/** What an object does until it is gone. */
export const REMOVING = 'removing';

/** A thing that the simulated infrastructure has, makes or removes. */
export interface SimulatedObject {
  spec: object;
  /** `making`, `changing` or `removing`, or what became of a machine by itself. */
  doing: string;
  /** Age of the last change that was begun. */
  age_ms: number;
  takes_ms: number;
  revision: number;
}

/** What becomes of machines without being wanted. */
export const FATES = ['crashed', 'host_gone', 'stopped'] as const satisfies MachinePower[];
export type Fate = (typeof FATES)[number];
export const fateIn = (doing: string | undefined): Fate | undefined => FATES.find((fate) => fate === doing);

export async function findObject(db: Kysely<Tables>, kind: string, id: string): Promise<SimulatedObject | undefined> {
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

/** Returns false if the object exists already. */
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

/** Puts objects into the state that they are wanted in, at once. */
export const putObjects = (tx: Transaction, list: readonly { kind: string; id: string; spec: object | null }[]) =>
  tx.send(put, { things: JSON.stringify(list.map(({ kind, id, spec }) => ({ kind, id, spec }))) });
const put = compiledQuery((db, { things }: { things: string }) =>
  sql`
    insert into simulated_objects (kind, id, spec, doing, began_at, takes_ms)
    select kind, id, spec, 'making', clock_timestamp(), 0
    from jsonb_to_recordset(${things}::jsonb) as thing (kind text, id uuid, spec jsonb)
    on conflict (kind, id) do update set spec = excluded.spec, doing = 'changing', began_at = excluded.began_at,
      takes_ms = 0, revision = simulated_objects.revision + 1`.compile(db),
);

/** Returns false if the object was changed since it was read. */
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

export async function deleteObject(db: Kysely<Tables>, kind: string, id: string, revision: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from simulated_objects where kind = ${kind} and id = ${id} and revision = ${revision}`.execute(db);
  return numAffectedRows === 1n;
}

const PLACE = 'simulated_objects.made';

interface Host {
  sql: Kysely<Tables>;
  secrets: Secrets;
}

/** Returns the data that the object made; null if it has not made any yet. */
export async function madeOf({ sql: db, secrets }: Host, kind: string, id: string): Promise<object | null> {
  const found = await db
    .selectFrom('simulated_objects')
    .select('made')
    .where('kind', '=', kind)
    .where('id', '=', id)
    .executeTakeFirst();
  return found?.made ? secrets.open(PLACE, [kind, id], found.made) : null;
}

/** Returns the data that the object makes the first time it is asked, and keeps. */
export async function madeOnce(host: Host, kind: string, id: string, make: () => Promise<object>): Promise<object> {
  const found = await madeOf(host, kind, id);
  if (found) return found;
  // The data contains private keys.
  const made = host.secrets.seal(PLACE, [kind, id], await make());
  const { rows } = await sql<{ made: object | string }>`
    update simulated_objects set made = coalesce(made, ${made}::jsonb)
    where kind = ${kind} and id = ${id} returning made`.execute(host.sql);
  const [row] = rows;
  if (!row) throw new Unavailable(`${kind} ${id} went meanwhile`);
  return host.secrets.open(PLACE, [kind, id], row.made);
}

/** Lets something become of a machine, or lets it be as wanted again. Returns false if there is no such machine. */
export async function letBecome(db: Kysely<Tables>, id: string, fate: Fate | undefined): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update simulated_objects set doing = ${fate ?? 'changing'}, takes_ms = 0, revision = revision + 1
    where kind = 'machine' and id = ${id} and doing <> 'removing'`.execute(db);
  return numAffectedRows === 1n;
}

/** Returns what became of machines, by ID. */
export async function fatesOf(db: Kysely<Tables>): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; doing: string }>`
    select id, doing from simulated_objects where doing in ('crashed', 'host_gone', 'stopped')`.execute(db);
  return new Map(rows.map(({ id, doing }) => [id, doing]));
}

/** Lets the things that a task waits for be done with what they are doing. */
export async function hurryObjects(db: Kysely<Tables>, taskId: string): Promise<void> {
  await sql`
    update simulated_objects set takes_ms = 0
    where (kind, id) in (select kind, want_id from task_wants where task_id = ${taskId})`.execute(db);
}

/** Deletes objects of things that nobody wants any more. */
export const dropObjects = (tx: Transaction, list: readonly { kind: string; id: string }[]) => tx.send(drop, list);
const drop = ofNames((db, isNamed) => sql`delete from simulated_objects where ${isNamed}`.compile(db));

/** Lets what is being done take its remaining time times `factor`. */
export async function stretchObjects(db: Kysely<Tables>, factor: number): Promise<void> {
  await sql`
    with ages as (
      select kind, id, extract(epoch from clock_timestamp() - began_at) * 1000 as age from simulated_objects
    )
    update simulated_objects set takes_ms = age + (takes_ms - age) * ${factor}::float8 from ages
    where simulated_objects.kind = ages.kind and simulated_objects.id = ages.id and takes_ms > age`.execute(db);
}
