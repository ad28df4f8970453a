import type { ChangeFeed } from '../../db/changes.ts';
import type { Database } from '../../db/database.ts';
import { createRowCache } from '../../db/row-cache.ts';
import { ownsClient, type Principal } from '../../iam/identity/principal.ts';
import { NotFoundError } from '../../lib/errors.ts';
import type { Catalog, Region } from '../catalog/catalog.ts';
import type { ProjectListQuery } from './schema.ts';
import { findProject, listProjects, type ProjectRow } from './store.ts';

/** Where a cloud request works: a project of the caller in a region of the catalogue. */
export interface Scope {
  projectId: number;
  region: Region;
  /** The account that owns the project, which isn't the caller's for the platform's administrator. */
  clientId: number;
  principal: Principal;
  requestId: string;
}

export interface Projects {
  /** @throws NotFoundError for an unknown project or region and for another account's, all alike */
  scope(
    caller: { principal: Principal; requestId: string },
    ids: { project_id: number; region_id: number },
  ): Promise<Scope>;
  /** The project, if it is the caller's. @throws NotFoundError */
  project(principal: Principal, projectId: number): Promise<ProjectRow>;
  list(principal: Principal, query: ProjectListQuery): Promise<{ count: number; rows: ProjectRow[] }>;
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
    return row;
  }

  return {
    project,
    async scope({ principal, requestId }, ids) {
      const { client_id: clientId } = await project(principal, ids.project_id);
      const region = deps.catalog.regions.get(ids.region_id);
      if (!region) throw new NotFoundError('Region', ids.region_id);
      return { projectId: ids.project_id, region, clientId, principal, requestId };
    },
    list: (principal, query) => listProjects(deps.database.sql, principal.clientId, query),
  };
}
