import { isoSeconds } from '../../../lib/time.ts';
import type { Project } from './schema.ts';
import type { ListedProjectRow, ProjectRow } from './store.ts';

export function presentedProject(row: ProjectRow | ListedProjectRow): Project {
  const deletedAt = 'deleted_at' in row ? row.deleted_at : null;
  const taskId = row.deletion_task_id;
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    client_id: row.client_id,
    is_default: row.is_default,
    state: deletedAt ? 'DELETED' : taskId === null ? 'ACTIVE' : 'DELETING',
    task_id: taskId,
    created_at: isoSeconds(row.created_at),
    deleted_at: deletedAt && isoSeconds(deletedAt),
  };
}
