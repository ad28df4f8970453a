import type { FieldProblem } from '../../../../lib/errors.ts';
import { newId } from '../../../../lib/ids.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { knownSecurityGroups } from '../../../network/security-groups/service.ts';
import type { PoolInput } from '../schema.ts';
import type { NewPool } from '../store.ts';

/** Fills in every default of a requested pool. */
export function newPool(pool: PoolInput): NewPool {
  return {
    id: newId(),
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

/** Returns the problems of pools' security groups. Each `path` in the body is empty or ends with a dot. */
export async function poolGroupProblems(
  on: Platform,
  scope: Scope,
  pools: readonly { path: string; ids: readonly string[] }[],
): Promise<FieldProblem[]> {
  const asked = [...new Set(pools.flatMap(({ ids }) => ids))];
  if (asked.length === 0) return [];
  const known = await knownSecurityGroups(on, scope, asked);
  return pools.flatMap(({ path, ids }) =>
    ids.flatMap((id, position): FieldProblem[] => {
      const field = `${path}security_group_ids.${position}`;
      const earlier = ids.findIndex((other) => other.toLowerCase() === id.toLowerCase());
      if (earlier < position) return [{ field, message: `Contains the group ${id} twice. List it once.` }];
      return known.has(id.toLowerCase())
        ? []
        : [
            {
              field,
              message: `Unknown security group ${id}. Must be a security group in this project and region.`,
            },
          ];
    }),
  );
}
