import type { JSONColumnType } from 'kysely';
import type { ClusterConfiguration } from './configuration/configuration.ts';

export type ClusterStatus = 'Provisioning' | 'Provisioned' | 'Deleting';

export interface ClusterTables {
  kubernetes_clusters: {
    id: string;
    project_id: number;
    region_id: number;
    name: string;
    /** With the leading `v`. */
    version: string;
    keypair: string;
    status: ClusterStatus;
    vast_nfs_enabled: boolean;
    fixed_network: string | null;
    fixed_subnet: string | null;
    is_ipv6: boolean;
    pods_ip_pool: string;
    services_ip_pool: string;
    pods_ipv6_pool: string | null;
    services_ipv6_pool: string | null;
    /** The configuration that the cluster runs with. A running update changes it only when it succeeds. */
    configuration: JSONColumnType<ClusterConfiguration>;
    /** The configuration that a running update will give the cluster; null while no update runs. */
    next_configuration: JSONColumnType<ClusterConfiguration> | null;
    creator_task_id: string;
    /** The task that holds the cluster; null while the cluster may be changed. */
    task_id: string | null;
    created_at: Date;
  };
  kubernetes_pools: {
    id: string;
    cluster_id: string;
    /** The pools' order in the request. */
    position: number;
    name: string;
    flavor_id: string;
    min_node_count: number;
    max_node_count: number;
    node_count: number;
    /** In GiB; null for bare metal, as are the next two. */
    boot_volume_size: number | null;
    boot_volume_type: string | null;
    servergroup_policy: string | null;
    auto_healing_enabled: boolean;
    is_public_ipv4: boolean;
    labels: JSONColumnType<Record<string, string>>;
    taints: JSONColumnType<Record<string, string>>;
    crio_config: JSONColumnType<Record<string, string>>;
    kubelet_config: JSONColumnType<Record<string, string>>;
    /** What a running task does with this pool alone; null otherwise. */
    pending: 'Provisioning' | 'Deleting' | null;
    created_at: Date;
  };
  /** Credentials of a cluster as PEM texts, including its keys. */
  kubernetes_credentials: {
    cluster_id: string;
    /** URL of the API server. */
    endpoint: string;
    ca_certificate: string;
    ca_key: string;
    client_certificate: string;
    client_key: string;
    created_at: Date;
    expires_at: Date;
  };
  kubernetes_pool_security_groups: { pool_id: string; security_group_id: string; position: number };
}
