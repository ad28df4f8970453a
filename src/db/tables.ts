/*
 * The rows of all tables, as the migrations make them. "npm run tables" writes this file; scripts/tables/columns.ts has what
 * the schema doesn't say.
 */
import type { ColumnType, Generated, GeneratedAlways, JSONColumnType } from 'kysely';
import type { DdosField } from '../lib/ddos-profile.ts';
import type { LogForwarding } from '../lib/log-forwarding.ts';
import type { ActionType, ApiGroup } from '../lib/published-names.ts';
import type { ActionResource, ResourceType } from '../lib/resources.ts';
import type * as json from './json-columns.ts';

export interface Tables {
  /** Written by triggers of `ai_tasks`. */
  ai_task_changes: {
    client_id: number;
    noted_at: GeneratedAlways<Date>;
    sign: 1 | -1 | null;
    status: 'FAILURE' | 'PENDING' | 'RECEIVED' | 'RETRY' | 'REVOKED' | 'STARTED' | 'SUCCESS' | null;
    task_id: string | null;
    xid: string;
  };
  /** Tasks that are being worked on, and by which worker. */
  ai_task_runs: {
    begun_at: GeneratedAlways<Date>;
    client_id: number;
    task_id: string;
    worker_id: string;
  };
  ai_tasks: {
    client_id: number;
    completed_at: ColumnType<Date | null, undefined, Date>;
    created_at: Date;
    /** In UTC. */
    created_day: GeneratedAlways<Date>;
    /** Of the film, in frames a second. Null for sound and old tasks. */
    frame_rate: number | null;
    id: string;
    /** How many workers died while working on it. */
    losses: ColumnType<number, undefined, number>;
    progress: Generated<number>;
    result: ColumnType<object | null, string | undefined, string>;
    retries: Generated<number>;
    /** The task must not be retried before this time. */
    retry_at: ColumnType<Date | null, undefined, Date | null>;
    /** What searches look through. */
    search_text: string;
    /** When work on the task first began. */
    started_at: ColumnType<Date | null, undefined, Date>;
    status: 'FAILURE' | 'PENDING' | 'RECEIVED' | 'RETRY' | 'REVOKED' | 'STARTED' | 'SUCCESS';
    task_data: JSONColumnType<json.TaskData>;
    task_name: 'content-moderation' | 'transcription';
  };
  api_tokens: {
    address_ranges: string[] | null;
    /** Set by TRADEWIND_BOOTSTRAP_TOKEN, and replaced when that changes. */
    bootstrap: Generated<boolean>;
    bound_secret_hash: Buffer | null;
    client_id: number;
    created_at: Date;
    deleted_at: Date | null;
    description: string;
    expires_at: Date | null;
    id: Generated<number>;
    last_used_at: Date | null;
    /** The account from which it was made, if that is neither its own nor the platform administrator's. */
    maker_client_id: number | null;
    name: string;
    operations: string[] | null;
    project_id: number | null;
    role_id: number;
    /** SHA-256 of the secret; the secret itself is shown once and kept nowhere. */
    secret_hash: Buffer;
    user_id: number;
  };
  /** One row: from before that time, records are no longer kept. */
  audit_retention: {
    removed_before: Date | null;
  };
  /** The chain: each seal has the hash of the records since the one before, and of its hash, which is `previous`. */
  audit_seals: {
    digest: Buffer;
    first_at: Date;
    /** Of the hash: the first didn't include the times. */
    form: Generated<number>;
    hash: Buffer;
    last_at: Date;
    last_id: number;
    number: number;
    previous: Buffer | null;
    records: number;
    sealed_at: Date;
  };
  billed_months: {
    month: string;
    next_id: number;
    stage: 'done' | 'draft_clients' | 'draft_resellers' | 'final_clients' | 'final_resellers';
  };
  billing_profiles: {
    client_id: number;
    created_at: Date;
    created_by: number;
    id: GeneratedAlways<number>;
    profile: JSONColumnType<json.BillingProfile>;
    valid_from: Date;
  };
  budgets: {
    amount: string;
    client_id: number;
    count_at: Date;
    counted_at: Date | null;
    created_at: Date;
    currency: 'AZN' | 'EUR' | 'USD';
    id: GeneratedAlways<number>;
    month: string | null;
    project_id: number | null;
    revision: GeneratedAlways<number>;
    set_by: 'account' | 'reseller';
    spent: Generated<string>;
    stops_creation: boolean;
    told: Generated<number>;
    warn_at: number[];
  };
  /** What all processes offer, in one row. */
  catalog: {
    applied_at: Date;
    /** Its files as JSON. */
    files: string;
    hash: string;
    /** Where it came from, for people to read. */
    origin: string;
    /** Counts the catalogues that have been in force. */
    revision: number;
    single: Generated<boolean>;
  };
  /** The processes that work with the catalogue. Each keeps `seen_at` fresh, by the database's own clock. */
  catalog_readers: {
    host: string;
    id: string;
    pid: number;
    problem: string | null;
    /** The last revision that the process can't read, and why. */
    refused: number | null;
    /** The catalogue that the process works with. */
    revision: number;
    seen_at: Generated<Date>;
  };
  /** What a reseller decided for one client. */
  client_products: {
    available: boolean;
    client_id: number;
    product: 'CLOUD' | 'STREAMING';
  };
  /** Differences from an account that may use everything. */
  client_services: {
    changed_at: Date;
    client_id: number;
    enabled: boolean;
    previous_status: 'activating' | 'active' | 'deleted' | 'new' | 'paused' | 'trial' | 'trialend';
    service: 'CLOUD' | 'STREAMING';
    status: 'activating' | 'active' | 'deleted' | 'new' | 'paused' | 'trial' | 'trialend';
  };
  client_status_changes: {
    changed_at: Date;
    client_id: number;
    id: GeneratedAlways<number>;
    new_status: string;
    old_status: string;
  };
  /** The accounts of each user. */
  client_users: {
    client_id: number;
    created_at: Date;
    /** False: blocked by the account, and only there. */
    is_active: Generated<boolean>;
    role_id: number;
    user_id: number;
  };
  clients: {
    company: string;
    country_code: string | null;
    created_at: Date;
    /** The reseller's own ID for the account. */
    custom_id: string | null;
    deleted_at: Date | null;
    /** The contact person of the account. */
    email: Generated<string>;
    id: Generated<number>;
    is_test: Generated<boolean>;
    name: string | null;
    phone: string | null;
    reseller_id: number;
    revision: GeneratedAlways<number>;
    seller_id: number | null;
    /** Nobody can sign in to a paused account. */
    status: Generated<'active' | 'paused'>;
  };
  console_codes: {
    expires_at: Date;
    hash: Buffer;
    user_id: number;
  };
  credit_notes: {
    created_at: Date;
    created_by: number;
    gross: string;
    id: GeneratedAlways<number>;
    invoice_id: number;
    issuer_id: number;
    lines: JSONColumnType<json.CreditedLine[]>;
    net: string;
    number: string;
    reason: string;
    taxes: JSONColumnType<json.TaxSum[]>;
    vat: string;
  };
  /** Keys that encrypt secrets: the newest for new values, the older ones for reading. */
  data_keys: {
    /** Null until every earlier value is encrypted with it. */
    completed_at: Date | null;
    created_at: Date;
    /** The operator's key that encrypts it. */
    encryption_key_id: string;
    id: Generated<number>;
    /** The key, encrypted with the operator's key. */
    wrapped: Buffer;
  };
  /** Profiles of DDoS protection, each of one address. */
  ddos_profiles: {
    active: boolean;
    address: string;
    bgp: boolean;
    error_description: Generated<string>;
    fields: JSONColumnType<DdosField[]>;
    id: GeneratedAlways<number>;
    project_id: number;
    region_id: number;
    status: string;
    subnet_id: string;
    /** The task that holds the profile. */
    task_id: string | null;
    template_id: number;
    /** The ID by which the infrastructure knows it. */
    want_id: string;
  };
  deleted_projects: {
    client_id: number;
    created_at: Date;
    deleted_at: Date;
    description: string | null;
    id: number;
    name: string;
  };
  /** The hash of what a user has to send to have an account deleted. */
  deletion_confirmations: {
    client_id: number;
    confirmation: string;
    expires_at: Date;
    user_id: number;
  };
  /** Accounts that want to be deleted by their resellers. */
  deletion_requests: {
    client_id: number;
    confirm_until: Date | null;
    confirmed_at: Date | null;
    created_at: Date;
    reason: string;
    secret_hash: Buffer | null;
    user_id: number;
  };
  /** Deletions of accounts, and of projects with everything in them. */
  deletions: {
    begun_at: Date;
    /** How often a worker has begun with it. */
    claims: Generated<number>;
    /** The account that is deleted, or that has the project. */
    client_id: number;
    ended_at: Date | null;
    /** Null if the account itself goes. */
    project_id: number | null;
    steps: ColumnType<json.DeletionStep[], string | undefined, string>;
    task_id: string;
    worker_id: string | null;
  };
  /** How far those have read who must miss nothing, however long they are away. */
  event_readers: {
    /** Whether anybody wants what it reads. */
    active: boolean;
    name: string;
    position: number;
  };
  /** What happened, in the order in which it is told. */
  events: {
    client_id: number;
    data: JSONColumnType<object>;
    id: Generated<string>;
    position: Generated<number>;
    project_id: number | null;
    subject: string;
    time: Date;
    type: string;
  };
  feature_activations: {
    client_id: number;
    created_at: Date;
    /** Id in the catalogue, which also says whether the feature is paid or free. */
    feature_id: number;
    id: Generated<number>;
  };
  /** Access rules of standard shares. */
  file_share_access_rules: {
    access_level: 'ro' | 'rw';
    access_to: string;
    created_at: Date;
    file_share_id: string;
    id: string;
  };
  file_shares: {
    access: GeneratedAlways<unknown>;
    /** Null for standard shares. */
    allowed_characters: 'LCD' | 'NPL' | null;
    connection_point: string | null;
    created_at: Date;
    creator_task_id: string;
    id: string;
    name: string;
    /** Null for VAST. */
    network_id: string | null;
    /** Null for VAST. */
    network_name: string | null;
    /** Null for standard shares. */
    path_length: 'LCD' | 'NPL' | null;
    project_id: number;
    protocol: 'NFS';
    region_id: number;
    revision: GeneratedAlways<number>;
    /** Null for standard shares. */
    root_squash: boolean | null;
    size_gib: number;
    status: 'available' | 'creating' | 'deleting' | 'extending';
    /** Null for VAST. */
    subnet_id: string | null;
    /** Null for VAST. */
    subnet_name: string | null;
    tags: JSONColumnType<Record<string, string>>;
    task_id: string | null;
    type_name: 'standard' | 'vast';
  };
  floating_ips: {
    address: ColumnType<string, string, never>;
    created_at: Date;
    creator_task_id: string;
    fixed_address: string | null;
    id: string;
    /** The port to which the floating IP is assigned, at its `fixed_address`. */
    port_id: string | null;
    project_id: number;
    region_id: number;
    revision: GeneratedAlways<number>;
    tags: JSONColumnType<Record<string, string>>;
    /** The task that holds the floating IP. */
    task_id: string | null;
    updated_at: Date;
  };
  /** One row: the last position that was deleted. */
  forgotten_events: {
    position: number;
  };
  /** Written by a trigger of `clients`, so that what was used before a change of reseller keeps its prices. */
  former_resellers: {
    client_id: number;
    reseller_id: number;
    until: Date;
  };
  /** What may be taken from external subnets, up to `offered_to`. */
  free_external_addresses: {
    address: string;
    subnet_id: string;
  };
  idempotency_keys: {
    body: string | null;
    client_id: number;
    expires_at: Date;
    fingerprint: Buffer;
    key: string;
    request_id: string;
    status: number | null;
    user_id: number;
  };
  identities: {
    created_at: Date;
    last_used_at: Date | null;
    provider_id: string;
    /** Accounts that the user lost with the groups. Those that an administrator blocked are not among them. */
    shut_in: Generated<number[]>;
    subject: string;
    user_id: number;
  };
  identity_providers: {
    client_id: number | null;
    created_at: Date;
    created_by: number;
    default_role_id: number | null;
    email_domains: string[];
    enabled: boolean;
    /** A list of {group, role_id, client_id}: what members of a group are, in which account. */
    groups: JSONColumnType<object>;
    groups_claim: string;
    id: string;
    issuer: string;
    name: string;
    oidc_client_id: string;
    /** Encrypted. Null if there is none, or if it was lost. */
    oidc_client_secret: string | null;
    required: boolean;
    reseller_id: number | null;
    revision: GeneratedAlways<number>;
    scopes: string[];
    updated_at: Date;
  };
  /** Images of projects. The platform's own images are in the catalogue. */
  images: {
    architecture: 'aarch64' | 'x86_64';
    /** Volumes share its data, so they have to go before it. */
    cow_format: Generated<boolean>;
    created_at: Date;
    creator_task_id: string;
    hw_firmware_type: 'bios' | 'uefi';
    hw_machine_type: 'i440' | 'q35';
    id: string;
    is_baremetal: boolean;
    min_disk_gib: number;
    name: string;
    /** Null when unknown. */
    os_distro: string | null;
    os_type: 'linux' | 'windows';
    os_version: string | null;
    project_id: number;
    region_id: number;
    revision: GeneratedAlways<number>;
    /** Null until the image is ready, and when the infrastructure doesn't say it. */
    size_bytes: number | null;
    ssh_key: 'allow' | 'deny' | 'required';
    /** Named as in Glance. */
    status: 'active' | 'pending_delete' | 'saving';
    tags: JSONColumnType<Record<string, string>>;
    /** The task that holds the image. */
    task_id: string | null;
    updated_at: Date;
  };
  instances: {
    created_at: Date;
    creator_task_id: string;
    description: string | null;
    flavor: JSONColumnType<json.KeptFlavor>;
    flavor_id: string;
    id: string;
    name: string;
    /** The pool if the instance is a node; null if a client created it. */
    pool_id: ColumnType<string | null, string | null, never>;
    project_id: number;
    region_id: number;
    revision: GeneratedAlways<number>;
    ssh_key_name: string | null;
    status:
      | 'ACTIVE'
      | 'BUILD'
      | 'DELETED'
      | 'ERROR'
      | 'HARD_REBOOT'
      | 'MIGRATING'
      | 'PASSWORD'
      | 'PAUSED'
      | 'REBOOT'
      | 'REBUILD'
      | 'RESCUE'
      | 'RESIZE'
      | 'REVERT_RESIZE'
      | 'SHELVED'
      | 'SHELVED_OFFLOADED'
      | 'SHUTOFF'
      | 'SOFT_DELETED'
      | 'SUSPENDED'
      | 'UNKNOWN'
      | 'VERIFY_RESIZE';
    stopped_by_suspension: boolean | null;
    tags: JSONColumnType<Record<string, string>>;
    /** The task that holds the instance. */
    task_id: string | null;
    task_state: string | null;
    updated_at: Date;
    vm_state:
      | 'active'
      | 'building'
      | 'deleted'
      | 'error'
      | 'paused'
      | 'rescued'
      | 'resized'
      | 'shelved'
      | 'shelved_offloaded'
      | 'soft-deleted'
      | 'stopped'
      | 'suspended';
  };
  /** Keyed by the user row that stands for the invited person until they accept. */
  invitations: {
    client_id: number;
    created_at: Date;
    /** When the invitation was accepted or withdrawn. */
    ended_at: Date | null;
    expires_at: Date;
    invited_by: number;
    secret_hash: Buffer;
    user_id: number;
  };
  invoice_counters: {
    issuer_id: number;
    last: number;
    series: 'credit_note' | 'invoice';
    year: number;
  };
  invoice_lines: {
    amount: Generated<string>;
    credited: Generated<string>;
    exact: string;
    invoice_id: number;
    line: Generated<number>;
    project: number;
    project_name: string | null;
    quantity: string;
    region_id: number;
    reverse_charge: boolean;
    sku: string;
    tax_percent: string;
    type: string;
  };
  invoices: {
    client_id: number | null;
    created_at: Date;
    credited: Generated<string>;
    currency: 'AZN' | 'EUR' | 'USD';
    customer: JSONColumnType<json.BillingParty>;
    finalized_at: Date | null;
    gross: string;
    id: GeneratedAlways<number>;
    issuer: JSONColumnType<json.IssuerSettings>;
    issuer_id: number;
    kind: 'retail' | 'wholesale';
    month: string;
    net: string;
    number: string | null;
    paid: Generated<string>;
    reseller_id: number;
    state: 'credited' | 'draft' | 'open' | 'paid' | 'partly_paid';
    taxes: JSONColumnType<json.TaxSum[]>;
    vat: string;
  };
  ip_assignments: {
    address: ColumnType<string, string, never>;
    floating_ip_id: string | null;
    /** Null if a floating IP or a router has the address, or if it is reserved for the gateway. */
    port_id: string | null;
    /** The router that has it outside, or in a subnet whose gateway address it doesn't have. */
    router_id: string | null;
    subnet_id: string;
  };
  issuer_settings: {
    created_at: Date;
    created_by: number;
    id: GeneratedAlways<number>;
    reseller_id: number;
    settings: JSONColumnType<json.IssuerSettings>;
    valid_from: Date;
  };
  known_logins: {
    key: string;
    until: Date;
  };
  kubernetes_clusters: {
    /** The configuration that the cluster runs with. A running update changes it only when it succeeds. */
    configuration: JSONColumnType<json.ClusterConfiguration>;
    created_at: Date;
    creator_task_id: string;
    fixed_network: string | null;
    fixed_subnet: string | null;
    id: string;
    is_ipv6: boolean;
    keypair: string;
    name: string;
    /** The configuration that a running update will give the cluster; null while no update runs. */
    next_configuration: JSONColumnType<json.ClusterConfiguration> | null;
    pods_ip_pool: string;
    pods_ipv6_pool: string | null;
    project_id: number;
    region_id: number;
    revision: GeneratedAlways<number>;
    services_ip_pool: string;
    services_ipv6_pool: string | null;
    status: 'Deleting' | 'Provisioned' | 'Provisioning';
    /** The task that holds the cluster; null while the cluster may be changed. */
    task_id: string | null;
    vast_nfs_enabled: boolean;
    /** With the leading `v`. */
    version: string;
  };
  /** Credentials of a cluster as PEM texts, including its keys. */
  kubernetes_credentials: {
    ca_certificate: string;
    ca_key: string;
    client_certificate: string;
    client_key: string;
    cluster_id: string;
    created_at: Date;
    endpoint: string;
    expires_at: Date;
  };
  kubernetes_pool_security_groups: {
    pool_id: string;
    position: number;
    security_group_id: string;
  };
  kubernetes_pools: {
    auto_healing_enabled: boolean;
    /** In GiB; null for bare metal. */
    boot_volume_size: number | null;
    /** Null for bare metal. */
    boot_volume_type: string | null;
    cluster_id: string;
    created_at: Date;
    crio_config: JSONColumnType<Record<string, string>>;
    flavor_id: string;
    id: string;
    is_public_ipv4: boolean;
    kubelet_config: JSONColumnType<Record<string, string>>;
    labels: JSONColumnType<Record<string, string>>;
    max_node_count: number;
    min_node_count: number;
    name: string;
    node_count: number;
    /** What a running task does with this pool alone; null otherwise. */
    pending: 'Deleting' | 'Provisioning' | null;
    /** The pools' order in the request. */
    position: number;
    revision: GeneratedAlways<number>;
    /** Null for bare metal. */
    servergroup_policy: 'affinity' | 'anti-affinity' | 'soft-anti-affinity' | null;
    taints: JSONColumnType<Record<string, string>>;
  };
  lb_l7_policies: {
    action: 'REDIRECT_PREFIX' | 'REDIRECT_TO_POOL' | 'REDIRECT_TO_URL' | 'REJECT';
    created_at: Date;
    creator_task_id: string;
    id: string;
    listener_id: string;
    load_balancer_id: string;
    name: string;
    position: number;
    project_id: number;
    provisioning_status: 'ACTIVE' | 'DELETED' | 'ERROR' | 'PENDING_CREATE' | 'PENDING_DELETE' | 'PENDING_UPDATE';
    redirect_http_code: number | null;
    redirect_pool_id: string | null;
    redirect_prefix: string | null;
    redirect_url: string | null;
    region_id: number;
    revision: GeneratedAlways<number>;
    tags: string[];
    /** The task that holds it. */
    task_id: string | null;
    updated_at: Date;
  };
  lb_l7_rules: {
    compare_type: string;
    created_at: Date;
    creator_task_id: string;
    id: string;
    invert: boolean;
    key: string | null;
    l7_policy_id: string;
    load_balancer_id: string;
    project_id: number;
    provisioning_status: 'ACTIVE' | 'DELETED' | 'ERROR' | 'PENDING_CREATE' | 'PENDING_DELETE' | 'PENDING_UPDATE';
    region_id: number;
    revision: GeneratedAlways<number>;
    tags: string[];
    /** The task that holds it. */
    task_id: string | null;
    type: string;
    updated_at: Date;
    value: string;
  };
  lb_listeners: {
    admin_state_up: boolean;
    /** Null: from everywhere. */
    allowed_cidrs: string[] | null;
    connection_limit: number;
    created_at: Date;
    creator_task_id: string;
    default_pool_id: string | null;
    id: string;
    insert_x_forwarded: boolean;
    load_balancer_id: string;
    name: string;
    project_id: number;
    protocol: 'HTTP' | 'HTTPS' | 'PROMETHEUS' | 'TCP' | 'TERMINATED_HTTPS' | 'UDP';
    protocol_port: number;
    provisioning_status: 'ACTIVE' | 'DELETED' | 'ERROR' | 'PENDING_CREATE' | 'PENDING_DELETE' | 'PENDING_UPDATE';
    region_id: number;
    revision: GeneratedAlways<number>;
    secret_id: string | null;
    sni_secret_ids: string[];
    /** The task that holds it. */
    task_id: string | null;
    /** Milliseconds; null leaves it to the infrastructure. */
    timeout_client_data: number | null;
    /** Milliseconds; null leaves it to the infrastructure. */
    timeout_member_connect: number | null;
    /** Milliseconds; null leaves it to the infrastructure. */
    timeout_member_data: number | null;
    updated_at: Date;
    user_list: JSONColumnType<json.ListenerUser[]>;
  };
  lb_members: {
    address: string;
    admin_state_up: boolean;
    backup: boolean;
    created_at: Date;
    creator_task_id: string;
    id: string;
    instance_id: string | null;
    load_balancer_id: string;
    monitor_address: string | null;
    monitor_port: number | null;
    pool_id: string;
    project_id: number;
    protocol_port: number;
    provisioning_status: 'ACTIVE' | 'DELETED' | 'ERROR' | 'PENDING_CREATE' | 'PENDING_DELETE' | 'PENDING_UPDATE';
    region_id: number;
    revision: GeneratedAlways<number>;
    subnet_id: string | null;
    /** The task that holds it. */
    task_id: string | null;
    updated_at: Date;
    weight: number;
  };
  lb_pools: {
    admin_state_up: boolean;
    ca_secret_id: string | null;
    created_at: Date;
    creator_task_id: string;
    crl_secret_id: string | null;
    health_monitor: JSONColumnType<json.HealthMonitor> | null;
    id: string;
    lb_algorithm: 'LEAST_CONNECTIONS' | 'ROUND_ROBIN' | 'SOURCE_IP';
    load_balancer_id: string;
    name: string;
    project_id: number;
    protocol: 'HTTP' | 'HTTPS' | 'PROXY' | 'PROXYV2' | 'TCP' | 'UDP';
    provisioning_status: 'ACTIVE' | 'DELETED' | 'ERROR' | 'PENDING_CREATE' | 'PENDING_DELETE' | 'PENDING_UPDATE';
    region_id: number;
    revision: GeneratedAlways<number>;
    secret_id: string | null;
    session_persistence: JSONColumnType<json.SessionPersistence> | null;
    /** The task that holds it. */
    task_id: string | null;
    /** Milliseconds; null leaves it to the infrastructure. */
    timeout_client_data: number | null;
    /** Milliseconds; null leaves it to the infrastructure. */
    timeout_member_connect: number | null;
    /** Milliseconds; null leaves it to the infrastructure. */
    timeout_member_data: number | null;
    updated_at: Date;
  };
  lifecycle_policies: {
    created_at: Date;
    id: GeneratedAlways<number>;
    name: string;
    project_id: number;
    region_id: number;
    revision: GeneratedAlways<number>;
    status: 'active' | 'paused';
    updated_at: Date;
    user_id: number;
  };
  lifecycle_policy_volumes: {
    policy_id: number;
    volume_id: string;
  };
  load_balancers: {
    admin_state_up: boolean;
    created_at: Date;
    creator_task_id: string;
    /** How many failovers were requested. */
    failovers: number;
    flavor: JSONColumnType<json.KeptLbFlavor>;
    /** Whether a request named the flavor. Answers don't show the default. */
    flavor_named: boolean;
    id: string;
    logging: JSONColumnType<LogForwarding> | null;
    name: string;
    preferred_connectivity: 'L2' | 'L3';
    project_id: number;
    provisioning_status: 'ACTIVE' | 'DELETED' | 'ERROR' | 'PENDING_CREATE' | 'PENDING_DELETE' | 'PENDING_UPDATE';
    region_id: number;
    revision: GeneratedAlways<number>;
    tags: JSONColumnType<Record<string, string>>;
    /** The task that holds it. */
    task_id: string | null;
    updated_at: Date;
  };
  /** Logging of a project in a region, once it is initialised. */
  logging_services: {
    created_at: Date;
    /** What a log broker needs to check the user's password; null until a password was requested. */
    credential: string | null;
    namespace: string;
    project_id: number;
    region_id: number;
  };
  logging_topics: {
    index_pattern_id: string | null;
    name: string;
    project_id: number;
    region_id: number;
    /** Null keeps logs for ever. */
    retention_days: number | null;
    size_in_bytes: number;
  };
  login_attempts: {
    address: string;
    auth_type: Generated<string>;
    created_at: Date;
    id: Generated<number>;
    successful: boolean;
    user_agent: string | null;
    /** Null when nobody has that name. */
    user_id: number | null;
    username: string;
  };
  login_limits: {
    expire: number | null;
    key: string;
    points: Generated<number>;
  };
  login_sessions: {
    client_id: number;
    created_at: Date;
    ends_at: Date | null;
    expires_at: Date;
    family: string;
    id: Generated<number>;
    /** Tokens name the login by it, since it never comes again. Null in logins from before the column, until they are refreshed. */
    key: Generated<string | null>;
    maker_id: number;
    /** The identity provider that vouched for the user. The login is good only where that has a say. */
    provider_id: string | null;
    refresh_id: string;
    role_id: number;
    token_id: number | null;
    user_id: number;
  };
  mails: {
    attempts: Generated<number>;
    /** The account that it is about; its reseller's name is in it. */
    client_id: number;
    created_at: Date;
    /** What its templates are given, encrypted; null once it has ended. */
    data: unknown;
    /** Null when it has ended. */
    due_at: Date | null;
    ended_at: Date | null;
    /** It is given up then. */
    expires_at: Date;
    /** Why the last attempt failed. */
    fault: string | null;
    id: string;
    kind: string;
    /** While it is kept, there is no other with the same text. */
    once: string | null;
    receiver: string;
    state: Generated<'failed' | 'pending' | 'sent'>;
    /** Who is sending it now. */
    worker_id: string | null;
  };
  maintenances: {
    backend: string | null;
    begun_in: Generated<number>;
    created_at: Date;
    created_by: number;
    id: GeneratedAlways<number>;
    reason: string;
    region_id: number | null;
  };
  networks: {
    created_at: Date;
    creator_task_id: string | null;
    external: boolean;
    id: string;
    is_default: boolean;
    mtu: number;
    name: string;
    /** Whether the platform routes subnets that have no router, so that floating IPs work in them. */
    platform_routed: Generated<boolean>;
    port_security_enabled: boolean;
    /** Null for the platform's networks, which every project of the region sees. */
    project_id: number | null;
    /** False while it is being created or deleted. */
    ready: Generated<boolean>;
    region_id: number;
    revision: GeneratedAlways<number>;
    segmentation_id: number | null;
    shared: boolean;
    tags: JSONColumnType<Record<string, string>>;
    task_id: string | null;
    type: 'vlan' | 'vxlan';
    updated_at: Date;
  };
  notification_settings: {
    created_at: Date;
    email: string;
    enabled: boolean;
    id: Generated<number>;
    key: Generated<string | null>;
    notification_type: 'deletion_request' | 'failed_login';
    reseller_id: number;
    revision: GeneratedAlways<number>;
  };
  /** How a user who forgot the password may set another, once. */
  password_resets: {
    /** When the user asked for it; a later request or password makes it worthless. */
    asked_at: Date;
    expires_at: Date;
    secret_hash: Buffer;
    user_id: number;
  };
  payments: {
    amount: string;
    created_at: Date;
    created_by: number;
    id: GeneratedAlways<number>;
    invoice_id: number;
    paid_at: Date;
    reference: string;
  };
  port_security_groups: {
    port_id: string;
    security_group_id: string;
  };
  ports: {
    /** Further addresses and networks from which the port may send. */
    allowed_address_pairs: ColumnType<json.AddressPair[], string | undefined, string>;
    created_at: Date;
    /** The task that reserved it. */
    creator_task_id: string | null;
    id: string;
    instance_id: string | null;
    interface_name: string | null;
    /** Whether several ports share its address, so that no instance can have the port itself. */
    is_vip: Generated<boolean>;
    /** The load balancer whose virtual address it has. */
    load_balancer_id: string | null;
    mac_address: GeneratedAlways<string>;
    name: string;
    network_id: string;
    port_security_enabled: boolean;
    /** Position among the instance's interfaces. */
    position: number;
    project_id: number;
    region_id: number;
    /** Whether the port is kept for its address, attached or not. */
    reserved: Generated<boolean>;
    revision: GeneratedAlways<number>;
    tags: JSONColumnType<Record<string, string>>;
    /** The task that holds the port. */
    task_id: string | null;
    updated_at: Date;
  };
  /** The price books that have been in force. What was used before the first one has its prices. */
  price_books: {
    book: JSONColumnType<object>;
    valid_from: Date;
  };
  /** The last one of a scope that has begun is in force. None is ever changed. */
  price_lists: {
    client_id: number | null;
    created_at: Date;
    created_by: number;
    id: GeneratedAlways<number>;
    reseller_id: number | null;
    scope: 'client' | 'everyone' | 'reseller';
    terms: JSONColumnType<json.ListTerms>;
    /** A full second. */
    valid_from: Date;
  };
  /** What a reseller decided for all its clients but those in `client_products`. Without a row: available. */
  product_defaults: {
    available: boolean;
    product: 'CLOUD' | 'STREAMING';
    reseller_id: number;
  };
  projects: {
    client_id: number;
    created_at: Date;
    /** The task that deletes the project with everything in it. */
    deletion_task_id: string | null;
    description: string | null;
    id: Generated<number>;
    is_default: boolean;
    name: string;
    revision: GeneratedAlways<number>;
  };
  /** The limits of clients that differ from those of the catalogue. Region 0 stands for quotas without a region. */
  quota_limits: {
    attribute: string;
    client_id: number;
    most: number;
    region_id: number;
  };
  /** The last one of a scope that has begun is in force. None is ever changed. */
  quota_lists: {
    client_id: number | null;
    created_at: Date;
    created_by: number;
    id: GeneratedAlways<number>;
    limits: JSONColumnType<json.ListedLimits>;
    reseller_id: number | null;
    scope: 'client' | 'everyone' | 'reseller';
    /** A full second. */
    valid_from: Date;
  };
  quota_requests: {
    client_id: ColumnType<number, number, never>;
    created_at: Date;
    description: string;
    id: GeneratedAlways<number>;
    requested_limits: JSONColumnType<json.RequestedLimits>;
    revision: GeneratedAlways<number>;
    status: 'done' | 'in progress' | 'rejected';
    updated_at: Date;
  };
  /** The percentage of a quota at which a client wants to be warned. */
  quota_thresholds: {
    client_id: number;
    threshold: number;
  };
  quota_usage: {
    attribute: string;
    client_id: number;
    region_id: number;
    used: number;
  };
  /** Quotas that were used up to the threshold, the last time for each. */
  quota_warnings: {
    attribute: string;
    client_id: number;
    /** Null until the mails are written. */
    mailed_at: Date | null;
    most: number;
    noted_at: Date;
    region_id: number;
    used: number;
  };
  recovery_codes: {
    hash: Buffer;
    user_id: number;
  };
  removal_time: {
    until: Date;
  };
  resellers: {
    created_at: Date;
    deleted_at: Date | null;
    id: Generated<number>;
    name: string;
  };
  role_assignments: {
    assigned_by: number | null;
    client_id: number;
    created_at: Date;
    id: GeneratedAlways<number>;
    project_id: number | null;
    role: 'ClientAdministrator' | 'InternalNetworkOnlyUser' | 'Observer' | 'ProjectAdministrator' | 'User';
    updated_at: Date | null;
    user_id: number;
  };
  router_interfaces: {
    address: ColumnType<string, string, never>;
    created_at: Date;
    mac_address: GeneratedAlways<string>;
    port_id: string;
    router_id: string;
    subnet_id: string;
  };
  routers: {
    created_at: Date;
    creator_task_id: string;
    enable_snat: boolean;
    /** The external network that it leads to; null if it leads nowhere. */
    gateway_network_id: string | null;
    id: string;
    name: string;
    /** The network with which it was made. New subnets of that network are connected to it. */
    network_id: string | null;
    project_id: number;
    region_id: number;
    revision: GeneratedAlways<number>;
    routes: JSONColumnType<json.StaticRoute[]>;
    task_id: string | null;
    updated_at: Date;
  };
  scheduled_snapshots: {
    made_at: Date;
    policy_id: number;
    schedule_id: string;
    snapshot_id: string;
    volume_id: string;
  };
  second_factors: {
    /** Null until the first code: it is no factor before. */
    confirmed_at: Date | null;
    counter: number | null;
    created_at: Date;
    credential_id: string | null;
    id: string;
    kind: 'passkey' | 'totp';
    /** The time step of the last accepted code: neither it nor an earlier one is accepted again. */
    last_step: number | null;
    last_used_at: Date | null;
    name: string;
    public_key: Buffer | null;
    /** Of an app that makes codes. Encrypted; null if it was lost, and then no code is right. */
    secret: string | null;
    transports: string[] | null;
    user_id: number;
  };
  /** Who uses a secret. It can't be deleted as long as somebody does. */
  secret_uses: {
    secret_id: string;
    user_id: string;
    user_kind: 'listener' | 'pool';
  };
  /** What clients keep for their load balancers. The contents are in `want_secrets`. */
  secrets: {
    algorithm: ColumnType<string | null, string | null, never>;
    bit_length: ColumnType<number | null, number | null, never>;
    content_type: ColumnType<string, string, never>;
    created_at: Date;
    creator_task_id: string;
    expires_at: ColumnType<Date | null, Date | null, never>;
    holds: ColumnType<'bytes' | 'certificates' | 'tls', 'bytes' | 'certificates' | 'tls', never>;
    id: string;
    mode: ColumnType<string | null, string | null, never>;
    name: ColumnType<string, string, never>;
    project_id: number;
    region_id: number;
    secret_type: ColumnType<
      'certificate' | 'opaque' | 'passphrase' | 'private' | 'public' | 'symmetric',
      'certificate' | 'opaque' | 'passphrase' | 'private' | 'public' | 'symmetric',
      never
    >;
    /** The task that creates or deletes the secret. */
    task_id: string | null;
    updated_at: Date;
  };
  security_group_rules: {
    created_at: Date;
    description: string;
    direction: 'egress' | 'ingress';
    /** Equal for rules that mean the same; unique within the group. */
    duplicate_key: string;
    ethertype: 'IPv4' | 'IPv6';
    id: string;
    port_range_max: number | null;
    port_range_min: number | null;
    /** The position of the rule in the request. */
    position: number;
    protocol: string | null;
    remote_group_id: string | null;
    remote_ip_prefix: string | null;
    revision_number: Generated<number>;
    security_group_id: string;
    updated_at: Date;
  };
  security_groups: {
    /** The cluster whose nodes are always in the group. */
    cluster_id: ColumnType<string | null, string | null, never>;
    created_at: Date;
    description: string;
    id: string;
    /** Whether it is the project's default group, which can't be deleted. */
    is_default: boolean;
    name: string;
    project_id: number;
    region_id: number;
    /** Rises with every change of the group or its rules. */
    revision_number: Generated<number>;
    tags: JSONColumnType<Record<string, string>>;
    updated_at: Date;
  };
  /** The instances in groups of clients. An instance is in one group at most, and leaves it when it is deleted. */
  server_group_members: {
    instance_id: string;
    server_group_id: string;
  };
  server_groups: {
    created_at: Date;
    id: string;
    name: ColumnType<string, string, never>;
    policy: ColumnType<
      'affinity' | 'anti-affinity' | 'soft-anti-affinity',
      'affinity' | 'anti-affinity' | 'soft-anti-affinity',
      never
    >;
    /** The pool whose nodes are in the group; null if a client created it. It goes with its pool. */
    pool_id: ColumnType<string | null, string | null, never>;
    project_id: number;
    region_id: number;
    /** The task that deletes the group. */
    task_id: string | null;
  };
  sign_in_challenges: {
    expires_at: Date;
    hash: Buffer;
    passkey_challenge: string | null;
    /** A hash of the hash of the password that was given: another password makes it worthless. */
    password_version: Buffer | null;
    purpose: 'add_passkey' | 'enrol' | 'log_in';
    user_id: number;
  };
  sign_in_codes: {
    browser_hash: Buffer;
    client_id: number;
    expires_at: Date;
    hash: Buffer;
    provider_id: string;
    user_id: number;
  };
  sign_in_policies: {
    client_id: number;
    /** Of whom it is required. Null: of everybody. */
    role_ids: number[] | null;
    second_factor: 'optional' | 'required';
  };
  sign_in_states: {
    browser_hash: Buffer;
    expires_at: Date;
    hash: Buffer;
    provider_id: string;
  };
  signing_keys: {
    created_at: Date;
    id: string;
    jwk: ColumnType<object | string, string, never>;
  };
  /** Where machines run, if the catalogue says how many hosts there are. */
  simulated_hosts: {
    host: number;
    machine_id: string;
    server_group_id: string | null;
  };
  /** The objects of the simulated infrastructure. Only the simulated backend reads or writes them. */
  simulated_objects: {
    began_at: Date;
    doing: string;
    id: string;
    kind: string;
    made: JSONColumnType<object> | string | null;
    revision: number;
    spec: JSONColumnType<object>;
    takes_ms: number;
  };
  snapshot_schedules: {
    created_at: Date;
    id: string;
    max_quantity: number;
    policy_id: number;
    resource_name_template: string;
    retention: JSONColumnType<object> | null;
    revision: GeneratedAlways<number>;
    timing: JSONColumnType<object>;
    user_client_id: number;
    user_id: number;
  };
  snapshot_turns: {
    attempts: Generated<number>;
    due_at: Date | null;
    made_id: string | null;
    make_room: Generated<boolean>;
    problem: string | null;
    problem_since: Date | null;
    prune_at: Date | null;
    schedule_id: string;
    try_at: Date | null;
    volume_id: string;
  };
  snapshots: {
    created_at: Date;
    creator_task_id: string;
    description: string | null;
    id: string;
    name: string;
    project_id: number;
    region_id: number;
    revision: GeneratedAlways<number>;
    size_gib: number;
    status:
      | 'available'
      | 'backing-up'
      | 'creating'
      | 'deleted'
      | 'deleting'
      | 'error'
      | 'error_deleting'
      | 'restoring'
      | 'unmanaging';
    tags: JSONColumnType<Record<string, string>>;
    task_id: string | null;
    updated_at: Date;
    volume_id: string;
    /** The volume's type when the snapshot was taken. */
    volume_type: 'cold' | 'ssd_hiiops' | 'ssd_local' | 'ssd_lowlatency' | 'standard' | 'ultra';
  };
  ssh_keys: {
    created_at: Date;
    fingerprint: string;
    id: string;
    name: string;
    project_id: number;
    public_key: string;
    revision: GeneratedAlways<number>;
    shared_in_project: boolean;
    /** The user who added the key. Only this user sees it unless it is shared. */
    user_id: number;
  };
  subnets: {
    cidr: string;
    created_at: Date;
    creator_task_id: string | null;
    dns_nameservers: JSONColumnType<string[]>;
    enable_dhcp: boolean;
    /** Ports may get addresses from this one to `last_address`. */
    first_address: string;
    /** No address below this one is free. */
    free_from: string;
    gateway_ip: string | null;
    host_routes: JSONColumnType<json.StaticRoute[]>;
    id: string;
    last_address: string;
    name: string;
    network_id: string;
    /** The last address of an external subnet that has been in `free_external_addresses`. */
    offered_to: string | null;
    /** False while it is being created or deleted. Then no addresses are taken from it. */
    ready: Generated<boolean>;
    revision: GeneratedAlways<number>;
    tags: JSONColumnType<Record<string, string>>;
    task_id: string | null;
    /** Text, as IPv6 has more addresses than a number can express. */
    total_ips: GeneratedAlways<string>;
    updated_at: Date;
    /** Not kept for external subnets. */
    used_ips: Generated<number>;
  };
  suspension_turns: {
    after_id: string | null;
    attempts: Generated<number>;
    client_id: number;
    try_at: Date;
  };
  task_wants: {
    generation: number;
    kind: string;
    task_id: string;
    undo: JSONColumnType<object> | null;
    want_id: string;
  };
  tasks: {
    acknowledged_at: Date | null;
    acknowledged_by: number | null;
    client_id: number;
    created_on: Date;
    created_resources: JSONColumnType<Record<string, (string | number)[]>> | null;
    data: JSONColumnType<object>;
    deadline_at: Date;
    error: string | null;
    finished_on: Date | null;
    id: string;
    /** What the task's end needs to know; null if its end has come already. */
    input: JSONColumnType<object> | null;
    project_id: number | null;
    region_id: number | null;
    request_id: string | null;
    state: 'ERROR' | 'FINISHED' | 'NEW' | 'RUNNING';
    task_type: string;
    updated_on: Date | null;
    user_client_id: number;
    user_id: number;
  };
  /** How far the outgoing traffic of regions is metered. */
  traffic_meters: {
    /** The last machine that is metered for it. */
    after_id: string | null;
    /** The end of what is metered now. Null between two hours. */
    hour_ends: Date | null;
    /** Everything before it is metered. */
    metered_until: Date;
    region_id: number;
    /** Until when a worker has the region. Another goes on then. */
    taken_until: Date | null;
  };
  usage_closings: {
    day: string;
    id: Generated<boolean>;
    next_id: number | null;
  };
  /** Triggers write the rows in the transactions of changes. Workers write those of traffic, one for each port and day. A period that has ended never changes, except one of traffic until its day is closed. */
  usage_periods: {
    /** GiB for things with a size, bytes for traffic, otherwise 1. */
    amount: number;
    client_id: number;
    details: JSONColumnType<json.UsedDetails> | null;
    /** Null while it goes on. */
    ended_at: Date | null;
    id: GeneratedAlways<number>;
    name: string | null;
    project_id: number;
    region_id: number;
    resource_id: string;
    /** What kind of its type it is: a flavor, a type of volumes. Empty where there is one kind only. */
    sku: string;
    /** Full seconds. */
    started_at: Date;
    tags: JSONColumnType<Record<string, string>> | null;
    type:
      | 'baremetal'
      | 'egress_traffic'
      | 'external_ip'
      | 'file_share'
      | 'floatingip'
      | 'image'
      | 'instance'
      | 'load_balancer'
      | 'log_index'
      | 'snapshot'
      | 'volume';
  };
  /** The address to which an account's actions are sent. */
  user_action_subscriptions: {
    auth_header_name: string;
    auth_header_value: string;
    client_id: number;
    created_at: Date;
    /** When to look next for something to send. */
    due_at: Date;
    /** Failed attempts since the last success. */
    failures: Generated<number>;
    id: GeneratedAlways<number>;
    /** Nothing from before this time is left to send. */
    sent_until: Date;
    url: string;
  };
  /** Who did what, or tried to. Requests for a change have no origin; those with a group are in the published log. Commands have the user 0, and credentials that nobody knows the client 0. */
  user_actions: {
    acknowledged: Generated<boolean>;
    action_type: ActionType | null;
    api_group: ApiGroup | null;
    /** How often, if one row stands for all. */
    attempts: number | null;
    client_id: number;
    /** The event that tells of it; `subject` is what that is about. */
    event_type: string | null;
    id: Generated<number>;
    method: string;
    operation: string;
    origin: 'command' | 'refusal' | null;
    outcome: 'accepted' | 'failed' | 'refused';
    path: string;
    project_id: number | null;
    /** Why credentials were refused. */
    reason: string | null;
    region_id: number | null;
    request_id: string;
    resource_ids: string[] | null;
    resource_names: (string | null)[] | null;
    /** The resources that it was about, the most important first; as many as `resource_ids` and `resource_names`. */
    resource_types: ResourceType[] | null;
    source_user_ip: string;
    status: number;
    subject: string | null;
    task_id: string | null;
    timestamp: Date;
    token_id: number | null;
    user_agent: string | null;
    user_id: number;
  };
  users: {
    /** Stored for clients; passwords are the only way to sign in. */
    auth_types: Generated<string[]>;
    /** The account that created the user: one of those in `client_users`, unless the user is deleted. */
    client_id: number;
    created_at: Date;
    deleted_at: Date | null;
    email: string;
    email_changed_at: Date | null;
    /** The address before the last change. */
    former_email: string | null;
    id: Generated<number>;
    /** False: blocked by the platform, everywhere. */
    is_active: Generated<boolean>;
    /** One of those whom the reseller has let work for it, rather than its own administrator. */
    is_seller: Generated<boolean>;
    lang: Generated<'az' | 'de' | 'en' | 'ru' | 'zh'>;
    name: string | null;
    /** Whether somebody else chose the password, and may know it. */
    password_given: Generated<boolean>;
    /** Null: the user can't sign in with a password. */
    password_hash: string | null;
    /** When the user asked for a new password; null once it is set. */
    password_requested_at: Date | null;
    /** Invited by the account in `client_id` and not accepted yet: nobody logs in with this row. */
    pending: Generated<boolean>;
    phone: string | null;
    platform_administrator: boolean;
    /** The reseller this user administers; null for the users of a client. */
    reseller_id: number | null;
    revision: GeneratedAlways<number>;
  };
  volume_attachments: {
    /** Null until the attachment is complete. */
    attached_at: Date | null;
    attachment_tag: string | null;
    /** 0 boots first; null never boots. */
    boot_index: number | null;
    delete_on_termination: boolean;
    device: string;
    id: string;
    instance_id: string;
    volume_id: string;
  };
  volumes: {
    bootable: boolean;
    created_at: Date;
    creator_task_id: string;
    id: string;
    image_metadata: JSONColumnType<Record<string, string>> | null;
    name: string;
    project_id: number;
    region_id: number;
    revision: GeneratedAlways<number>;
    size_gib: number;
    status:
      | 'attaching'
      | 'available'
      | 'awaiting-transfer'
      | 'backing-up'
      | 'creating'
      | 'deleting'
      | 'detaching'
      | 'downloading'
      | 'error'
      | 'error_backing-up'
      | 'error_deleting'
      | 'error_extending'
      | 'error_restoring'
      | 'extending'
      | 'in-use'
      | 'maintenance'
      | 'reserved'
      | 'restoring-backup'
      | 'retyping'
      | 'reverting'
      | 'uploading';
    tags: JSONColumnType<Record<string, string>>;
    /** The task that holds the volume. */
    task_id: string | null;
    updated_at: Date;
    volume_type: 'cold' | 'ssd_hiiops' | 'ssd_local' | 'ssd_lowlatency' | 'standard' | 'ultra';
  };
  /** Deletions that are accepted, and wait until a task has ended that holds what they delete. */
  waiting_deletions: {
    about: JSONColumnType<ActionResource[]>;
    /** What the deletion is called with. */
    args: JSONColumnType<unknown[]>;
    /** The task that they wait for. */
    behind: string;
    /** How often a worker has begun with it. */
    claims: Generated<number>;
    /** The account, which takes turns with others. */
    client_id: number;
    /** When to try next; null until that task has ended. */
    due_at: Date | null;
    /** Whether the thing was in use when they were tried last, since that task has ended. */
    in_use: Generated<boolean>;
    kind: string;
    project_id: number;
    region_id: number;
    /** Their own task, which is NEW. */
    task_id: string;
    /** Names what is deleted: it waits once. */
    thing: string;
    worker_id: string | null;
  };
  want_secrets: {
    kind: string;
    name: string;
    value: string;
    want_id: string;
  };
  /** What is wanted of infrastructure. The row of a thing that must not exist is deleted once its absence is confirmed. */
  wants: {
    after: Generated<string[]>;
    client_id: number;
    doing: string | null;
    due_at: Date | null;
    failures: Generated<number>;
    generation: Generated<number>;
    handle: JSONColumnType<object> | null;
    id: string;
    kind: string;
    observed: JSONColumnType<object> | null;
    project_id: number;
    region_id: number;
    settled_generation: number | null;
    spec: JSONColumnType<object> | null;
    uses: Generated<string[]>;
    worker_id: string | null;
  };
  webhook_deliveries: {
    answer: string | null;
    attempted_at: Date | null;
    attempts: Generated<number>;
    /** The event in JSON, as it is signed and sent. */
    body: string;
    client_id: number;
    created_at: Date;
    /** Null while it waits for another of its subject, and when it has ended. */
    due_at: Date | null;
    ended_at: Date | null;
    event_id: string;
    expires_at: Date;
    fault: string | null;
    id: GeneratedAlways<number>;
    /** Whether later events of the subject wait for it. */
    in_line: boolean;
    state: 'delivered' | 'failed' | 'pending';
    /** The last answer. */
    status: number | null;
    subject: string;
    type: string;
    webhook_id: string;
    /** Who is sending it now. */
    worker_id: string | null;
  };
  /** How the sending goes. Whoever changes deliveries of a webhook has locked its row here. */
  webhook_sending: {
    client_id: number;
    failing_since: Date | null;
    /** Attempts that failed since the last that did not. */
    failures: Generated<number>;
    /** When there may be something to send; null if not before something happens. */
    next_at: Date | null;
    /** By the clock of the database. Webhooks take turns. */
    taken_at: Generated<Date>;
    webhook_id: string;
  };
  /** Where an account wants its events sent. */
  webhooks: {
    /** Earlier events are not sent. */
    after_position: number;
    /** Made by the platform administrator, who sees the events of all accounts. */
    all_accounts: boolean;
    client_id: number;
    created_at: Date;
    created_by: number;
    description: string;
    disabled_reason: 'failing' | 'gone' | null;
    enabled: boolean;
    id: string;
    /** Signs as well until `previous_until`. */
    previous_secret: string | null;
    previous_until: Date | null;
    revision: GeneratedAlways<number>;
    /** Encrypted; null if nobody can decrypt it any more. */
    secret: string | null;
    types: string[];
    updated_at: Date;
    url: string;
  };
  wholesale_lists: {
    created_at: Date;
    created_by: number;
    id: Generated<number>;
    reseller_id: number | null;
    scope: string;
    terms: JSONColumnType<json.ListTerms>;
    valid_from: Date;
  };
  /** Processes that take work. A row outlives its process for a while. */
  workers: {
    beat_at: ColumnType<Date, undefined, Date>;
    /** What its engines for AI tasks can do; null if it takes no AI tasks. */
    capabilities: GeneratedAlways<object | null>;
    host: string;
    id: string;
    pid: number;
    regions: number[] | null;
    started_at: GeneratedAlways<Date>;
  };
}
