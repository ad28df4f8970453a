import type { ColumnType, Generated, JSONColumnType } from 'kysely';
import type { LogForwarding } from '../../../lib/log-forwarding.ts';

export type ProvisioningStatus =
  | 'ACTIVE'
  | 'DELETED'
  | 'ERROR'
  | 'PENDING_CREATE'
  | 'PENDING_DELETE'
  | 'PENDING_UPDATE';
export type ListenerProtocol = 'HTTP' | 'HTTPS' | 'PROMETHEUS' | 'TCP' | 'TERMINATED_HTTPS' | 'UDP';
export type PoolProtocol = 'HTTP' | 'HTTPS' | 'PROXY' | 'PROXYV2' | 'TCP' | 'UDP';
export type LbAlgorithm = 'LEAST_CONNECTIONS' | 'ROUND_ROBIN' | 'SOURCE_IP';
export type Connectivity = 'L2' | 'L3';
export type PolicyAction = 'REDIRECT_PREFIX' | 'REDIRECT_TO_POOL' | 'REDIRECT_TO_URL' | 'REJECT';

export interface KeptLbFlavor {
  flavor_id: string;
  vcpus: number;
  ram: number;
}

export interface SessionPersistence {
  type: 'APP_COOKIE' | 'HTTP_COOKIE' | 'SOURCE_IP';
  cookie_name: string | null;
  persistence_granularity: string | null;
  persistence_timeout: number | null;
}

export interface HealthMonitor {
  id: string;
  type: 'HTTP' | 'HTTPS' | 'K8S' | 'PING' | 'TCP' | 'TLS-HELLO' | 'UDP-CONNECT';
  admin_state_up: boolean;
  delay: number;
  timeout: number;
  max_retries: number;
  max_retries_down: number;
  http_method: 'CONNECT' | 'DELETE' | 'GET' | 'HEAD' | 'OPTIONS' | 'PATCH' | 'POST' | 'PUT' | 'TRACE' | null;
  http_version: '1.0' | '1.1' | null;
  url_path: string | null;
  expected_codes: string | null;
  domain_name: string | null;
}

export interface ListenerUser {
  username: string;
  encrypted_password: string;
}

/** What load balancers and each of their parts have. */
interface Part {
  id: string;
  project_id: number;
  region_id: number;
  provisioning_status: ProvisioningStatus;
  creator_task_id: string;
  /** The task that holds it. */
  task_id: string | null;
  created_at: Date;
  updated_at: Date;
}

/** Milliseconds; null leaves them to the infrastructure. */
interface Timeouts {
  timeout_client_data: number | null;
  timeout_member_connect: number | null;
  timeout_member_data: number | null;
}

/** A JSON column that may be null. */
type OptionalJson<T> = ColumnType<T | null, string | null, string | null>;

export interface LoadBalancerTables {
  load_balancers: Part & {
    name: string;
    flavor: JSONColumnType<KeptLbFlavor>;
    /** Whether a request named the flavor. Answers don't show the default. */
    flavor_named: boolean;
    admin_state_up: boolean;
    preferred_connectivity: Connectivity;
    logging: OptionalJson<LogForwarding>;
    /** How many failovers were requested. */
    failovers: number;
    tags: JSONColumnType<Record<string, string>>;
    revision: Generated<number>;
  };
  lb_listeners: Part &
    Timeouts & {
      load_balancer_id: string;
      default_pool_id: string | null;
      name: string;
      protocol: ListenerProtocol;
      protocol_port: number;
      admin_state_up: boolean;
      connection_limit: number;
      insert_x_forwarded: boolean;
      /** Null: from everywhere. */
      allowed_cidrs: string[] | null;
      user_list: JSONColumnType<ListenerUser[]>;
      secret_id: string | null;
      sni_secret_ids: string[];
    };
  lb_pools: Part &
    Timeouts & {
      load_balancer_id: string;
      name: string;
      protocol: PoolProtocol;
      lb_algorithm: LbAlgorithm;
      admin_state_up: boolean;
      session_persistence: OptionalJson<SessionPersistence>;
      health_monitor: OptionalJson<HealthMonitor>;
      secret_id: string | null;
      ca_secret_id: string | null;
      crl_secret_id: string | null;
    };
  lb_members: Part & {
    load_balancer_id: string;
    pool_id: string;
    address: string;
    protocol_port: number;
    subnet_id: string | null;
    instance_id: string | null;
    weight: number;
    backup: boolean;
    admin_state_up: boolean;
    monitor_address: string | null;
    monitor_port: number | null;
  };
  lb_l7_policies: Part & {
    load_balancer_id: string;
    listener_id: string;
    name: string;
    action: PolicyAction;
    position: number;
    redirect_pool_id: string | null;
    redirect_prefix: string | null;
    redirect_url: string | null;
    redirect_http_code: number | null;
    tags: string[];
  };
  lb_l7_rules: Part & {
    load_balancer_id: string;
    l7_policy_id: string;
    type: string;
    compare_type: string;
    key: string | null;
    value: string;
    invert: boolean;
    tags: string[];
  };
}
