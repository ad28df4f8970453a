/*
 * What the schema doesn't say about its columns. The schema itself gives types, defaults, nullability, what only the database
 * writes, and the values of a text column if a check lists them.
 */

/** The migrator's own; kysely leaves out its tables itself. */
export const LEFT_OUT = 'schema_breaks';

/**
 * What JSON columns hold, if not an object that only its feature knows. A name without its table stands for the columns of all
 * tables that have no entry of their own.
 */
export const JSON_COLUMNS: Record<string, string> = {
  tags: 'Record<string, string>',
  taxes: 'TaxSum[]',
  'ai_tasks.task_data': 'TaskData',
  'billing_profiles.profile': 'BillingProfile',
  'credit_notes.lines': 'CreditedLine[]',
  'ddos_profiles.fields': 'DdosField[]',
  'instances.flavor': 'KeptFlavor',
  'invoices.customer': 'BillingParty',
  'invoices.issuer': 'IssuerSettings',
  'issuer_settings.settings': 'IssuerSettings',
  'kubernetes_clusters.configuration': 'ClusterConfiguration',
  'kubernetes_clusters.next_configuration': 'ClusterConfiguration',
  'kubernetes_pools.crio_config': 'Record<string, string>',
  'kubernetes_pools.kubelet_config': 'Record<string, string>',
  'kubernetes_pools.labels': 'Record<string, string>',
  'kubernetes_pools.taints': 'Record<string, string>',
  'lb_listeners.user_list': 'ListenerUser[]',
  'lb_pools.health_monitor': 'HealthMonitor',
  'lb_pools.session_persistence': 'SessionPersistence',
  'load_balancers.flavor': 'KeptLbFlavor',
  'load_balancers.logging': 'LogForwarding',
  'price_lists.terms': 'ListTerms',
  'wholesale_lists.terms': 'ListTerms',
  'quota_lists.limits': 'ListedLimits',
  'quota_requests.requested_limits': 'RequestedLimits',
  'routers.routes': 'StaticRoute[]',
  'subnets.dns_nameservers': 'string[]',
  'subnets.host_routes': 'StaticRoute[]',
  'tasks.created_resources': 'Record<string, (string | number)[]>',
  'usage_periods.details': 'UsedDetails',
  'volumes.image_metadata': 'Record<string, string>',
  'waiting_deletions.about': 'ActionResource[]',
  'waiting_deletions.args': 'unknown[]',
};

/** The words of texts that no check lists. */
export const WORDS: Record<string, string[]> = {
  'ai_task_changes.status': ['FAILURE', 'PENDING', 'RECEIVED', 'RETRY', 'REVOKED', 'STARTED', 'SUCCESS'],
  'client_services.previous_status': ['activating', 'active', 'deleted', 'new', 'paused', 'trial', 'trialend'],
  'lb_l7_policies.action': ['REDIRECT_PREFIX', 'REDIRECT_TO_POOL', 'REDIRECT_TO_URL', 'REJECT'],
  'lb_listeners.protocol': ['HTTP', 'HTTPS', 'PROMETHEUS', 'TCP', 'TERMINATED_HTTPS', 'UDP'],
  'lb_pools.lb_algorithm': ['LEAST_CONNECTIONS', 'ROUND_ROBIN', 'SOURCE_IP'],
  'lb_pools.protocol': ['HTTP', 'HTTPS', 'PROXY', 'PROXYV2', 'TCP', 'UDP'],
  'price_lists.scope': ['client', 'everyone', 'reseller'],
  provisioning_status: ['ACTIVE', 'DELETED', 'ERROR', 'PENDING_CREATE', 'PENDING_DELETE', 'PENDING_UPDATE'],
  'quota_lists.scope': ['client', 'everyone', 'reseller'],
  'snapshots.volume_type': ['cold', 'ssd_hiiops', 'ssd_local', 'ssd_lowlatency', 'standard', 'ultra'],
  'budgets.currency': ['AZN', 'EUR', 'USD'],
  'invoices.currency': ['AZN', 'EUR', 'USD'],
  'usage_periods.type': [
    'baremetal',
    'egress_traffic',
    'external_ip',
    'file_share',
    'floatingip',
    'image',
    'instance',
    'load_balancer',
    'log_index',
    'snapshot',
    'volume',
  ],
  'user_actions.origin': ['command', 'refusal'],
  'webhooks.disabled_reason': ['failing', 'gone'],
};

/** What no statement may change. */
export const FIXED: string[] = [
  'floating_ips.address',
  'instances.pool_id',
  'ip_assignments.address',
  'quota_requests.client_id',
  'router_interfaces.address',
  'secrets.algorithm',
  'secrets.bit_length',
  'secrets.content_type',
  'secrets.expires_at',
  'secrets.holds',
  'secrets.mode',
  'secrets.name',
  'secrets.secret_type',
  'security_groups.cluster_id',
  'server_groups.name',
  'server_groups.policy',
  'server_groups.pool_id',
];

/** Types as they are: of what is written in its own way, or not as the database would let us. */
export const TYPES: Record<string, string> = {
  'ai_task_changes.noted_at': 'GeneratedAlways<Date>',
  'ai_task_changes.sign': '1 | -1 | null',
  'ai_task_changes.xid': 'string',
  'ai_task_runs.begun_at': 'GeneratedAlways<Date>',
  'ai_tasks.completed_at': 'ColumnType<Date | null, undefined, Date>',
  'ai_tasks.losses': 'ColumnType<number, undefined, number>',
  'ai_tasks.result': 'ColumnType<object | null, string | undefined, string>',
  'ai_tasks.retry_at': 'ColumnType<Date | null, undefined, Date | null>',
  'ai_tasks.started_at': 'ColumnType<Date | null, undefined, Date>',
  'catalog.revision': 'number',
  'catalog_readers.revision': 'number',
  'deletions.steps': 'ColumnType<DeletionStep[], string | undefined, string>',
  'file_shares.access': 'GeneratedAlways<unknown>',
  'mails.data': 'unknown',
  'ports.allowed_address_pairs': 'ColumnType<AddressPair[], string | undefined, string>',
  'ports.mac_address': 'GeneratedAlways<string>',
  revision: 'GeneratedAlways<number>',
  'router_interfaces.mac_address': 'GeneratedAlways<string>',
  'signing_keys.jwk': 'ColumnType<object | string, string, never>',
  'simulated_objects.made': 'JSONColumnType<object> | string | null',
  'simulated_objects.revision': 'number',
  'subnets.total_ips': 'GeneratedAlways<string>',
  'user_actions.action_type': 'ActionType | null',
  'user_actions.api_group': 'ApiGroup | null',
  'user_actions.resource_names': '(string | null)[] | null',
  'user_actions.resource_types': 'ResourceType[] | null',
  'waiting_deletions.client_id': 'number',
  'waiting_deletions.thing': 'string',
  'workers.capabilities': 'GeneratedAlways<object | null>',
  'workers.beat_at': 'ColumnType<Date, undefined, Date>',
  'workers.started_at': 'GeneratedAlways<Date>',
};

/** Where the types come from that these maps name. */
export const IMPORTS: [module: string, names: string[]][] = [
  ['kysely', ['ColumnType', 'Generated', 'GeneratedAlways', 'JSONColumnType']],
  ['../lib/ddos-profile.ts', ['DdosField']],
  ['../lib/log-forwarding.ts', ['LogForwarding']],
  ['../lib/published-names.ts', ['ActionType', 'ApiGroup']],
  ['../lib/resources.ts', ['ActionResource', 'ResourceType']],
];

/** The types of JSON columns, from `src/db/json-columns.ts`. */
export const JSON_NAMES = [
  'AddressPair',
  'BillingParty',
  'BillingProfile',
  'ClusterConfiguration',
  'CreditedLine',
  'DeletionStep',
  'HealthMonitor',
  'IssuerSettings',
  'KeptFlavor',
  'KeptLbFlavor',
  'ListedLimits',
  'ListenerUser',
  'ListTerms',
  'RequestedLimits',
  'SessionPersistence',
  'StaticRoute',
  'TaskData',
  'TaxSum',
  'UsedDetails',
];
