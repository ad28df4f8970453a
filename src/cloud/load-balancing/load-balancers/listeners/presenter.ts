import { NO_TRAFFIC } from '../presenter.ts';
import type { Forest } from '../tree/parts.ts';
import type { ListenerAnswer } from './schema.ts';

const FORWARDED = { 'X-Forwarded-For': 'true', 'X-Forwarded-Port': 'true', 'X-Forwarded-Proto': 'true' };

export function presentedListener(
  row: Forest['listeners'][number],
  forest: Forest,
  { stats }: { stats: boolean },
): ListenerAnswer {
  const policies = forest.policiesOf.get(row.id) ?? [];
  const redirects = policies.flatMap(({ redirect_pool_id }) => redirect_pool_id ?? []);
  return {
    id: row.id,
    load_balancer_id: row.load_balancer_id,
    name: row.name,
    protocol: row.protocol,
    protocol_port: row.protocol_port,
    provisioning_status: row.provisioning_status,
    operating_status: forest.statuses.get(row.id) ?? 'OFFLINE',
    admin_state_up: row.admin_state_up,
    connection_limit: row.connection_limit,
    insert_headers: row.insert_x_forwarded ? FORWARDED : {},
    allowed_cidrs: row.allowed_cidrs,
    timeout_client_data: row.timeout_client_data,
    timeout_member_connect: row.timeout_member_connect,
    timeout_member_data: row.timeout_member_data,
    pool_count: new Set([...(row.default_pool_id ? [row.default_pool_id] : []), ...redirects]).size,
    secret_id: row.secret_id,
    sni_secret_id: row.sni_secret_ids,
    stats: stats ? NO_TRAFFIC : null,
    user_list: row.user_list,
    creator_task_id: row.creator_task_id,
    task_id: row.task_id,
  };
}
