// What a new cloud needs once: the databases and their schemas, and Keystone's keys and administrator.
import {
  addresses,
  amphoraCa,
  type Database,
  databaseUrl,
  EXTERNAL,
  fileOf,
  HERE,
  HOST,
  PASSWORD,
  REGION,
  type Settings,
  socketOf,
} from './configuration.ts';
import type { Program } from './machine.ts';

export type Project = 'keystone' | 'placement' | 'glance' | 'cinder' | 'neutron' | 'nova' | 'octavia' | 'barbican';

/** Before the database starts. */
export const databaseFolder = ({ folder }: Settings): Program => ({
  command: 'mariadb-install-db',
  args: [
    ...['--no-defaults', '--user=root', `--datadir=${folder}/mariadb`],
    ...['--auth-root-authentication-method=socket', '--skip-test-db'],
  ],
});

/** As soon as the database runs. */
export const databases = (settings: Settings): Program =>
  sql(settings, 'mysql', `source ${fileOf(settings.folder, 'databases.sql')}`);

/** Those of a project in their order, before it starts. */
export function schemas(settings: Settings): Record<Project, Program[]> {
  const { folder, port } = settings;
  const manage = (project: Project, ...args: string[]): Program => ({
    command: `${project}-manage`,
    args: ['--config-file', fileOf(folder, `${project}.conf`), ...args],
  });
  const asRoot = ['--keystone-user', 'root', '--keystone-group', 'root'];
  const url = `${addresses(port).keystone}/v3/`;
  const administrator = ['--bootstrap-password', PASSWORD, '--bootstrap-region-id', REGION];
  const endpoints = ['--bootstrap-public-url', url, '--bootstrap-internal-url', url];
  return {
    keystone: [
      manage('keystone', 'db_sync'),
      manage('keystone', 'fernet_setup', ...asRoot),
      manage('keystone', 'credential_setup', ...asRoot),
      manage('keystone', 'bootstrap', ...administrator, ...endpoints),
    ],
    nova: [
      manage('nova', 'api_db', 'sync'),
      manage('nova', 'cell_v2', 'map_cell0', '--database_connection', databaseUrl(folder, 'nova_cell0')),
      manage('nova', 'db', 'sync'),
      manage('nova', 'cell_v2', 'create_cell', '--name', 'cell1'),
      sql(settings, 'nova_api', HOST_OF_CELL),
    ],
    cinder: [manage('cinder', 'db', 'sync')],
    neutron: [neutronSchema(settings), ...(settings.node === 'fake' ? [sql(settings, 'neutron', AGENT)] : [])],
    placement: [manage('placement', 'db', 'sync')],
    glance: [manage('glance', 'db_sync')],
    octavia: [
      { ...manage('octavia', 'upgrade', 'head'), command: 'octavia-db-manage' },
      certificateAuthority(settings),
    ],
    barbican: [{ command: 'barbican-manage', args: ['db', 'upgrade'] }],
  };
}

const neutronSchema = ({ folder }: Settings): Program => ({
  command: 'neutron-db-manage',
  args: ['neutron.conf', 'ml2.ini']
    .flatMap((name) => ['--config-file', fileOf(folder, name)])
    .concat('upgrade', 'heads'),
});

const certificateAuthority = ({ folder }: Settings): Program => ({
  command: 'openssl',
  args: [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '3650', '-subj', '/CN=amphorae'],
    ...['-keyout', amphoraCa(folder).key, '-out', amphoraCa(folder).certificate],
  ],
});

const sql = ({ folder }: Settings, database: Database | 'mysql', text: string): Program => ({
  command: 'mariadb',
  args: ['--no-defaults', '--socket', socketOf(folder), '--execute', text, database],
});

/** What "nova-manage cell_v2 discover_hosts" writes once the host is there. */
const HOST_OF_CELL = `INSERT INTO host_mappings (created_at, cell_id, host)
  SELECT NOW(), id, '${HOST}' FROM cell_mappings WHERE name = 'cell1'`;

const AGENT_CONFIGURATION = JSON.stringify({
  bridge_mappings: { [EXTERNAL]: 'brext' },
  tunnel_types: ['vxlan'],
  tunneling_ip: HERE,
  interface_mappings: {},
});
/** Ports are bound only on a host with a living agent. This one was last heard of in 2099. */
const AGENT = `INSERT INTO agents (id, agent_type, \`binary\`, topic, host, admin_state_up, created_at, started_at,
    heartbeat_timestamp, configurations, \`load\`, resources_synced, resource_versions)
  VALUES (UUID(), 'Linux bridge agent', 'neutron-linuxbridge-agent', 'N/A', '${HOST}', 1, NOW(), NOW(),
    '2099-01-01', '${AGENT_CONFIGURATION}', 0, 1, '{}')`;
