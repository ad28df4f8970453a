import { announce, announceAll } from '../../../db/changes.ts';
import type { Transaction } from '../../../db/database.ts';
import { ConflictError } from '../../../lib/errors.ts';
import { found } from '../../../lib/ids.ts';
import { PROJECT_TOPIC } from './service.ts';
import { lockProject, markDeleting, type ProjectRow } from './store.ts';

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
    throw new ConflictError(
      `Project ${projectId} is being deleted by task ${project.deletion_task_id} already`,
    );
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
