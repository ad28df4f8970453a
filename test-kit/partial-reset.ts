import { sql } from 'kysely';
import { dropObjects } from '../simulation/index.ts';
import type { Catalog } from '../src/cloud/ground/catalog/service.ts';
import { markStaying } from '../src/cloud/ground/projects/in-transaction.ts';
import { PROJECT_TOPIC } from '../src/cloud/ground/projects/service.ts';
import { recountQuotas } from '../src/cloud/ground/quotas/service.ts';
import * as addresses from '../src/cloud/network/addresses/in-transaction.ts';
import { prepareProjects } from '../src/cloud/network/project-changes/service.ts';
import { keyOf, type Name } from '../src/convergence/wants.ts';
import { announceAll } from '../src/db/changes.ts';
import type { Database, Transaction } from '../src/db/database.ts';
import { NotFoundError } from '../src/lib/errors.ts';
import { deleteTasksOf } from '../src/streaming/ai-tasks/service.ts';
import { deleteBelongings } from '../src/tradewind/deletions/in-transaction.ts';
import type { Calls } from './calls.ts';
import { LOGS, type Snapshots } from './snapshots.ts';
import type { Alone } from './turns.ts';

/** Returns when no worker makes any more what is gone. Workers learn that only at their next look at it. */
export async function leaveNothing(
  { calls, database }: { calls: Pick<Calls, 'end'>; database: Pick<Database, 'transaction'> },
  gone: readonly Name[],
): Promise<void> {
  if (gone.length === 0) return;
  await calls.end(gone.map(keyOf));
  // A call that had begun before may have made something after all.
  await database.transaction(async (tx) => dropObjects(tx, gone));
}

/** Empties single projects and accounts, whatever is going on in them. */
export interface PartialReset {
  /** Leaves the project as a new one. @throws NotFoundError */
  project(id: number): Promise<void>;
  /** Leaves the account with an empty default project, its users and its API tokens. @throws NotFoundError */
  client(id: number): Promise<void>;
}

const AI_TASKS_AT_ONCE = 10_000;

export function createPartialReset(deps: {
  database: Database;
  catalog: Pick<Catalog, 'keptIn' | 'regions'>;
  calls: Pick<Calls, 'end'>;
  alone: Alone;
  lock: Snapshots['lock'];
}): PartialReset {
  const { database, catalog, calls, alone, lock } = deps;

  /** Returns when nothing makes any more what was emptied. */
  async function emptied(work: (tx: Transaction) => Promise<Name[]>): Promise<void> {
    await alone(lock, work, (gone) => leaveNothing({ calls, database }, gone));
  }

  return {
    project: (id) =>
      emptied(async (tx) => {
        const [project] = await lockProjects(tx, sql`id = ${id}`);
        if (!project) throw new NotFoundError('Project', id);
        const gone = await empty(tx, [id]);
        await recountQuotas(tx, project.client_id);
        await prepareProjects(tx, catalog, project.client_id);
        return gone;
      }),

    client: (id) =>
      emptied(async (tx) => {
        const projects = await lockProjects(tx, sql`client_id = ${id}`);
        if (projects.length === 0) throw new NotFoundError('Client', id);
        const ids = projects.map((one) => one.id);
        const gone = await empty(tx, ids);
        await sql`delete from ${sql.table('projects')} where client_id = ${id} and not is_default`.execute(tx.sql);
        await sql`delete from ${sql.table('deleted_projects')} where client_id = ${id}`.execute(tx.sql);
        await sql`delete from ${sql.table('idempotency_keys')} where client_id = ${id}`.execute(tx.sql);
        while ((await deleteTasksOf(tx, id, AI_TASKS_AT_ONCE)) === AI_TASKS_AT_ONCE);
        await deleteBelongings(tx, id);
        await prepareProjects(tx, catalog, id);
        await announceAll(tx.client, PROJECT_TOPIC, ids);
        return gone;
      }),
  };
}

async function lockProjects(
  tx: Transaction,
  which: ReturnType<typeof sql>,
): Promise<{ id: number; client_id: number }[]> {
  const { rows } = await sql<{ id: number; client_id: number }>`
    select id, client_id from projects where ${which} order by id for update`.execute(tx.sql);
  return rows;
}

/** Deletes every row of these projects, and what simulates them. Returns what was wanted. */
async function empty(tx: Transaction, ids: number[]): Promise<Name[]> {
  await addresses.releaseOfProjects(tx, ids);
  const { rows: gone } = await tx.client.query<Name>('select kind, id from wants where project_id = any($1)', [ids]);
  // In one statement, so that references are only checked when all of it is gone.
  const deletions = (await rowsOfProjects(tx)).map(
    ({ table, where }, index) => `gone_${index} as (delete from ${table} where ${where} returning 1)`,
  );
  await tx.client.query(`with ${deletions.join(', ')} select`, [ids]);
  await markStaying(tx, ids);
  return gone;
}

interface Rows {
  table: string;
  where: string;
}

const WANTED = '(select kind, id from wants where project_id = any($1::bigint[]))';
/** They refer to wants without a constraint. */
const OF_WANTS: readonly Rows[] = [
  { table: 'task_wants', where: `(kind, want_id) in ${WANTED}` },
  { table: 'want_secrets', where: `(kind, want_id) in ${WANTED}` },
  { table: 'simulated_objects', where: `(kind, id) in ${WANTED}` },
  { table: 'simulated_hosts', where: `('machine', machine_id) in ${WANTED}` },
];

/** Returns the tables with rows of projects: those that name one, and those that refer to such rows. */
async function rowsOfProjects({ client }: Transaction): Promise<Rows[]> {
  const { rows: tables } = await client.query<{ table: string; names_project: boolean; refers: Reference[] }>(
    `select format('%I', relname) as table,
       exists (select from pg_attribute where attrelid = pg_class.oid and attname = 'project_id' and not attisdropped) as names_project,
       coalesce((
         select jsonb_agg(jsonb_build_object('to', format('%I', other.relname),
           'columns', (select string_agg(format('%I', attname), ', ' order by place)
             from unnest(conkey) with ordinality as own (number, place) join pg_attribute on attrelid = conrelid and attnum = number),
           'their', (select string_agg(format('%I', attname), ', ' order by place)
             from unnest(confkey) with ordinality as own (number, place) join pg_attribute on attrelid = confrelid and attnum = number)))
         from pg_constraint join pg_class as other on other.oid = confrelid
         where conrelid = pg_class.oid and contype = 'f' and confrelid <> conrelid and conparentid = 0), '[]') as refers
     from pg_class
     where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace
       and relname <> all($1)`,
    [[...LOGS, 'projects']],
  );
  const byName = new Map(tables.map((one) => [one.table, one]));
  const conditionOf = (table: string, above: readonly string[]): string | undefined => {
    const known = byName.get(table);
    if (!known || above.includes(table)) return undefined;
    if (known.names_project) return 'project_id = any($1::bigint[])';
    const through = known.refers.flatMap(({ to, columns, their }) => {
      const condition = conditionOf(to, [...above, table]);
      return condition === undefined ? [] : [`(${columns}) in (select ${their} from ${to} where ${condition})`];
    });
    return through.length === 0 ? undefined : through.join(' or ');
  };
  const owned = tables.flatMap(({ table }): Rows[] => {
    const where = conditionOf(table, []);
    return where === undefined ? [] : [{ table, where }];
  });
  return [...owned, ...OF_WANTS];
}

interface Reference {
  to: string;
  columns: string;
  their: string;
}
