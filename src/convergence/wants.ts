import { sql } from 'kysely';
import type { Kind, Ref } from '../backends/contract/backend.ts';
import { needsOf } from '../backends/contract/needs.ts';
import type { Specs } from '../backends/contract/specs.ts';
import { announce } from '../db/changes.ts';
import type { Transaction } from '../db/database.ts';
import { type FieldProblem, InvalidError } from '../lib/errors.ts';
import { undoOf } from './undo.ts';

/** The topic under which a worker hears that something is wanted. */
export const WANTED = 'wanted';

export type Name = Pick<Ref, 'kind' | 'id'>;
export const keyOf = ({ kind, id }: Name): string => `${kind}:${id}`;

/** A change of what is wanted. */
export interface Wanted extends Name {
  /** The new spec of what was there (null: nothing was), or null for "must not exist". */
  spec(former: object | null): object | null;
  /** Whether the change is the first that is wanted of it, so that nobody has to look. */
  isNew: boolean;
  secrets?: Record<string, string>;
}

/** Something new. A backend that needs a secret asks for it by name. */
export function make<K extends Kind>(
  kind: K,
  id: string,
  spec: Specs[K],
  secrets?: Record<string, string>,
): Wanted {
  return { kind, id, spec: () => spec, isNew: true, ...(secrets && { secrets }) };
}

/** Another state of something that is there. */
export function change<K extends Kind>(kind: K, id: string, spec: (former: Specs[K]) => Specs[K]): Wanted {
  const next = (former: object | null) => {
    if (former === null) throw new Error(`${kind} ${id} is not wanted, so that it can't be changed`);
    return spec(former as Specs[K]);
  };
  return { kind, id, spec: next, isNew: false };
}

/** Whatever it was, and whether it was there or not. */
export function put<K extends Kind>(kind: K, id: string, spec: Specs[K]): Wanted {
  return { kind, id, spec: () => spec, isNew: false };
}

export function remove(kind: Kind, id: string): Wanted {
  return { kind, id, spec: () => null, isNew: false };
}

/** What it comes after, and what it needs for as long as it is there, by key. */
export function orderOf(kind: Kind, spec: object | null): { after: string[]; uses: string[] } {
  if (spec === null) return { after: [], uses: [] };
  const needs = needsOf(kind, spec as Specs[Kind]);
  return { after: needs.map(keyOf), uses: needs.filter(({ onlyAtFirst }) => !onlyAtFirst).map(keyOf) };
}

/** Whose it is and where. */
export interface WantPlace {
  clientId: number;
  projectId: number;
  regionId: number;
}

/** What of a spec a region's backend can't do. */
export type SpecCheck = <K extends Kind>(regionId: number, kind: K, spec: Specs[K]) => FieldProblem[];

interface Known {
  kind: string;
  id: string;
  spec: object | null;
}

/**
 * Wants all of it, from the commit of `tx` on; a task waits for it, where one is named. Call it after the rows of the
 * things are locked: whoever ends a task locks in that order too.
 * @throws InvalidError for what the infrastructure can't do
 */
export async function want(
  tx: Transaction,
  place: WantPlace,
  list: readonly Wanted[],
  { taskId, check }: { taskId?: string; check: SpecCheck },
): Promise<void> {
  if (list.length === 0) return;
  const known = await lockKnown(
    tx,
    list.filter(({ isNew }) => !isNew),
  );
  const rows = list.map((wanted) => {
    const former = known.get(keyOf(wanted));
    const spec = wanted.spec(former?.spec ?? null);
    const undo = undoOf(former?.spec ?? null, spec);
    return { kind: wanted.kind, id: wanted.id, spec, undo, ...orderOf(wanted.kind, spec) };
  });
  const problems = rows.flatMap(({ kind, spec }) =>
    spec === null ? [] : check(place.regionId, kind, spec as Specs[typeof kind]),
  );
  if (problems.length > 0) throw new InvalidError(problems);
  await write(tx, place, rows, taskId);
  await keepSecrets(tx, list);
  await announce(tx.client, WANTED, '');
}

async function write(tx: Transaction, place: WantPlace, rows: object[], taskId?: string): Promise<void> {
  const waiting =
    taskId === undefined
      ? sql`select`
      : sql`
        insert into task_wants (task_id, kind, want_id, generation, undo)
        select ${taskId}::uuid, kind, id, generation, undo from put join given using (kind, id)`;
  await sql`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as given (kind text, id uuid, spec jsonb, after text[], uses text[], undo jsonb)
    ), put as (
      insert into wants (kind, id, client_id, project_id, region_id, spec, after, uses, due_at)
      select kind, id, ${place.clientId}::bigint, ${place.projectId}::bigint, ${place.regionId}::bigint,
        spec, after, uses, clock_timestamp()
      from given
      on conflict (kind, id) do update set generation = wants.generation + 1, spec = excluded.spec,
        after = excluded.after, uses = array(select distinct unnest(wants.uses || excluded.uses)),
        due_at = excluded.due_at, failures = 0, doing = null
      returning kind, id, generation
    ) ${waiting}`.execute(tx.sql);
}

/** In one order for everybody. */
async function lockKnown(tx: Transaction, names: readonly Name[]): Promise<Map<string, Known>> {
  if (names.length === 0) return new Map();
  const { rows } = await sql<Known>`
    select kind, id, spec from wants
    where (kind, id) in (select kind, id from jsonb_to_recordset(${JSON.stringify(names)}::jsonb) as name (kind text, id uuid))
    order by kind, id for no key update`.execute(tx.sql);
  return new Map(rows.map((row) => [`${row.kind}:${row.id}`, row]));
}

async function keepSecrets(tx: Transaction, list: readonly Wanted[]): Promise<void> {
  const rows = list.flatMap(({ kind, id, secrets = {} }) =>
    Object.entries(secrets).map(([name, value]) => ({ kind, want_id: id, name, value })),
  );
  if (rows.length > 0) await tx.sql.insertInto('want_secrets').values(rows).execute();
}

/** Wants nothing more of what a project has. */
export async function wantNothingOf(tx: Transaction, projectId: number): Promise<void> {
  await sql`
    update wants set spec = null, after = '{}', generation = generation + 1, due_at = clock_timestamp(), failures = 0
    where project_id = ${projectId} and spec is not null`.execute(tx.sql);
  await announce(tx.client, WANTED, '');
}
