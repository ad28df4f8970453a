import { commonFields } from '../../../lib/resource-fields.ts';
import { offsetTimestamp } from '../../../lib/time.ts';
import type { Scope } from '../../../platform.ts';
import type { FloatingIpAnswer } from './schema.ts';
import type { FloatingIpRow } from './store.ts';

export function presentedFloatingIp(row: FloatingIpRow, scope: Scope): FloatingIpAnswer {
  const leads = row.port_id !== null && row.task_id !== row.creator_task_id;
  return {
    id: row.id,
    floating_ip_address: row.address,
    fixed_ip_address: row.fixed_address,
    port_id: row.port_id,
    router_id: row.router_id,
    status: leads ? 'ACTIVE' : 'DOWN',
    ...commonFields(row, scope),
    updated_at: offsetTimestamp(row.updated_at),
  };
}
