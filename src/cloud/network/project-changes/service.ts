import { forgetElsewhere, wantAt, wantNothingOf } from '../../../convergence/wants.ts';
import { announce } from '../../../db/changes.ts';
import { type Transaction, violates } from '../../../db/database.ts';
import { lockToAdd } from '../../../iam/accounts/service.ts';
import { ConflictError } from '../../../lib/errors.ts';
import { found } from '../../../lib/ids.ts';
import type { Platform } from '../../../platform.ts';
import type { Principal } from '../../../requests/principal.ts';
import type { Catalog } from '../../ground/catalog/service.ts';
import * as projects from '../../ground/projects/in-transaction.ts';
import type { CreateProject, UpdateProject } from '../../ground/projects/schema.ts';
import { getProject, PROJECT_TOPIC } from '../../ground/projects/service.ts';
import { refuseOneMore } from '../../ground/quotas/service.ts';
import { recordDoneTask } from '../../ground/tasks/service.ts';
import { ensureDefaultNetworks, removeNetworksOf } from '../networks/defaults/in-transaction.ts';
import { ensureDefaultSecurityGroups, removeGroupsOf } from '../security-groups/defaults/in-transaction.ts';

/* A project comes with a network and a security group in every region, so it is made and removed here. */

const AT_ONCE = 1_000;

/**
 * Creates the default network and security group wherever they are missing, in the projects of one account or of all.
 * Does nothing for what is already there, so it can run at any time.
 */
export async function prepareProjects(
  tx: Transaction,
  catalog: Pick<Catalog, 'keptIn' | 'regions'>,
  clientId?: number,
): Promise<void> {
  const regions = [...catalog.regions.values()];
  const networks = await ensureDefaultNetworks(tx, catalog, clientId);
  const groups = await ensureDefaultSecurityGroups(tx, regions, clientId);
  const wanted = [...networks, ...groups];
  // One statement would be too large when many projects get a new region.
  for (let from = 0; from < wanted.length; from += AT_ONCE) await wantAt(tx, wanted.slice(from, from + AT_ONCE));
}

/**
 * Deletes a project that holds no more than what it came with, which is removed in the background. It must be locked.
 * @throws ConflictError if something else is left
 */
export async function removeEmpty(tx: Transaction, project: projects.ProjectRow, regions: Catalog['regions']) {
  const { id } = project;
  const left = await projects.leftIn(tx, id);
  if (left.length > 0) {
    throw new ConflictError(`Project ${id} still has ${left.join('; ')}; delete them first`);
  }
  // They count against no quota.
  await removeNetworksOf(tx, id);
  await removeGroupsOf(tx, id);
  await forgetElsewhere(tx, id, [...regions.keys()]);
  await wantNothingOf(tx, id);
  await projects.moveToDeleted(tx, project);
  await announce(tx.client, PROJECT_TOPIC, id);
}

/* Use cases that create, change and delete projects. Default projects are created and deleted with their account. */

/** Creates a project in the caller's account, ready for use. @throws ConflictError when the name is taken */
export async function createProject(
  on: Platform,
  principal: Principal,
  { name, description = null }: CreateProject,
): Promise<projects.ProjectRow> {
  const { clientId } = principal;
  return withFreeName(name, () =>
    on.database.accept(async (tx) => {
      await lockToAdd(tx, clientId);
      await refuseOneMore(tx, { clientId }, 'project_count');
      const made = await projects.insertProject(tx, { clientId, name, description });
      tx.about({ ...made, type: 'project' });
      await prepareProjects(tx, on.catalog, clientId);
      return made;
    }),
  );
}

/** @throws NotFoundError, ConflictError when the name is taken */
export async function updateProject(
  on: Platform,
  principal: Principal,
  projectId: number,
  request: UpdateProject,
): Promise<projects.ProjectRow> {
  const known = await getProject(on, principal, projectId);
  if (Object.keys(request).length === 0) return known;
  const changed = await withFreeName(request.name ?? known.name, () =>
    on.database.accept(async (tx) => {
      const row = found('Project', projectId, await projects.changeProject(tx, projectId, request));
      tx.about({ ...row, type: 'project' });
      await announce(tx.client, PROJECT_TOPIC, projectId);
      return row;
    }),
  );
  on.projectRows.forget(projectId);
  return changed;
}

/**
 * Deletes an empty project. Returns the ID of the task.
 * @throws NotFoundError, ConflictError when it is the default project or still contains something
 */
export async function deleteProject(on: Platform, principal: Principal, projectId: number, requestId: string) {
  await getProject(on, principal, projectId);
  const taskId = await on.database.accept(async (tx) => {
    const project = found('Project', projectId, await projects.lockProject(tx, projectId));
    tx.about({ ...project, type: 'project' });
    projects.refuseDefault(project);
    await removeEmpty(tx, project, on.catalog.regions);
    // The project was empty, so the task is finished at once; what it came with is removed in the background.
    return recordDoneTask(
      on,
      tx,
      { projectId, regionId: null, clientId: project.client_id, principal, requestId },
      { type: 'delete_project', data: { project_id: projectId }, created: null },
    );
  });
  on.projectRows.forget(projectId);
  return taskId;
}

async function withFreeName<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!violates(error, 'projects_by_name')) throw error;
    throw new ConflictError(`The account already has a project named "${name}"; choose another name`);
  }
}
