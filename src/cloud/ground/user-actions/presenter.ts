import { isoMicros } from '../../../lib/time.ts';
import type { UserAction } from './schema.ts';
import type { ListedAction } from './store.ts';

export function presentedAction(row: ListedAction): UserAction {
  const { id, client_id, user_id, email, project_id, region_id, task_id, user_agent, token_id } = row;
  const { resource_types: types, resource_ids: ids, resource_names: names } = row;
  // The list only has rows with both.
  if (row.api_group === null || row.action_type === null) throw new TypeError(`Action ${id} has no group`);
  return {
    id: String(id),
    // The published format. Most parsers understand an offset in digits.
    timestamp: isoMicros(row.timestamp).replace('Z', '+00:00'),
    client_id,
    user_id,
    email,
    project_id,
    region_id,
    api_group: row.api_group,
    action_type: row.action_type,
    action_data: null,
    task_id,
    user_agent,
    source_user_ip: row.source_user_ip,
    acknowledged: row.acknowledged,
    is_complete: (ids ?? []).length > 0,
    total_price: null,
    token_id,
    issued_by_user_id: token_id === null ? null : user_id,
    resources: (ids ?? []).map((id, index) => ({
      resource_id: id,
      resource_type: types?.[index] ?? '',
      resource_body: null,
      search_field: names?.[index] ?? null,
    })),
  };
}
