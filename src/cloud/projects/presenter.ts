import { isoSeconds } from '../../lib/timestamps.ts';
import type { Project } from './schema.ts';
import type { ProjectRow } from './store.ts';

export function presentedProject(row: ProjectRow): Project {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    client_id: row.client_id,
    is_default: row.is_default,
    state: row.deleted_at ? 'DELETED' : 'ACTIVE',
    task_id: null,
    created_at: isoSeconds(row.created_at),
    deleted_at: row.deleted_at && isoSeconds(row.deleted_at),
  };
}
