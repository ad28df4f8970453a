import { isDeepStrictEqual } from 'node:util';
import { apply, generate } from 'json-merge-patch';
import { type RawBuilder, sql } from 'kysely';
import type { Backends } from '../backends/backends.ts';
import type { Kind, Ref } from '../backends/contract/backend.ts';
import { needsOf } from '../backends/contract/needs.ts';
import type { Specs } from '../backends/contract/specs.ts';
import { belongsTo, type Place, type Sql, type Transaction, together } from '../db/database.ts';
import { compiledQuery, namesIn, ofNames } from '../db/statements.ts';
import { type FieldProblem, InvalidError } from '../lib/errors.ts';
import type { Secrets } from '../secrets/secrets.ts';

/** Returns the merge patch that leads from `spec` back to `former`; either may be null: the thing does not exist. */
export function undoOf(former: object | null, spec: object | null): object | null {
  if (former === null || spec === null) return former;
  return generate<object>(spec, former) ?? {};
}

/**
 * Returns the spec after a change is undone, whatever else has changed since. A thing that must be removed by
 * now stays so, unless the change itself was the removal.
 */
export function undone(current: object | null, undo: object | null, { wasRemoval }: { wasRemoval: boolean }) {
  if (undo === null || (current === null && !wasRemoval)) return null;
  return apply<object>(structuredClone(current), undo);
}

/** The topic that tells workers that something is wanted. */
export const WANTED = 'wanted';

export type Name = Pick<Ref, 'kind' | 'id'>;
export const keyOf = ({ kind, id }: Name): string => `${kind}:${id}`;
/** For people. */
export const titleOf = ({ kind, id }: { kind: string; id: string }): string => `${kind.replaceAll('_', ' ')} ${id}`;

export interface Wanted extends Name {
  /**
   * Maps the former spec (null: the thing must go; undefined: no want) to the new one, or to null for "must not exist".
   */
  spec(former: object | null | undefined): object | null;
  /** Whether the thing is certainly new, so that no former want has to be read. */
  isNew: boolean;
  /** Whether it must go, whatever was wanted of it. */
  goes?: boolean;
  secrets?: Record<string, string>;
}

/** Wants a new thing. A backend that needs a secret asks for it by name. */
export function make<K extends Kind>(kind: K, id: string, spec: Specs[K], secrets?: Record<string, string>): Wanted {
  return { kind, id, spec: () => spec, isNew: true, ...(secrets && { secrets }) };
}

/** Wants another state of an existing thing. */
export function change<K extends Kind>(kind: K, id: string, spec: (former: Specs[K]) => Specs[K]): Wanted {
  const next = (former: object | null | undefined) => {
    if (!former) throw new Error(`${kind} ${id} is not wanted, so it can't be changed`);
    return spec(former as Specs[K]);
  };
  return { kind, id, spec: next, isNew: false };
}

/** Wants what `spec` makes of the thing, unless it must go: a change that comes too late must not bring it back. */
export function amend<K extends Kind>(
  kind: K,
  id: string,
  spec: (former: Specs[K] | undefined) => Specs[K] | undefined,
): Wanted {
  const next = (former: object | null | undefined) =>
    former === null ? null : (spec(former as Specs[K] | undefined) ?? null);
  return { kind, id, spec: next, isNew: false };
}

/** Wants the thing in this state, whatever its state was and whether it existed or not. */
export function put<K extends Kind>(kind: K, id: string, spec: Specs[K]): Wanted {
  return { kind, id, spec: () => spec, isNew: false };
}

export function remove(kind: Kind, id: string): Wanted {
  return { kind, id, spec: () => null, isNew: false, goes: true };
}

/** Returns what the thing comes after, and what it needs as long as it exists, by key. */
export function orderOf(kind: Kind, spec: object | null): { after: string[]; uses: string[] } {
  if (spec === null) return { after: [], uses: [] };
  const needs = needsOf(kind, spec as Specs[Kind]);
  return { after: needs.map(keyOf), uses: needs.filter(({ onlyAtFirst }) => !onlyAtFirst).map(keyOf) };
}

/** The owner and the region of a thing. */
export interface WantScope {
  clientId: number;
  projectId: number;
  regionId: number;
}

/** Returns what a region's backend can't do of a spec; `removes` says that it is changed since something goes. */
export type SpecCheck = <K extends Kind>(regionId: number, kind: K, spec: Specs[K], removes: boolean) => FieldProblem[];

export interface HowWanted {
  taskId?: string;
  check?: SpecCheck;
  /**
   * Makes the changes that take no time. Without it, workers make them. The caller locks the row of a thing before it removes
   * the thing, so that nobody begins to need it. A process may still use the backend of an older catalogue; the comparison
   * with what the backends have finds that.
   */
  atOnce?: Backends['atOnce'];
  /** The only one of the list, locked already. */
  locked?: Locked | undefined;
  /** Needed for wants with secrets. */
  secrets?: Secrets;
}

interface Known {
  kind: string;
  id: string;
  spec: object | null;
  scope: WantScope | null;
  /** Whether it is as wanted. */
  settled: boolean;
}

/**
 * Wants all of it, from the commit of `tx` on; a task waits for it, where one is named. Call it after the rows of the
 * things are locked: whoever ends a task locks in that order too. What is the platform's own needs no check, and what is
 * wanted already no scope.
 * @throws InvalidError for what the infrastructure can't do
 */
export async function want(tx: Transaction, scope: WantScope | null, list: readonly Wanted[], how: HowWanted = {}) {
  await wantAt(
    tx,
    list.map((wanted) => ({ wanted, scope })),
    how,
  );
}

/** The same for things in several projects. */
export async function wantAt(
  tx: Transaction,
  list: readonly { wanted: Wanted; scope: WantScope | null }[],
  { taskId, check = () => [], atOnce, locked, secrets }: HowWanted = {},
): Promise<void> {
  const wants = list.map(({ wanted }) => wanted);
  const isLocked = locked && wants.every((one) => keyOf(one) === locked.key);
  const { known, users } = isLocked ? locked : await lock(tx, wants, taskId === undefined && atOnce !== undefined);
  const rows = list.flatMap(({ wanted, scope: given }) => {
    const found = known.get(keyOf(wanted));
    const former = found?.spec ?? null;
    const spec = wanted.spec(found?.spec);
    // Nothing to do if the thing is wanted like this already and no task waits for it.
    if (taskId === undefined && isDeepStrictEqual(former, spec)) return [];
    const scope = found?.scope ?? given;
    if (!scope) throw new Error(`The owner and region of ${keyOf(wanted)} are missing`);
    return { ...wanted, scope, former, spec, asWanted: wanted.isNew || found?.settled === true };
  });
  if (rows.length === 0) return;
  const removes = rows.some(({ spec }) => spec === null);
  const problems = rows.flatMap(({ kind, scope, spec }) =>
    spec === null ? [] : check(scope.regionId, kind, spec as Specs[typeof kind], removes),
  );
  if (problems.length > 0) throw new InvalidError(problems);
  // Tasks end, and secrets are read, where the workers are.
  const done =
    taskId === undefined && atOnce ? made(tx, rows, atOnce, users.length > 0) : new Map<string, object | null>();
  const gone = rows.filter(({ id, spec }) => spec === null && done.has(id));
  if (gone.length > 0) tx.send(forget, gone);
  const given = rows
    .filter(({ id, spec }) => spec !== null || !done.has(id))
    .map(({ kind, id, scope, former, spec }) => ({
      kind,
      id,
      at_once: done.has(id),
      observed: done.get(id) ?? null,
      client_id: scope.clientId,
      project_id: scope.projectId,
      region_id: scope.regionId,
      spec,
      undo: undoOf(former, spec),
      ...orderOf(kind, spec),
    }));
  if (given.length === 0) return;
  const args = { rows: JSON.stringify(given), taskId };
  if (taskId === undefined) tx.send(write, args);
  else tx.send(writeForTask, args);
  if (given.some((one) => !one.at_once)) tx.announce(WANTED);
  await keepSecrets(tx, secrets, rows);
}

const NOBODY: Promise<readonly Name[]> = Promise.resolve([]);

/** Locks them, and returns what there was of them, and, for what is made at once, what needs one of those that go. */
async function lock(tx: Transaction, list: readonly Wanted[], atOnce: boolean) {
  const leaving = list.filter(({ goes }) => goes);
  const [known, users] = await together(
    lockKnown(
      tx,
      list.filter(({ isNew }) => !isNew),
    ),
    // Sent behind it, so that it sees what is there once the rows are locked.
    atOnce && leaving.length > 0 ? usersOf(tx.sql, leaving) : NOBODY,
  );
  return { known, users };
}

/** A thing that is to go, locked. */
export interface Locked {
  key: string;
  known: ReadonlyMap<string, Known>;
  /** As `usersOf` returns them. */
  users: readonly Name[];
}

/** Locks a thing that is to go, if it is in that place, for a caller that asks for more in the same breath. */
export async function lockLeaving(tx: Transaction, { projectId, regionId }: Place, name: Name): Promise<Locked> {
  const key = keyOf(name);
  const [rows, users] = await together(
    lockInPlace(tx.sql, { projectId, regionId, kind: name.kind, id: name.id }),
    usersOf(tx.sql, [name]),
  );
  return { key, known: new Map(rows.map((row) => [key, row])), users };
}

type Row = Omit<Wanted, 'spec'> & { scope: WantScope; former: object | null; spec: object | null; asWanted: boolean };

/** Makes at once what can be made so: what needs nothing, so that it comes after nothing, and isn't needed if it must go. */
function made(tx: Transaction, rows: readonly Row[], atOnce: Backends['atOnce'], mustStay: boolean) {
  const free = (kind: Kind, spec: object | null) => orderOf(kind, spec).after.length === 0;
  const mayGo = ({ spec, goes }: Row) => spec !== null || (goes && !mustStay);
  const changes = rows.filter(
    (row) => row.asWanted && !row.secrets && free(row.kind, row.former) && free(row.kind, row.spec) && mayGo(row),
  );
  return atOnce(
    tx,
    changes.map(({ kind, id, scope, former, spec }) => ({
      kind,
      id,
      regionId: scope.regionId,
      former: former as Specs[Kind] | null,
      spec: spec as Specs[Kind] | null,
    })),
  );
}

// As a subquery, whose result PostgreSQL doesn't look at when it plans. Otherwise it would plan for each list anew.
const usingAny = compiledQuery((db, { keys }: { keys: string[] }) =>
  sql<Name>`select kind, id from wants where uses && (select ${keys}::text[]) and uses <> '{}'`.compile(db),
);

/** Returns what needs one of the things, or did until a change that is still under way. */
export const usersOf = (db: Sql, things: readonly Name[]): Promise<Name[]> => usingAny(db, { keys: things.map(keyOf) });

const forget = ofNames((db, isNamed) => sql`delete from wants where ${isNamed}`.compile(db));

const write = compiledQuery((db, args: { rows: string }) => writing(args.rows, sql``).compile(db));
const writeForTask = compiledQuery((db, args: { rows: string; taskId: string | undefined }) =>
  writing(
    args.rows,
    sql`, waiting as (
      insert into task_wants (task_id, kind, want_id, generation, undo)
      select ${args.taskId}::uuid, kind, id, generation, undo from put join given using (kind, id)
    )`,
  ).compile(db),
);

const NEXT_GENERATION = sql`wants.generation + case when coalesce(wants.spec, excluded.spec) is null then 0 else 1 end`;

const writing = (rows: string, waiting: RawBuilder<unknown>) => sql`
  with given as (
    select * from jsonb_to_recordset(${rows}::jsonb) as given (kind text, id uuid, client_id bigint, project_id bigint,
      region_id bigint, spec jsonb, after text[], uses text[], undo jsonb, at_once boolean, observed jsonb)
  ), put as (
    insert into wants (kind, id, client_id, project_id, region_id, spec, after, uses, due_at, settled_generation, observed)
    select kind, id, client_id, project_id, region_id, spec, after, uses,
      case when not at_once then clock_timestamp() end, case when at_once then 1 end, observed
    from given
    on conflict (kind, id) do update set spec = excluded.spec, generation = ${NEXT_GENERATION},
      settled_generation = case when excluded.due_at is null then ${NEXT_GENERATION} else wants.settled_generation end,
      observed = case when excluded.due_at is null then excluded.observed else wants.observed end,
      after = excluded.after, uses = array(select distinct unnest(wants.uses || excluded.uses)),
      due_at = excluded.due_at, failures = 0, doing = null
    returning kind, id, generation
  ) ${waiting}
  select`;

/** Locks in one order for everybody. */
async function lockKnown(tx: Transaction, names: readonly Name[]): Promise<Map<string, Known>> {
  if (names.length === 0) return new Map();
  const rows = await lockRows(tx.sql, names);
  const known = new Map(rows.map((row) => [`${row.kind}:${row.id}`, row]));
  const missing = names.filter((name) => !known.has(keyOf(name)));
  for (const row of missing.length === 0 ? [] : await removedOf(tx, missing)) {
    known.set(`${row.kind}:${row.id}`, row);
  }
  return known;
}

const lockRows = ofNames((db, isNamed) => locking(isNamed).compile(db));
const lockInPlace = compiledQuery((db, { kind, id, projectId, regionId }: Name & Place) =>
  locking(sql`kind = ${kind} and id = ${id} and ${belongsTo({ projectId, regionId })}`).compile(db),
);
const locking = (condition: RawBuilder<unknown>) =>
  sql<Known>`
    select kind, id, spec,
      json_build_object('clientId', client_id, 'projectId', project_id, 'regionId', region_id) as scope,
      coalesce(due_at is null and generation = settled_generation, false) as settled
    from wants where ${condition} order by kind, id for no key update`;

/**
 * Returns things that are gone while the task that removes them still waits for others. Their rows still
 * exist, and nobody may bring them back.
 */
async function removedOf(tx: Transaction, names: readonly Name[]): Promise<Known[]> {
  const { rows } = await sql<Known>`
    select distinct on (kind, want_id) kind, want_id as id, null as spec, false as settled,
      case when project_id is not null then
        json_build_object('clientId', client_id, 'projectId', project_id, 'regionId', region_id) end as scope
    from task_wants join tasks on tasks.id = task_id
    where (kind, want_id) in (${namesIn(names)})`.execute(tx.sql);
  return rows;
}

const SECRET = 'want_secrets.value';

async function keepSecrets(
  tx: Transaction,
  secrets: Secrets | undefined,
  list: readonly Pick<Wanted, 'kind' | 'id' | 'secrets'>[],
): Promise<void> {
  const rows = list.flatMap(({ kind, id, secrets: given = {} }) =>
    Object.entries(given).map(([name, value]) => {
      if (!secrets) throw new Error(`There is no way to keep the secrets of ${keyOf({ kind, id })}`);
      return { kind, want_id: id, name, value: secrets.seal(SECRET, [kind, id, name], value) };
    }),
  );
  if (rows.length > 0) await tx.sql.insertInto('want_secrets').values(rows).execute();
}

/** Returns a secret that was given with a want; undefined if there is none of that name. */
export async function secretOf(
  { sql: db, secrets }: { sql: Sql; secrets: Secrets },
  { kind, id }: Name,
  name: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('want_secrets')
    .select('value')
    .where('kind', '=', kind)
    .where('want_id', '=', id)
    .where('name', '=', name)
    .executeTakeFirst();
  return row && secrets.open(SECRET, [kind, id, name], row.value);
}

/** Returns what is wanted of the thing; null if it must go or nobody wants it. */
export async function wantedOf<K extends Kind>(tx: Transaction, kind: K, id: string): Promise<Specs[K] | null> {
  const query = tx.sql.selectFrom('wants').select('spec').where('kind', '=', kind).where('id', '=', id);
  return ((await query.executeTakeFirst())?.spec ?? null) as Specs[K] | null;
}

/**
 * Returns the tasks that wait for the things, by key. With `removing`, only those that remove them: a removal may have come
 * to its end while its task still waits for other things.
 */
export async function tasksOn(
  tx: Transaction,
  things: readonly Name[],
  { removing }: { removing: boolean },
): Promise<Map<string, string>> {
  if (things.length === 0) return new Map();
  const { rows } = await sql<Name & { task_id: string }>`
    select distinct on (task_wants.kind, want_id) task_wants.kind, want_id as id, task_id
    from task_wants left join wants on wants.kind = task_wants.kind and wants.id = want_id
    where (task_wants.kind, want_id) in (${namesIn(things)})
      and (${!removing} or spec is null)
    order by task_wants.kind, want_id, task_id desc`.execute(tx.sql);
  return new Map(rows.map((row) => [keyOf(row), row.task_id]));
}

/** Returns how many things of each kind a region has, including those being removed. */
export async function wantsByRegion(db: Sql): Promise<{ regionId: number; kind: Kind; count: number }[]> {
  const { rows } = await sql<{ regionId: number; kind: Kind; count: number }>`
    select region_id as "regionId", kind, count(*)::integer as count from wants
    group by region_id, kind order by region_id, kind`.execute(db);
  return rows;
}

/** By then every process follows a catalogue that has come into force, or has said why it can't. */
const FOLLOWED_MS = 10_000;

/** Has the things in these places made again, by the backend that has the places now. */
export async function makeAnew(db: Sql, kinds: readonly { regionId: number; kind: Kind }[]): Promise<void> {
  if (kinds.length === 0) return;
  await sql`
    update wants set handle = null, generation = generation + 1, settled_generation = null, due_at = clock_timestamp() + ${FOLLOWED_MS}::float8 * interval '1 millisecond'
    from jsonb_to_recordset(${JSON.stringify(kinds)}::jsonb) as each ("regionId" bigint, kind text)
    where wants.region_id = each."regionId" and wants.kind = each.kind`.execute(db);
}

/** Wants everything that a project has to be removed. */
export async function wantNothingOf(tx: Transaction, projectId: number): Promise<void> {
  await sql`
    update wants set spec = null, after = '{}', generation = generation + 1, due_at = clock_timestamp(), failures = 0
    where project_id = ${projectId} and spec is not null`.execute(tx.sql);
  tx.announce(WANTED);
}

/** Whether the thing must not exist any more. Locks the want's row, so that nobody can change this. */
export async function isToGo(tx: Transaction, name: Name): Promise<boolean> {
  return (await lockKnown(tx, [name])).get(keyOf(name))?.spec === null;
}

/**
 * Forgets what the project has outside the regions: the backends there have left the catalogue, so nobody can
 * remove it. If such a backend returns, it reports these things as orphans.
 */
export async function forgetElsewhere(tx: Transaction, id: number, regions: number[]): Promise<void> {
  await tx.sql
    .deleteFrom('wants')
    .where('project_id', '=', id)
    .where(sql<boolean>`region_id <> all(${regions}::bigint[])`)
    .execute();
}

/** Lets all that waits for its time be looked at now. */
export async function lookAgain({ sql: db, announce }: Transaction): Promise<void> {
  await sql`update wants set due_at = clock_timestamp() where due_at > clock_timestamp() and worker_id is null`.execute(
    db,
  );
  announce(WANTED);
}

/** The same after rows were put back as they were: nobody works on what is claimed in them. */
export async function takeUpAgain({ sql: db, announce }: Transaction): Promise<void> {
  await sql`update wants set worker_id = null, due_at = clock_timestamp() where worker_id is not null`.execute(db);
  announce(WANTED);
}
