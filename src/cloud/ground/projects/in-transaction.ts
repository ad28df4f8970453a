import { sql } from 'kysely';
import { announce, announceAll } from '../../../db/changes.ts';
import type { Sql, Transaction } from '../../../db/database.ts';
import { ConflictError } from '../../../lib/errors.ts';
import { found } from '../../../lib/ids.ts';
import { ALL_RESOURCES } from '../../../lib/resources.ts';
import { PROJECT_TOPIC } from './service.ts';
import { lockProject, markDeleting, type ProjectRow } from './store.ts';

export {
  changeProject,
  insertProject,
  lockProject,
  markStaying,
  moveToDeleted,
  type ProjectRow,
} from './store.ts';

/** Inserts the default project of an account. Every account always has one. */
export async function insertDefaultProject(db: Sql, clientId: number, now: Date): Promise<void> {
  await db
    .insertInto('projects')
    .values({ client_id: clientId, name: 'Default', description: null, is_default: true, created_at: now })
    .execute();
}

/** What clients keep in a project. */
const KEPT = ALL_RESOURCES.flatMap(([, { kept, table, many }]) => (kept && table ? { ...kept, table, many } : []));

export const TABLES_OF_PROJECTS: readonly string[] = KEPT.flatMap(({ from, table }) => (from ? [] : [table]));

/** Returns what is left in a project: count and regions of each kind. Empty if only what it came with is left. */
export async function leftIn(tx: Transaction, projectId: number): Promise<string[]> {
  const kinds = KEPT.map(({ many, table, from = table, own = 'true', anywhere }) => {
    const regions = anywhere ? 'null' : 'array_agg(distinct region_id)';
    return sql`select ${many}::text as kind, count(*)::int as count, ${sql.raw(regions)}::bigint[] as regions
      from ${sql.raw(from)} where project_id = ${projectId} and ${sql.raw(own)}`;
  });
  const { rows } = await sql<{
    kind: string;
    count: number;
    regions: number[] | null;
  }>`${sql.join(kinds, sql` union all `)}`.execute(tx.sql);
  return rows
    .filter(({ count }) => count > 0)
    .map(({ kind, count, regions }) =>
      regions === null ? `${kind}: ${count}` : `${kind}: ${count} in ${place(regions)}`,
    );
}

function place(regions: number[]): string {
  return `region${regions.length === 1 ? '' : 's'} ${regions.join(', ')}`;
}

/** @throws ConflictError for the default project of an account, which goes with the account */
export function refuseDefault({ id, is_default }: ProjectRow): void {
  if (!is_default) return;
  throw new ConflictError(`Project ${id} is the default project of its account and can't be deleted`);
}

/**
 * Lets the project take in nothing new, since the task deletes it with everything in it.
 * @throws NotFoundError, ConflictError for a default project and for one that another task deletes
 */
export async function beginRemoval(tx: Transaction, projectId: number, taskId: string): Promise<ProjectRow> {
  const project = found('Project', projectId, await lockProject(tx, projectId));
  refuseDefault(project);
  if (project.deletion_task_id !== null) {
    throw new ConflictError(`Project ${projectId} is being deleted by task ${project.deletion_task_id} already`);
  }
  await markDeleting(tx, { id: projectId }, taskId);
  await announce(tx.client, PROJECT_TOPIC, projectId);
  return project;
}

/** Does the same for all projects of an account that goes with them. */
export async function beginRemovalOfAll(tx: Transaction, clientId: number, taskId: string): Promise<void> {
  const ids = await markDeleting(tx, { clientId }, taskId);
  await announceAll(tx.client, PROJECT_TOPIC, ids);
}
