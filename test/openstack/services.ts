// The services: what each one runs, and when it is ready.
import net from 'node:net';
import path from 'node:path';
import { addresses, busNames, busPort, fileOf, HERE, heartbeatPort, type Settings, socketOf } from './configuration.ts';
import { libvirtSocket } from './hypervisor.ts';
import type { Machine, Program } from './machine.ts';
import { takesOrders } from './workers.ts';

/** They report to the database that they live. */
const WORKERS = ['cinder-scheduler', 'cinder-volume', 'nova-conductor', 'nova-scheduler', 'nova-compute'] as const;
/** The first is the database. */
const SERVICES = [
  ...(['mariadb', 'rabbitmq', 'keystone', 'placement', 'glance', 'cinder-api', 'neutron', 'nova-api'] as const),
  ...WORKERS,
  ...(['barbican', 'octavia-api', 'octavia-worker', 'octavia-health-manager'] as const),
] as const;
/** They report to Neutron that they live. */
export const AGENTS = ['neutron-linuxbridge-agent', 'neutron-l3-agent', 'neutron-dhcp-agent'] as const;
/** Those of a node whose machines run. */
const HYPERVISOR = ['libvirtd', ...AGENTS, 'nova-novncproxy'] as const;
export type ServiceName = (typeof SERVICES)[number] | (typeof HYPERVISOR)[number];

export const servicesOn = (node: Settings['node']): readonly ServiceName[] =>
  node === 'fake' ? SERVICES : [...SERVICES, ...HYPERVISOR];

export const isWorker = (name: ServiceName): boolean => [...WORKERS, ...AGENTS].some((worker) => worker === name);

/** Keystone is asked by all others. */
const KEYSTONE_PROCESSES = 2;
const CONNECT_MS = 2_000;
const ANSWER_MS = 60_000;
/** Of AMQP 0-9-1. */
const BUS_GREETING = 'AMQP\0\0\t\x01';

/** Returns what a service runs. */
export function programOf(name: ServiceName, settings: Settings): Program {
  const { folder, port } = settings;
  const file = (base: string) => ['--config-file', fileOf(folder, base)];
  switch (name) {
    case 'mariadb':
      return mariadb(settings);
    case 'rabbitmq':
      return rabbitmq(settings);
    case 'keystone':
      return wsgi('/usr/bin/keystone-wsgi-public', port, KEYSTONE_PROCESSES, {
        OS_KEYSTONE_CONFIG_DIR: `${folder}/etc/policies`,
        OS_KEYSTONE_CONFIG_FILES: fileOf(folder, 'keystone.conf'),
      });
    case 'placement':
      return wsgi('/usr/bin/placement-api', port + 1, 1, { OS_PLACEMENT_CONFIG_DIR: path.join(folder, 'etc') });
    case 'octavia-api': {
      const { command, args } = wsgi('/usr/bin/octavia-wsgi', port + 10, 1);
      return { command, args: [...args, '--pyargv', file('octavia.conf').join(' ')] };
    }
    case 'barbican':
      return wsgi('/usr/bin/barbican-wsgi-api', port + 11, 1);
    case 'glance':
      return { command: 'glance-api', args: file('glance.conf') };
    case 'neutron':
      return { command: 'neutron-server', args: [...file('neutron.conf'), ...file('ml2.ini')] };
    case 'neutron-linuxbridge-agent':
    case 'neutron-l3-agent':
    case 'neutron-dhcp-agent':
      return { command: name, args: ['neutron.conf', 'ml2.ini', 'agents.ini'].flatMap(file) };
    case 'libvirtd':
      return { command: name, args: ['--config', '/etc/libvirt/libvirtd.conf'] };
    default: {
      const [project = ''] = name.split('-');
      return { command: name, args: file(`${project}.conf`) };
    }
  }
}

const mariadb = ({ folder }: Settings): Program => ({
  command: 'mariadbd',
  args: [
    ...['--no-defaults', '--user=root', `--datadir=${folder}/mariadb`, `--socket=${socketOf(folder)}`],
    ...['--skip-networking', '--max-connections=500', '--performance-schema=off'],
    // A test needs no more than that a killed server loses nothing.
    '--innodb-flush-log-at-trx-commit=2',
  ],
});

/** RabbitMQ's own script, without the one of Debian around it, which wants a user. */
const rabbitmq = ({ folder, port }: Settings): Program => ({
  command: 'sh',
  args: ['-c', 'exec /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server'],
  env: {
    ...busNames(port),
    HOME: `${folder}/rabbit`,
    RABBITMQ_NODENAME: 'rig@localhost',
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_CONFIG_FILE: fileOf(folder, 'rabbit.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: fileOf(folder, 'rabbit.plugins'),
    RABBITMQ_MNESIA_BASE: `${folder}/rabbit`,
    RABBITMQ_LOG_BASE: `${folder}/log`,
    // One scheduler that sleeps when it has nothing to do takes a third of the memory.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 1:1 +sbwt none -kernel inet_dist_use_interface {127,0,0,1}',
  },
});

/** A process has one thread: with more, Keystone answers 403 now and then. */
function wsgi(program: string, port: number, processes: number, env: Record<string, string> = {}): Program {
  return {
    command: 'uwsgi_python311',
    args: [
      ...['--http-socket', `${HERE}:${port}`, '--add-header', 'Connection: close', '--buffer-size', '65535'],
      ...['--master', '--die-on-term', '--no-orphans', '--lazy-apps', '--enable-threads', '--thunder-lock'],
      ...['--plugins', 'python3', '--processes', String(processes), '--threads', '1', '--listen', '100'],
      ...['--disable-logging', '--wsgi-file', program],
    ],
    env,
  };
}

/** Whether a service answers. Workers have no port: for them, see `workers.ts`. */
export async function answers(name: ServiceName, { folder, port }: Settings, machine: Machine): Promise<boolean> {
  const at = addresses(port);
  switch (name) {
    case 'mariadb':
      return connects({ path: socketOf(folder) });
    case 'rabbitmq':
      return connects({ host: HERE, port: busPort(port) }, BUS_GREETING);
    case 'keystone':
      return answersHttp(`${at.keystone}/v3`);
    case 'placement':
    case 'glance':
    case 'neutron':
    case 'barbican':
      return answersHttp(`${at[name]}/`);
    case 'octavia-api':
      return answersHttp(`${at.octavia}/`);
    case 'octavia-worker':
      return takesOrders(machine, port);
    case 'octavia-health-manager':
      return listens(machine, heartbeatPort(port));
    case 'cinder-api':
      return answersHttp(`${at.cinder}/`);
    case 'nova-api':
      return answersHttp(`${at.nova}/`);
    case 'nova-novncproxy':
      return answersHttp(`${at.console}/vnc_lite.html`);
    case 'libvirtd':
      return connects({ path: libvirtSocket(folder) });
    default:
      return true;
  }
}

/** Whether somebody listens there, and answers the greeting if there is one. */
export function connects(where: net.NetConnectOpts, greeting?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ ...where, timeout: CONNECT_MS });
    const end = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    if (greeting === undefined) socket.once('connect', () => end(true));
    else socket.once('data', () => end(true)).write(greeting);
    socket.once('close', () => end(false));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}

/** Whether somebody gets what is sent to a port of UDP. */
const listens = async (machine: Machine, port: number): Promise<boolean> =>
  (await machine.run({ command: 'ss', args: ['--no-header', '--udp', '--listening', `sport = :${port}`] })) !== '';

async function answersHttp(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) })).status < 500;
  } catch {
    return false;
  }
}
