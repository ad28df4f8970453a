import type { ChangeFeed } from '../../../db/changes.ts';
import type { Database } from '../../../db/database.ts';
import type { Place } from '../../../db/place.ts';
import { createRowCache } from '../../../db/row-cache.ts';
import { ConflictError, NotFoundError } from '../../../lib/errors.ts';
import { found } from '../../../lib/found.ts';
import type { Page } from '../../../lib/page.ts';
import { ownsClient, type Principal } from '../../../requests/principal.ts';
import type { Catalog, Region } from '../catalog/service.ts';
import type { ProjectListQuery } from './schema.ts';
import { findProject, type ListedProjectRow, listProjects, type ProjectRow } from './store.ts';

/** Project and region of a cloud request: a project of the caller, and a region of the catalogue. */
export interface Scope extends Place {
  region: Region;
  /** The account that owns the project. For the platform's administrator, this is not the caller's account. */
  clientId: number;
  principal: Principal;
  requestId: string;
  /** The task that the work is for, if it was accepted before and had to wait. */
  taskId?: string;
}

interface ScopeRequest {
  principal: Principal;
  requestId: string;
  projectId: number;
  regionId: number;
}

export interface Projects {
  /**
   * @throws NotFoundError, the same one for an unknown project, an unknown region and another account's project;
   * ConflictError for a change while the project is deleted with everything in it
   */
  scope(request: ScopeRequest): Promise<Scope>;
  /** Returns the project if it is the caller's. @throws NotFoundError */
  project(principal: Principal, projectId: number): Promise<ProjectRow>;
  /** Drops a project from the cache. Call it after the commit that changed it, in addition to announcing it. */
  forget(projectId: number): void;
  list(principal: Principal, query: ProjectListQuery): Promise<Page<ListedProjectRow>>;
}

/** The topic on which changes of projects are announced. */
export const PROJECT_TOPIC = 'project';

export function createProjects(deps: {
  database: Database;
  changes: ChangeFeed;
  catalog: Catalog;
}): Projects {
  const rows = createRowCache(deps.changes, PROJECT_TOPIC, (id) => findProject(deps.database.sql, id));

  async function project(principal: Principal, projectId: number): Promise<ProjectRow> {
    const row = await rows.get(projectId);
    if (!row || !ownsClient(principal, row.client_id)) throw new NotFoundError('Project', projectId);
    principal.writes?.concerns(row.client_id);
    return row;
  }

  return {
    project,
    forget: (projectId) => rows.forget(projectId),
    async scope({ principal, requestId, projectId, regionId }) {
      const { client_id: clientId, deletion_task_id: deletion } = await project(principal, projectId);
      const region = found('Region', regionId, deps.catalog.regions.get(regionId));
      if (deletion !== null && principal.writes) {
        throw new ConflictError(
          `Project ${projectId} is being deleted with everything in it by task ${deletion}`,
        );
      }
      return { projectId, regionId, region, clientId, principal, requestId };
    },
    list: (principal, query) => listProjects(deps.database.sql, principal.clientId, query),
  };
}
