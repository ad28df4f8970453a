import { type RawBuilder, sql } from 'kysely';
import type { Json, Kind } from '../backends/contract/backend.ts';
import type { Database, Sql, Transaction } from '../db/database.ts';
import { compiledQuery } from '../db/statements.ts';
import { WORKER_IS_DEAD } from '../worker/heartbeat.ts';
import { keyOf, orderOf, titleOf, WANTED } from './wants.ts';

/** Another worker has the want by now, or the want has changed: the result of this attempt is discarded. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';
}

/** A want that this worker has claimed, as it was at that time. */
export interface Claim {
  kind: Kind;
  id: string;
  project_id: number;
  region_id: number;
  generation: number;
  spec: object | null;
  after: string[];
  /** The backend's last handle. */
  handle: Json;
  settled_generation: number | null;
  doing: string | null;
  failures: number;
  /** Whether tasks waited for it when it was claimed. One that began at the same moment may be missing. */
  awaited: boolean;
  /** When the want was due, to the microsecond: a change since the claim is noticed by it. */
  due: string;
}

/** A kind in a region, which together determine the backend. */
export type KindInRegion = Pick<Claim, 'kind' | 'region_id'>;

/**
 * Takes what is due in the regions, the oldest first, at most `limit` of it, and nothing of the kinds and regions `except`. Materialized, since the
 * planner may run a subquery with a limit more than once.
 */
export async function takeDue(
  sqlDb: Sql,
  workerId: string,
  limit: number,
  except: readonly KindInRegion[],
  regions: readonly number[] | undefined,
): Promise<Claim[]> {
  return take(sqlDb, { workerId, limit, except: JSON.stringify(except), regions: regions ? [...regions] : null });
}
interface Taking {
  limit: number;
  workerId: string;
  except: string;
  regions: number[] | null;
}
const take = compiledQuery((db, { limit, workerId, except, regions }: Taking) =>
  sql<Claim>`
    with due as materialized (
      select kind, id from wants where worker_id is null and due_at <= clock_timestamp() and (kind, region_id) not in (
        select kind, region_id from jsonb_to_recordset(${except}::jsonb) as each (kind text, region_id bigint))
        and (${regions}::bigint[] is null or region_id = any(${regions}::bigint[]))
      order by due_at limit ${limit} for no key update skip locked
    )
    update wants set worker_id = ${workerId} from due where wants.kind = due.kind and wants.id = due.id
    returning wants.kind, wants.id, project_id, region_id, generation, spec, after, handle, failures,
      settled_generation, doing, due_at::text as due,
      exists (select from task_wants where task_wants.kind = wants.kind and want_id = wants.id) as awaited`.compile(db),
);

/**
 * Sets NEW tasks that wait for these wants to RUNNING. A task that is locked right now may stay NEW for
 * longer: nobody waits for the lock.
 */
export async function beginTasks(sqlDb: Sql, claims: readonly Claim[], now: Date): Promise<void> {
  await begin(sqlDb, { names: JSON.stringify(claims.map(({ kind, id }) => ({ kind, id }))), now });
}
const begin = compiledQuery((db, { names, now }: { names: string; now: Date }) =>
  sql`
    with new as materialized (
      select id from tasks where state = 'NEW' and id in (
        select task_id from task_wants
        join jsonb_to_recordset(${names}::jsonb) as name (kind text, id uuid) on name.kind = task_wants.kind and name.id = want_id)
      for no key update skip locked
    )
    update tasks set state = 'RUNNING', updated_on = ${now} from new where tasks.id = new.id`.compile(db),
);

/** How a worker releases a want that is not settled. */
export interface Release {
  againInMs: number;
  /** Null if there is nothing to say. */
  doing: string | null;
  failures: number;
  handle: Json;
}

/** Releases the want. It is due at once if it was changed or woken since it was claimed. */
export async function release(
  sqlDb: Sql,
  workerId: string,
  claim: Claim,
  { againInMs, doing, failures, handle }: Release,
): Promise<void> {
  await sql`
    update wants set worker_id = null, handle = ${JSON.stringify(handle)}::jsonb,
      doing = case when generation = ${claim.generation} then ${doing} end,
      failures = case when generation = ${claim.generation} then ${failures}::integer else failures end,
      due_at = case when due_at = ${claim.due}::timestamptz
        then clock_timestamp() + ${againInMs}::float8 * interval '1 millisecond' else due_at end
    where kind = ${claim.kind} and id = ${claim.id} and worker_id = ${workerId}`.execute(sqlDb);
}

/**
 * Keeps the claim, and notes what is being done. Returns false if the want is no longer this worker's or has changed.
 */
export async function keep(sqlDb: Sql, workerId: string, claim: Claim, doing: string | null): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update wants set doing = ${doing}, handle = ${JSON.stringify(claim.handle)}::jsonb
    where ${mineOf(workerId, claim)}`.execute(sqlDb);
  return numAffectedRows === 1n;
}

/** Whether the want is still this worker's and unchanged. */
export async function isMine(sqlDb: Sql, workerId: string, claim: Claim): Promise<boolean> {
  const { rows } = await sql`select from wants where ${mineOf(workerId, claim)}`.execute(sqlDb);
  return rows.length === 1;
}

const mineOf = (workerId: string, { kind, id, generation }: Claim) => isOf({ kind, id, generation, workerId });
const isOf = ({ kind, id, generation, workerId }: Mine) =>
  sql`kind = ${kind} and id = ${id} and worker_id = ${workerId} and generation = ${generation}`;

/**
 * Settles the want in one statement. Wants that come after it may begin, and what it needed may be removed. Returns whether
 * tasks still wait for it. @throws Overtaken
 */
export async function noteSettled(
  { sql: db, announce }: Pick<Database | Transaction, 'announce' | 'sql'>,
  workerId: string,
  { claim, observed }: { claim: Claim; observed: object | null },
): Promise<boolean> {
  const { kind, id, generation, spec, handle } = claim;
  const name = { kind, id, generation, workerId, key: keyOf(claim) };
  const [settled] =
    spec === null
      ? await noteGone(db, name)
      : await notePresent(db, {
          ...name,
          observed: JSON.stringify(withoutSecret(observed)),
          handle: JSON.stringify(handle),
          uses: orderOf(kind, spec).uses,
        });
  if (!settled) throw new Overtaken();
  if (settled.wakes) announce(WANTED);
  return settled.awaited;
}

interface Mine {
  kind: Kind;
  id: string;
  generation: number;
  workerId: string;
}

const noteGone = compiledQuery((db, args: Mine & { key: string }) =>
  settling(args, sql`delete from wants where ${isOf(args)} returning id`).compile(db),
);
const notePresent = compiledQuery(
  (db, args: Mine & { key: string; observed: string; handle: string; uses: string[] }) =>
    settling(
      args,
      sql`
        update wants set settled_generation = generation, observed = ${args.observed}::jsonb,
          handle = ${args.handle}::jsonb, uses = ${args.uses}, doing = null, failures = 0, due_at = null, worker_id = null
        where ${isOf(args)} returning id`,
    ).compile(db),
);

// What uses nothing frees nothing: while tables are new, PostgreSQL would read all wants for it.
const settling = (args: Mine & { key: string }, note: RawBuilder<unknown>) =>
  sql<{ wakes: boolean; awaited: boolean }>`
    with former as (select uses from wants where ${isOf(args)}), settled as (${note}), next as (
      update wants set due_at = clock_timestamp()
      where after @> array[${args.key}] and after <> '{}' and due_at is not null
        and exists (select from settled) returning id
    ), freed as (
      update wants set due_at = clock_timestamp()
      from former cross join unnest(former.uses) as used (key)
      where former.uses <> '{}' and kind = split_part(key, ':', 1) and id = split_part(key, ':', 2)::uuid
        and spec is null and due_at is not null and exists (select from settled) returning id
    )
    select exists (select from next) or exists (select from freed) as wakes,
      exists (select from task_wants where task_wants.kind = ${args.kind} and want_id = ${args.id}) as awaited
    from settled`;

function withoutSecret(observed: object | null): object | null {
  if (observed === null) return null;
  const { secret: _, ...known } = observed as { secret?: unknown };
  return known;
}

/**
 * Returns what the want has to wait for; undefined if it may continue. A need counts as met once it has
 * existed: a change of it that is refused must not hold up everything that needs it.
 */
export async function obstacleOf(sqlDb: Sql, claim: Claim): Promise<string | undefined> {
  if (claim.spec !== null && claim.after.length === 0) return undefined;
  const { rows } =
    claim.spec === null
      ? await sql<{ kind: string; id: string }>`
          select kind, id from wants where uses @> array[${keyOf(claim)}] and uses <> '{}' limit 1`.execute(sqlDb)
      : await sql<{ kind: string; id: string }>`
          select kind, id from wants join unnest(${claim.after}::text[]) as wanted (key)
            on kind = split_part(key, ':', 1) and id = split_part(key, ':', 2)::uuid
          where settled_generation is null or spec is null limit 1`.execute(sqlDb);
  const [first] = rows;
  return first && `waiting for ${titleOf(first)}`;
}

/** Returns the wants that the database counts as this worker's: their generations by key. */
export async function claimedBy(sqlDb: Sql, workerId: string): Promise<Map<string, number>> {
  const rows = await sqlDb
    .selectFrom('wants')
    .select(['kind', 'id', 'generation'])
    .where('worker_id', '=', workerId)
    .execute();
  return new Map(rows.map(({ kind, id, generation }) => [`${kind}:${id}`, generation]));
}

/** Releases some claims unchanged, by key. */
export async function giveBack(sqlDb: Sql, workerId: string, keys: readonly string[]): Promise<void> {
  await sql`
    update wants set worker_id = null
    where worker_id = ${workerId} and kind || ':' || id = any(${[...keys]}::text[])`.execute(sqlDb);
}

/** Releases the claims of dead workers. Returns how many there were. */
export async function takeFromDead(sqlDb: Sql): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    with dead as materialized (
      select kind, id from wants where worker_id is not null and ${WORKER_IS_DEAD} for no key update skip locked
    )
    update wants set worker_id = null from dead where wants.kind = dead.kind and wants.id = dead.id`.execute(sqlDb);
  return Number(numAffectedRows);
}
