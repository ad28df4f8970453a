import { isoSeconds } from '../../lib/timestamps.ts';
import type { PortRow } from './port-rows.ts';
import type { PortAnswer } from './schema.ts';

export function presentedPort(row: PortRow): PortAnswer {
  return {
    id: row.id,
    network_id: row.network_id,
    mac_address: row.mac_address,
    ip_assignments: row.ip_assignments,
    security_group_ids: row.security_group_ids,
    allowed_address_pairs: row.allowed_address_pairs,
    port_security_enabled: row.port_security_enabled,
    managed_by: row.pool_id === null ? 'user' : 'system',
    capabilities: { allowed_address_pairs: true, port_security: true, security_groups: true },
    tags: row.tags,
    created_at: isoSeconds(row.created_at),
    updated_at: isoSeconds(row.updated_at),
  };
}
