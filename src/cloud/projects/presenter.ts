import { isoSeconds } from '../../lib/timestamps.ts';
import type { Project } from './schema.ts';
import type { ListedProjectRow, ProjectRow } from './store.ts';

export function presentedProject(row: ProjectRow | ListedProjectRow): Project {
  const deletedAt = 'deleted_at' in row ? row.deleted_at : null;
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    client_id: row.client_id,
    is_default: row.is_default,
    state: deletedAt ? 'DELETED' : 'ACTIVE',
    task_id: null,
    created_at: isoSeconds(row.created_at),
    deleted_at: deletedAt && isoSeconds(deletedAt),
  };
}
