import { announce } from '../../../db/changes.ts';
import { type Database, violates } from '../../../db/database.ts';
import { lockToAdd } from '../../../iam/accounts/in-transaction.ts';
import type { Clock } from '../../../lib/clock.ts';
import { ConflictError } from '../../../lib/errors.ts';
import { found } from '../../../lib/found.ts';
import type { Principal } from '../../../requests/principal.ts';
import type { Catalog } from '../../ground/catalog/service.ts';
import {
  insertProject,
  lockProject,
  type ProjectRow,
  refuseDefault,
  updateProject,
} from '../../ground/projects/in-transaction.ts';
import type { CreateProject, UpdateProject } from '../../ground/projects/schema.ts';
import { PROJECT_TOPIC, type Projects } from '../../ground/projects/service.ts';
import { refuseOneMore } from '../../ground/quotas/in-transaction.ts';
import type { Tasks } from '../../ground/tasks/service.ts';
import { prepareProjects, removeEmpty } from './in-transaction.ts';

/** Use cases that create, change and delete projects. Default projects are created and deleted with their account. */
export interface ProjectChanges {
  /** Creates a project in the caller's account, ready for use. @throws ConflictError when the name is taken */
  create(principal: Principal, request: CreateProject): Promise<ProjectRow>;
  /** @throws NotFoundError, ConflictError when the name is taken */
  update(principal: Principal, projectId: number, request: UpdateProject): Promise<ProjectRow>;
  /**
   * Deletes an empty project. Returns the ID of the task.
   * @throws NotFoundError, ConflictError when it is the default project or still contains something
   */
  delete(principal: Principal, projectId: number, requestId: string): Promise<string>;
}

export function createProjectChanges(deps: {
  database: Database;
  clock: Clock;
  catalog: Pick<Catalog, 'regions'>;
  tasks: Pick<Tasks, 'done'>;
  projects: Pick<Projects, 'project' | 'forget'>;
}): ProjectChanges {
  const { database, clock, catalog, tasks, projects } = deps;

  return {
    async create(principal, { name, description = null }) {
      const { clientId } = principal;
      return withFreeName(name, () =>
        database.accept(principal, async (tx) => {
          await lockToAdd(tx, clientId);
          await refuseOneMore(tx, { clientId }, 'project_count');
          const made = await insertProject(tx, { clientId, name, description, now: clock.now() });
          principal.writes?.about({ ...made, type: 'project' });
          await prepareProjects(tx, catalog, clock.now(), clientId);
          return made;
        }),
      );
    },

    async update(principal, projectId, request) {
      const known = await projects.project(principal, projectId);
      if (Object.keys(request).length === 0) return known;
      const changed = await withFreeName(request.name ?? known.name, () =>
        database.accept(principal, async (tx) => {
          const row = found('Project', projectId, await updateProject(tx, projectId, request));
          principal.writes?.about({ ...row, type: 'project' });
          await announce(tx.client, PROJECT_TOPIC, projectId);
          return row;
        }),
      );
      projects.forget(projectId);
      return changed;
    },

    async delete(principal, projectId, requestId) {
      await projects.project(principal, projectId);
      const taskId = await database.accept(principal, async (tx) => {
        const project = found('Project', projectId, await lockProject(tx, projectId));
        principal.writes?.about({ ...project, type: 'project' });
        refuseDefault(project);
        await removeEmpty(tx, project, { regions: catalog.regions, now: clock.now() });
        // The project was empty, so the task is finished at once; what it came with is removed in the background.
        return tasks.done(
          tx,
          { projectId, regionId: null, clientId: project.client_id, principal, requestId },
          { type: 'delete_project', data: { project_id: projectId }, created: null },
        );
      });
      projects.forget(projectId);
      return taskId;
    },
  };
}

async function withFreeName<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!violates(error, 'projects_by_name')) throw error;
    throw new ConflictError(`The account already has a project named "${name}"; choose another name`);
  }
}
