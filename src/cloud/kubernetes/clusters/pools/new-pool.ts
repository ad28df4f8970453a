import { randomUUID } from 'node:crypto';
import type { PoolInput } from '../schema.ts';
import type { NewPool } from '../store.ts';

/** Fills in every default of a requested pool. */
export function newPool(pool: PoolInput): NewPool {
  return {
    id: randomUUID(),
    name: pool.name,
    flavor_id: pool.flavor_id,
    min_node_count: pool.min_node_count,
    max_node_count: pool.max_node_count ?? pool.min_node_count,
    node_count: pool.min_node_count,
    boot_volume_size: pool.boot_volume_size ?? null,
    boot_volume_type: pool.boot_volume_type ?? null,
    servergroup_policy: pool.servergroup_policy ?? null,
    auto_healing_enabled: pool.auto_healing_enabled ?? false,
    is_public_ipv4: pool.is_public_ipv4 ?? false,
    labels: pool.labels ?? {},
    taints: pool.taints ?? {},
    crio_config: pool.crio_config ?? {},
    kubelet_config: pool.kubelet_config ?? {},
    security_group_ids: (pool.security_group_ids ?? []).map((id) => id.toLowerCase()),
  };
}
