import { type Kysely, sql } from 'kysely';
import { createIndexConcurrently } from './migration.ts';

/** Without an account: the newest of all. */
const NEWEST = [
  'file_shares',
  'floating_ips',
  'images',
  'instances',
  'kubernetes_clusters',
  'kubernetes_pools',
  'lb_l7_policies',
  'lb_l7_rules',
  'lb_listeners',
  'lb_members',
  'lb_pools',
  'lifecycle_policies',
  'load_balancers',
  'networks',
  'ports',
  'projects',
  'routers',
  'secrets',
  'security_groups',
  'server_groups',
  'snapshots',
  'ssh_keys',
  'subnets',
  'volumes',
];
/** Their names are addresses, or they have none. */
const NAMELESS = ['floating_ips', 'lb_l7_rules', 'lb_members'];
const NAME = 'lower(name) collate "C"';

/** Of tables in quarters, as 0103 takes them over. */
export const OF_QUARTERS: readonly (readonly [table: string, name: string, columns: string])[] = [
  ['tasks', 'newest', '(created_on desc, id desc)'],
  ['tasks', 'newest_active', `(created_on desc, id desc) where state in ('NEW', 'RUNNING')`],
  ['tasks', 'newest_failed', `(created_on desc, id desc) where state = 'ERROR'`],
  // What the index with the account in front was for, and also without an account.
  ['user_actions', 'by_request_id', '(request_id, client_id)'],
  [
    'user_actions',
    'by_resource_name',
    '(lower(resource_names[1]) collate "C", id) where resource_names[1] is not null',
  ],
];

/** For looking things up across accounts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const make = (table: string, name: string, columns: string) =>
    createIndexConcurrently(db, `${table}_${name}`, `${table} ${columns}`);
  await make('instances', 'unsettled', `(created_at desc, id desc) where status <> 'ACTIVE'`);
  for (const table of NEWEST) {
    await make(table, 'everywhere', '(created_at desc, id desc)');
    if (!NAMELESS.includes(table)) await make(table, 'by_lower_name', `(${NAME}, id)`);
  }
  for (const table of ['ip_assignments', 'router_interfaces', 'lb_members', 'ddos_profiles', 'floating_ips'])
    await make(table, 'by_address', '(address)');
  await make('usage_periods', 'of_address', `((details ->> 'ip_address')) where type in ('external_ip', 'floatingip')`);
  await make('clients', 'by_company', '(lower(company) collate "C", id)');
  await make('clients', 'by_email', '(lower(email) collate "C", id)');
  await make('users', 'by_lower_email', '(lower(email) collate "C", id) where deleted_at is null');
  const { rows } = await sql<{ parent: string; quarter: string }>`
    select inhparent::regclass::text as parent, inhrelid::regclass::text as quarter from pg_inherits
    where inhparent in ('tasks'::regclass, 'user_actions'::regclass)`.execute(db);
  for (const { parent, quarter } of rows) {
    for (const [table, name, columns] of OF_QUARTERS) if (table === parent) await make(quarter, name, columns);
  }
}
