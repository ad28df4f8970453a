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
    /** What the cluster runs with; a running update changes it only when it succeeds. */
    configuration: JSONColumnType<ClusterConfiguration>;
    /** What a running update is about to make of it; null while none runs. */
    next_configuration: JSONColumnType<ClusterConfiguration> | null;
    creator_task_id: string;
    /** The task that holds the cluster; null while it may be changed. */
    task_id: string | null;
    created_at: Date;
  };
  kubernetes_pools: {
    id: string;
    cluster_id: string;
    /** The order in which the pools were given. */
    position: number;
    name: string;
    flavor_id: string;
    min_node_count: number;
    max_node_count: number;
    node_count: number;
    /** GiB; null for bare metal, as are the next two. */
    boot_volume_size: number | null;
    boot_volume_type: string | null;
    servergroup_policy: string | null;
    auto_healing_enabled: boolean;
    is_public_ipv4: boolean;
    labels: JSONColumnType<Record<string, string>>;
    taints: JSONColumnType<Record<string, string>>;
    crio_config: JSONColumnType<Record<string, string>>;
    kubelet_config: JSONColumnType<Record<string, string>>;
    /** What a running task does with the pool alone; null otherwise. */
    pending: 'Provisioning' | 'Deleting' | null;
    created_at: Date;
  };
  /** What connects to a cluster; PEM texts, keys among them. */
  kubernetes_credentials: {
    cluster_id: string;
    /** Where its API server answers, as a URL. */
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
