import { commonFields } from '../../lib/resource-answer.ts';
import { offsetTimestamp } from '../../lib/timestamps.ts';
import type { InstanceAnswer } from '../instances/schema.ts';
import type { Scope } from '../projects/service.ts';
import type { FloatingIpAnswer, ListedFloatingIp } from './schema.ts';
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

/** Presents a floating IP in a list. `instances` are keyed by their ports. */
export function listedFloatingIp(
  row: FloatingIpRow,
  scope: Scope,
  instances: ReadonlyMap<string, InstanceAnswer>,
): ListedFloatingIp {
  const instance = instances.get(row.port_id ?? '') ?? null;
  return { ...presentedFloatingIp(row, scope), instance, loadbalancer: null };
}
