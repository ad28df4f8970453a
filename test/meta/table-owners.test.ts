import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PARTS, sourceFiles } from '../../scripts/source-files.ts';

/*
 * Features may join any table, but only write their own. Code that writes another feature's table relies on
 * rules that its author will have forgotten when they change.
 */

const sources = ['src', ...PARTS]
  .flatMap((folder) => sourceFiles(undefined, folder))
  .filter((file) => !/\.test\.ts$|\/fixtures\//.test(file));

/** Whose the tables are. */
const OWNERS: Record<string, string> = {
  simulation: 'simulated_hosts simulated_objects',
  'src/cloud/compute/instances': 'instances suspension_turns',
  'src/cloud/compute/placement-groups': 'server_group_members server_groups',
  'src/cloud/compute/ssh-keys': 'ssh_keys',
  'src/cloud/ground/catalog': 'catalog catalog_readers price_books',
  'src/cloud/ground/logging': 'logging_services logging_topics',
  'src/cloud/ground/maintenance': 'maintenances',
  'src/cloud/ground/prices/lists': 'former_resellers price_lists wholesale_lists',
  'src/cloud/ground/prices/parties': 'billing_profiles issuer_settings',
  'src/cloud/ground/projects': 'deleted_projects projects',
  'src/cloud/ground/quotas': 'quota_limits quota_requests quota_thresholds quota_usage quota_warnings',
  'src/cloud/ground/quotas/lists': 'quota_lists',
  'src/cloud/ground/tasks': 'tasks waiting_deletions',
  'src/cloud/ground/user-actions': 'user_action_subscriptions',
  'src/cloud/kubernetes/clusters':
    'kubernetes_clusters kubernetes_credentials kubernetes_pool_security_groups kubernetes_pools',
  'src/cloud/load-balancing/load-balancers':
    'lb_l7_policies lb_l7_rules lb_listeners lb_members lb_pools load_balancers',
  'src/cloud/load-balancing/secrets': 'secret_uses secrets',
  'src/cloud/money/budgets': 'budgets',
  'src/cloud/money/costs': 'traffic_meters usage_closings usage_periods',
  'src/cloud/money/invoices': 'billed_months credit_notes invoice_counters invoice_lines invoices payments',
  'src/cloud/network/ddos': 'ddos_profiles',
  'src/cloud/network/floating-ips': 'floating_ips',
  'src/cloud/network/networks': 'free_external_addresses ip_assignments networks subnets',
  'src/cloud/network/ports': 'port_security_groups ports',
  'src/cloud/network/routers': 'router_interfaces routers',
  'src/cloud/network/security-groups': 'security_group_rules security_groups',
  'src/cloud/storage/file-shares': 'file_share_access_rules file_shares',
  'src/cloud/storage/images': 'images',
  'src/cloud/storage/volumes': 'volume_attachments volumes',
  'src/cloud/storage/volumes/schedules':
    'lifecycle_policies lifecycle_policy_volumes scheduled_snapshots snapshot_schedules snapshot_turns',
  'src/cloud/storage/volumes/snapshots': 'snapshots',
  'src/convergence': 'task_wants want_secrets wants',
  'src/iam/client-services': 'client_services',
  'src/iam/client-services/availability': 'client_products product_defaults',
  'src/iam/clients': 'client_status_changes clients resellers',
  'src/iam/features': 'feature_activations',
  'src/iam/identity': 'signing_keys',
  'src/iam/logins': 'known_logins login_attempts login_limits login_sessions',
  'src/iam/logins/console': 'console_codes sign_in_codes',
  'src/iam/logins/password-resets': 'password_resets',
  'src/iam/logins/second-factors': 'recovery_codes second_factors sign_in_challenges',
  'src/iam/notification-settings': 'notification_settings',
  'src/iam/role-assignments': 'role_assignments',
  'src/iam/tokens': 'api_tokens',
  'src/iam/users': 'client_users invitations users',
  'src/iam/users/sign-in': 'sign_in_policies',
  'src/iam/users/single-sign-on': 'identities identity_providers sign_in_states',
  'src/mail': 'mails',
  'src/requests': 'idempotency_keys user_actions',
  'src/secrets': 'data_keys',
  'src/start': 'removal_time',
  'src/streaming/ai-tasks': 'ai_task_changes ai_task_runs ai_tasks',
  'src/tradewind/audit': 'audit_retention audit_seals',
  'src/tradewind/deletion-requests': 'deletion_requests',
  'src/tradewind/deletions': 'deletion_confirmations deletions',
  'src/tradewind/events': 'event_readers events forgotten_events',
  'src/tradewind/webhooks': 'webhook_deliveries webhook_sending webhooks',
  'src/worker': 'workers',
};
/** Only triggers write it, when an account gets another reseller. */
const WRITTEN_BY_TRIGGERS = ['former_resellers'];

/**
 * Tables with two owners: the feature writes how a task begins and waits, convergence how it continues and ends; requests
 * write what happened, and those who show it forget it or note what they have sent. The rows of accounts and people have their locks and what many need
 * in `iam/accounts`. Addresses are taken and given back in `network/addresses`, which stands below networks.
 */
const SHARED: Record<string, string> = {
  events: 'src/requests',
  user_actions: 'src/cloud/ground/user-actions',
  free_external_addresses: 'src/cloud/network/addresses',
  ip_assignments: 'src/cloud/network/addresses',
  subnets: 'src/cloud/network/addresses',
  clients: 'src/iam/accounts',
  resellers: 'src/iam/accounts',
  users: 'src/iam/accounts',
  client_users: 'src/iam/accounts',
  invitations: 'src/iam/accounts',
  tasks: 'src/convergence',
  task_wants: 'src/cloud/ground/tasks',
  waiting_deletions: 'src/convergence',
};

const owners = new Map(
  Object.entries(OWNERS).flatMap(([folder, tables]) => tables.split(' ').map((table) => [table, folder] as const)),
);

const WRITES = [
  /\b(?:insertInto|updateTable|deleteFrom)\('(\w+)(?: as \w+)?'/g,
  /\b(?:insert into|delete from|merge into)\s+(\w+)/gi,
  /(?<!\bfor (?:no key )?)\bupdate\s+(\w+)\s+(?:(?:as\s+)?(?!set\b)\w+\s+)?set\b/gi,
];

function writesOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return WRITES.flatMap((pattern) => [...text.matchAll(pattern)].map(([, table = '']) => table.toLowerCase()));
}

const within = (file: string, folder: string | undefined) => folder !== undefined && file.startsWith(`${folder}/`);

it('knows who owns each table, and finds the statements that write it', () => {
  const [, tables = ''] = /interface Tables \{\n(.*?)\n\}/s.exec(readFileSync('src/db/tables.ts', 'utf8')) ?? [];
  expect([...owners.keys()].sort()).toEqual(
    [...tables.matchAll(/^ {2}(\w+): /gm)].map(([, table = '']) => table).sort(),
  );
  const written = new Set([...sources.flatMap(writesOf), ...WRITTEN_BY_TRIGGERS]);
  expect([...owners.keys()].filter((table) => !written.has(table))).toEqual([]);
});

it('lets no feature write the tables of another', () => {
  const foreign = sources.flatMap((file) =>
    writesOf(file)
      .filter((table) => owners.has(table))
      .filter((table) => !within(file, owners.get(table)) && !within(file, SHARED[table]))
      .map((table) => `${file} writes ${table}, which belongs to ${owners.get(table)}`),
  );
  expect(foreign).toEqual([]);
});
