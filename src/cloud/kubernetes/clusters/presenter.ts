import { isoSeconds } from '../../../lib/timestamps.ts';
import type { ClusterAnswer, PoolAnswer } from './answer-schema.ts';
import type { ClusterRow, PoolRow } from './store.ts';
import type { ClusterStatus } from './tables.ts';

export function presentedCluster(row: ClusterRow): ClusterAnswer {
  const { authentication, ...groups } = row.configuration;
  return {
    id: row.id,
    name: row.name,
    version: row.version,
    keypair: row.keypair,
    status: row.status,
    is_public: true,
    pools: row.pools.map((pool) => presentedPool(pool, row.status)),
    ...groups,
    authentication: {
      oidc: authentication?.oidc ?? null,
      kubeconfig_created_at: row.kubeconfig_created_at && isoSeconds(row.kubeconfig_created_at),
      kubeconfig_expires_at: row.kubeconfig_expires_at && isoSeconds(row.kubeconfig_expires_at),
    },
    csi: { nfs: { vast_enabled: row.vast_nfs_enabled, ddn_enabled: false } },
    fixed_network: row.fixed_network,
    fixed_subnet: row.fixed_subnet,
    is_ipv6: row.is_ipv6,
    pods_ip_pool: row.pods_ip_pool,
    services_ip_pool: row.services_ip_pool,
    pods_ipv6_pool: row.pods_ipv6_pool,
    services_ipv6_pool: row.services_ipv6_pool,
    creator_task_id: row.creator_task_id,
    task_id: row.task_id,
    created_at: isoSeconds(row.created_at),
  };
}

const POOL_STATUS: Record<ClusterStatus, string> = {
  Provisioning: 'Provisioning',
  Provisioned: 'Running',
  Deleting: 'Deleting',
};

export function presentedPool(row: PoolRow, clusterStatus: ClusterStatus): PoolAnswer {
  return {
    id: row.id,
    name: row.name,
    flavor_id: row.flavor_id,
    min_node_count: row.min_node_count,
    max_node_count: row.max_node_count,
    node_count: row.node_count,
    boot_volume_size: row.boot_volume_size ?? 0,
    boot_volume_type: row.boot_volume_type ?? '',
    auto_healing_enabled: row.auto_healing_enabled,
    is_public_ipv4: row.is_public_ipv4,
    labels: row.labels,
    taints: row.taints,
    crio_config: row.crio_config,
    kubelet_config: row.kubelet_config,
    security_group_ids: row.security_group_ids,
    status: row.pending ?? POOL_STATUS[clusterStatus],
    created_at: isoSeconds(row.created_at),
    servergroup_id: row.servergroup_id ?? '',
    servergroup_name: row.servergroup_name ?? '',
    servergroup_policy: row.servergroup_policy ?? '',
  };
}
