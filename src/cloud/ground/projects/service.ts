import { type ChangeFeed, createRowCache } from '../../../db/changes.ts';
import type { Database } from '../../../db/database.ts';
import { ConflictError, NotFoundError } from '../../../lib/errors.ts';
import { found } from '../../../lib/ids.ts';
import { noteAccount, recordNow } from '../../../lib/request-context.ts';
import { isoSeconds } from '../../../lib/time.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { ownsClient, type Principal, projectsSeen } from '../../../requests/principal.ts';
import type { Project, ProjectListQuery } from './schema.ts';
import * as store from './store.ts';

interface ScopeRequest {
  principal: Principal;
  requestId: string;
  projectId: number;
  regionId: number;
}

/** The topic on which changes of projects are announced. */
export const PROJECT_TOPIC = 'project';

export const cacheProjects = ({ changes, database }: { changes: ChangeFeed; database: Database }) =>
  createRowCache(changes, PROJECT_TOPIC, (id) => store.findProject(database.sql, id));

/** Returns the project if it is the caller's. @throws NotFoundError */
export async function getProject(on: Platform, principal: Principal, projectId: number): Promise<store.ProjectRow> {
  const row = await on.projectRows.get(projectId);
  if (!row || !ownsClient(principal, row.client_id)) throw new NotFoundError('Project', projectId);
  noteAccount(row.client_id);
  return row;
}

/**
 * @throws NotFoundError, the same one for an unknown project, an unknown region and another account's project;
 * ConflictError for a change while the project is deleted with everything in it
 */
export async function findScope(
  on: Platform,
  { principal, requestId, projectId, regionId }: ScopeRequest,
): Promise<Scope> {
  const { client_id: clientId, deletion_task_id: deletion } = await getProject(on, principal, projectId);
  const region = found('Region', regionId, on.catalog.regions.get(regionId));
  if (deletion !== null && recordNow()) {
    throw new ConflictError(`Project ${projectId} is being deleted with everything in it by task ${deletion}`);
  }
  return { projectId, regionId, region, clientId, principal, requestId };
}

export const listProjects = (on: Platform, principal: Principal, query: ProjectListQuery) =>
  store.listProjects(on.database.sql, principal.clientId, query, projectsSeen(principal));

export function presentedProject(row: store.ProjectRow | store.ListedProjectRow): Project {
  const deletedAt = 'deleted_at' in row ? row.deleted_at : null;
  const taskId = row.deletion_task_id;
  return {
    ...row,
    state: deletedAt ? 'DELETED' : taskId === null ? 'ACTIVE' : 'DELETING',
    task_id: taskId,
    created_at: isoSeconds(row.created_at),
    deleted_at: deletedAt && isoSeconds(deletedAt),
  };
}
