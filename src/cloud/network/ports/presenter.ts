import { isoSeconds } from '../../../lib/timestamps.ts';
import type { PortRow } from './port-rows.ts';
import type { PortAnswer } from './schema.ts';

export function presentedPort(row: PortRow): PortAnswer {
  const changes = row.router_id === null;
  return {
    id: row.id,
    network_id: row.network_id,
    mac_address: row.mac_address,
    ip_assignments: row.ip_assignments,
    security_group_ids: row.security_group_ids,
    allowed_address_pairs: row.allowed_address_pairs,
    port_security_enabled: row.port_security_enabled,
    managed_by: row.pool_id === null && row.router_id === null ? 'user' : 'system',
    capabilities: { allowed_address_pairs: changes, port_security: changes, security_groups: changes },
    tags: row.tags,
    created_at: isoSeconds(row.created_at),
    updated_at: isoSeconds(row.updated_at),
  };
}
