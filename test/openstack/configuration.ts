// The files that the services read. What differs from OpenStack's defaults has its reason here.
import path from 'node:path';

export interface Settings {
  /** All that the rig writes. */
  folder: string;
  /** The first of `PORTS`. */
  port: number;
  /** `fake`: a server is a row of nova's, and nothing runs. `libvirt`: machines run in qemu. */
  node: 'fake' | 'libvirt';
}

export const HERE = '127.0.0.1';
export const REGION = 'RegionOne';
/** Of the administrator and of the services' own user. Everything listens on loopback only. */
export const PASSWORD = 'openstack';
/** The one host that runs everything. */
export const HOST = 'rig';
/** The machines in which load balancers run: their image has this tag. They need no flavor of their own. */
export const AMPHORA = { tag: 'amphora', flavor: 'g1-tiny' };
/** With it, they sign what they tell. */
export const HEARTBEAT_KEY = 'heartbeats';
/** The physical network behind floating IPs. */
export const EXTERNAL = 'ext';
const DATABASES = [
  ...(['keystone', 'placement', 'glance', 'cinder', 'neutron', 'nova', 'nova_api', 'nova_cell0'] as const),
  ...(['octavia', 'barbican'] as const),
] as const;
export type Database = (typeof DATABASES)[number];
/** Neutron and nova take it for no limit, and so does cinder. */
const UNLIMITED = -1;
/** Seconds. A service that was started shows so after this time. */
const REPORT_EACH = 3;
const DAY = 86_400;

/** Where each service answers. */
export function addresses(port: number) {
  const at = (offset: number) => `http://${HERE}:${port + offset}`;
  return {
    keystone: at(0),
    placement: at(1),
    glance: at(2),
    cinder: at(3),
    neutron: at(4),
    nova: at(5),
    console: at(6),
    octavia: at(10),
    barbican: at(11),
  };
}

export const busPort = (port: number): number => port + 7;
export const busNames = (port: number) => ({
  ERL_EPMD_ADDRESS: HERE,
  ERL_EPMD_PORT: String(port + 8),
  RABBITMQ_DIST_PORT: String(port + 9),
});
/** Of UDP. Amphorae tell there how they are. */
export const heartbeatPort = (port: number): number => port + 12;
export const PORTS = 13;

export const socketOf = (folder: string): string => path.join(folder, 'run/mariadb.sock');
export const databaseUrl = (folder: string, name: Database): string =>
  `mysql+pymysql://root@localhost/${name}?unix_socket=${socketOf(folder)}&charset=utf8`;
export const fileOf = (folder: string, name: string): string => path.join(folder, 'etc', name);

/** The folders that services expect. */
export const FOLDERS = [
  ...['run', 'log', 'system/usr', 'system/etc', 'system/work'],
  ...['etc/policies', 'rabbit', 'keystone/fernet', 'keystone/credential', 'nova/instances'],
  ...['glance/images', 'glance/staging', 'glance/tasks', 'cinder/mnt', 'cinder/share', 'cinder/conversion'],
  'octavia',
  ...['glance/lock', 'cinder/lock', 'neutron/lock', 'nova/lock'],
];

type Section = Readonly<Record<string, string | number | boolean>>;
type Sections = Readonly<Record<string, Section>>;

export const ini = (sections: Sections): string =>
  Object.entries(sections)
    .map(([name, section]) =>
      [`[${name}]`, ...Object.entries(section).map(([key, value]) => `${key} = ${value}`), ''].join('\n'),
    )
    .join('\n');

/** Returns the text of each file below the folder, by name. */
export function configurationFiles(settings: Settings): Record<string, string> {
  return {
    'etc/databases.sql': DATABASES.map((name) => `CREATE DATABASE IF NOT EXISTS ${name} CHARACTER SET utf8mb3;\n`).join(
      '',
    ),
    'etc/rabbit.conf': rabbit(settings),
    'etc/rabbit.plugins': '[].\n',
    'etc/keystone.conf': ini(keystone(settings)),
    'etc/placement.conf': ini(placement(settings)),
    'etc/glance.conf': ini(glance(settings)),
    'etc/cinder.conf': ini(cinder(settings)),
    'etc/shares': `${HERE}:${settings.folder}/cinder/share\n`,
    'etc/neutron.conf': ini(neutron(settings)),
    'etc/ml2.ini': ini(ML2),
    'etc/nova.conf': ini(nova(settings)),
    'etc/octavia.conf': ini(octavia(settings)),
    // It looks for both here and nowhere else.
    'system/etc/barbican/barbican.conf': ini(barbican(settings)),
    'system/etc/barbican/barbican-api-paste.ini': BARBICAN_PASTE,
    // A container's own names may be a mount of its own, which the layers hide.
    'system/etc/hosts': `${HERE} localhost\n`,
    'system/usr/sbin/mount.nfs': MOUNT_NFS,
    'system/usr/bin/sudo': SUDO,
  };
}

/** Cinder mounts a folder of this machine as if another one shared it. */
const MOUNT_NFS = `#!/bin/sh
[ $# -ge 2 ] || exit 0
exec mount --bind "\${1#*:}" "$2"
`;

/** All runs as root already. */
const SUDO = `#!/bin/sh
exec "$@"
`;

const rabbit = ({ port }: Settings): string => `listeners.tcp.1 = ${HERE}:${busPort(port)}
log.console = false
vm_memory_high_watermark.absolute = 512MB
disk_free_limit.absolute = 50MB
`;

/** How a service calls another one. */
const login = ({ port }: Settings): Section => ({
  auth_type: 'password',
  auth_url: `${addresses(port).keystone}/v3`,
  username: 'service',
  password: PASSWORD,
  project_name: 'service',
  user_domain_id: 'default',
  project_domain_id: 'default',
  region_name: REGION,
});

/** An empty folder instead of Debian's policies: OpenStack's own apply. */
const policies = ({ folder }: Settings): Section => ({ policy_dirs: `${folder}/etc/policies` });

const logs = ({ folder }: Settings, name: string): Section => ({
  log_file: `${folder}/log/${name}.log`,
  use_stderr: false,
});

/** What the files of most services have in common, and what is their own. */
function service(settings: Settings, name: Database, { DEFAULT, ...own }: Sections): Sections {
  const { folder, port } = settings;
  return {
    DEFAULT: {
      log_dir: `${folder}/log`,
      use_stderr: false,
      host: HOST,
      transport_url: `rabbit://guest:guest@${HERE}:${busPort(port)}/`,
      state_path: `${folder}/${name}`,
      ...DEFAULT,
    },
    database: { connection: databaseUrl(folder, name) },
    oslo_concurrency: { lock_path: `${folder}/${name}/lock` },
    oslo_policy: policies(settings),
    oslo_messaging_notifications: { driver: 'noop' },
    oslo_messaging_rabbit: { heartbeat_timeout_threshold: 0 },
    keystone_authtoken: authentication(settings),
    ...own,
  };
}

const authentication = (settings: Settings): Section => ({
  ...login(settings),
  www_authenticate_uri: addresses(settings.port).keystone,
  token_cache_time: 300,
  service_token_roles_required: true,
  service_token_roles: 'admin',
});

const serviceUser = (settings: Settings): Section => ({ ...login(settings), send_service_user_token: true });

function keystone(settings: Settings): Sections {
  const { folder } = settings;
  return {
    DEFAULT: logs(settings, 'keystone'),
    database: { connection: databaseUrl(folder, 'keystone') },
    token: { expiration: DAY },
    // The fewest that bcrypt has: a token takes 0.3 s otherwise.
    identity: { password_hash_rounds: 4 },
    fernet_tokens: { key_repository: `${folder}/keystone/fernet` },
    credential: { key_repository: `${folder}/keystone/credential` },
    oslo_policy: policies(settings),
  };
}

function placement(settings: Settings): Sections {
  return {
    DEFAULT: logs(settings, 'placement'),
    placement_database: { connection: databaseUrl(settings.folder, 'placement') },
    keystone_authtoken: login(settings),
    oslo_policy: policies(settings),
  };
}

function glance(settings: Settings): Sections {
  const { folder, port } = settings;
  const store = (name: string): Section => ({ filesystem_store_datadir: `${folder}/glance/${name}` });
  return service(settings, 'glance', {
    DEFAULT: { bind_host: HERE, bind_port: port + 2, workers: 1, enabled_backends: 'file:file' },
    file: store('images'),
    os_glance_staging_store: store('staging'),
    os_glance_tasks_store: store('tasks'),
    glance_store: { default_backend: 'file' },
    paste_deploy: { flavor: 'keystone', config_file: '/usr/share/glance-common/glance-api-paste.ini' },
  });
}

function cinder(settings: Settings): Sections {
  const { folder, port } = settings;
  const quotas = ['volumes', 'snapshots', 'gigabytes', 'backups', 'backup_gigabytes', 'groups'];
  return service(settings, 'cinder', {
    DEFAULT: {
      osapi_volume_listen: HERE,
      osapi_volume_listen_port: port + 3,
      osapi_volume_workers: 1,
      api_paste_config: '/usr/share/cinder-common/api-paste.ini',
      resource_query_filters_file: '/etc/cinder/resource_filters.json',
      rootwrap_config: '/etc/cinder/rootwrap.conf',
      auth_strategy: 'keystone',
      glance_api_servers: addresses(port).glance,
      enabled_backends: 'files',
      default_volume_type: 'standard',
      image_conversion_dir: `${folder}/cinder/conversion`,
      report_interval: REPORT_EACH,
      ...Object.fromEntries(quotas.map((name) => [`quota_${name}`, UNLIMITED])),
      per_volume_size_limit: UNLIMITED,
    },
    // Files need no module of the kernel, unlike LVM, iSCSI or NFS itself: our mount.nfs binds a folder.
    files: {
      volume_driver: 'cinder.volume.drivers.nfs.NfsDriver',
      volume_backend_name: 'files',
      nfs_shares_config: `${folder}/etc/shares`,
      nfs_mount_point_base: `${folder}/cinder/mnt`,
      nfs_snapshot_support: true,
      nfs_qcow2_volumes: true,
      nas_secure_file_operations: false,
      nas_secure_file_permissions: false,
      max_over_subscription_ratio: 1000,
      image_volume_cache_enabled: false,
    },
    nova: login(settings),
    service_user: serviceUser(settings),
  });
}

function neutron(settings: Settings): Sections {
  const quotas = [
    'network',
    'subnet',
    'port',
    'router',
    'floatingip',
    'security_group',
    'security_group_rule',
    'rbac_policy',
  ];
  return service(settings, 'neutron', {
    DEFAULT: {
      bind_host: HERE,
      bind_port: settings.port + 4,
      api_workers: 1,
      rpc_workers: 1,
      rpc_state_report_workers: 0,
      core_plugin: 'ml2',
      service_plugins: 'router',
      api_paste_config: '/usr/share/neutron-common/api-paste.ini',
      notify_nova_on_port_status_changes: true,
      notify_nova_on_port_data_changes: true,
      dhcp_agent_notification: settings.node === 'libvirt',
      vlan_transparent: false,
    },
    quotas: {
      default_quota: UNLIMITED,
      ...Object.fromEntries(quotas.map((name) => [`quota_${name}`, UNLIMITED])),
    },
    nova: login(settings),
    placement: login(settings),
    agent: { root_helper: 'sudo /usr/bin/neutron-rootwrap /etc/neutron/rootwrap.conf' },
  });
}

/** Linux bridges: the kernel may have no Open vSwitch. */
const ML2: Sections = {
  ml2: {
    type_drivers: 'flat,vxlan',
    tenant_network_types: 'vxlan',
    mechanism_drivers: 'linuxbridge',
    extension_drivers: 'port_security',
  },
  ml2_type_flat: { flat_networks: EXTERNAL },
  ml2_type_vxlan: { vni_ranges: '1:100000' },
  securitygroup: { enable_security_group: true, firewall_driver: 'iptables' },
  experimental: { linuxbridge: true },
};

function nova(settings: Settings): Sections {
  const { folder, port, node } = settings;
  const at = addresses(port);
  const quotas = ['instances', 'cores', 'ram', 'metadata_items', 'key_pairs', 'server_groups', 'server_group_members'];
  return service(settings, 'nova', {
    DEFAULT: {
      my_ip: HERE,
      osapi_compute_listen: HERE,
      osapi_compute_listen_port: port + 5,
      osapi_compute_workers: 1,
      enabled_apis: 'osapi_compute',
      compute_driver: node === 'fake' ? 'fake.FakeDriver' : 'libvirt.LibvirtDriver',
      instances_path: `${folder}/nova/instances`,
      rootwrap_config: '/etc/nova/rootwrap.conf',
      report_interval: REPORT_EACH,
      force_config_drive: true,
      // With one host, a resize fails without a word otherwise.
      allow_resize_to_same_host: true,
      // Of machines that run. A busy computer takes long.
      vif_plugging_timeout: 300,
      reserved_host_memory_mb: 0,
      resume_guests_state_on_host_boot: false,
    },
    api_database: { connection: databaseUrl(folder, 'nova_api') },
    wsgi: { api_paste_config: '/usr/share/nova-common/api-paste.ini' },
    conductor: { workers: 1 },
    scheduler: { workers: 1 },
    filter_scheduler: { track_instance_changes: false },
    quota: Object.fromEntries(quotas.map((name) => [name, UNLIMITED])),
    placement: login(settings),
    neutron: login(settings),
    cinder: { ...login(settings), catalog_info: 'volumev3::publicURL' },
    service_user: serviceUser(settings),
    glance: { api_servers: at.glance },
    libvirt: { virt_type: 'qemu', cpu_mode: 'none' },
    vnc: {
      enabled: true,
      server_listen: HERE,
      server_proxyclient_address: HERE,
      novncproxy_base_url: `${at.console}/vnc_lite.html`,
      novncproxy_host: HERE,
      novncproxy_port: port + 6,
    },
    compute: { max_concurrent_disk_ops: 2 },
  });
}

/** What runs in an amphora is left out. All around it is there: its machine, its ports and its security groups. */
function octavia(settings: Settings): Sections {
  const { folder, port } = settings;
  return service(settings, 'octavia', {
    service_auth: login(settings),
    // Of the driver before this one. Its worker ends without a topic, again and again.
    oslo_messaging: { topic: 'octavia_prov' },
    controller_worker: {
      amphora_driver: 'amphora_noop_driver',
      compute_driver: 'compute_nova_driver',
      // Without a network named here, Nova takes the only one of the services' project.
      amp_flavor_id: AMPHORA.flavor,
      amp_image_tag: AMPHORA.tag,
      client_ca: amphoraCa(folder).certificate,
      // It asks Nova each second whether a machine runs. A busy computer takes long.
      amp_active_wait_sec: 1,
      amp_active_retries: 300,
    },
    certificates: {
      ca_certificate: amphoraCa(folder).certificate,
      ca_private_key: amphoraCa(folder).key,
    },
    health_manager: {
      bind_ip: HERE,
      bind_port: heartbeatPort(port),
      heartbeat_key: HEARTBEAT_KEY,
      health_update_threads: 1,
      stats_update_threads: 1,
      // Amphorae tell something only when a test does it for them. They'd be replaced otherwise.
      heartbeat_timeout: DAY,
    },
  });
}

/** It signs the certificates of amphorae. */
export const amphoraCa = (folder: string) => ({
  certificate: `${folder}/octavia/ca.pem`,
  key: `${folder}/octavia/ca.key`,
});

const barbican = (settings: Settings): Sections => ({
  DEFAULT: {
    ...logs(settings, 'barbican'),
    sql_connection: databaseUrl(settings.folder, 'barbican'),
    host_href: addresses(settings.port).barbican,
  },
  oslo_policy: policies(settings),
  keystone_authtoken: authentication(settings),
});

const BARBICAN_PASTE = `[pipeline:main]
pipeline = config:/usr/share/barbican-common/barbican-api-paste.ini
`;
