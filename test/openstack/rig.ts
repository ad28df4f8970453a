// The real OpenStack on loopback, for slow tests and by hand:
// npx tsx test/openstack/rig.ts up|down|clean [--node fake|libvirt] [--folder F] [--port 15000]
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ADMIN, createCloudClient } from './cloud-client.ts';
import { addresses, HERE, PORTS, REGION, type Settings } from './configuration.ts';
import { databaseFolder, databases, schemas } from './first-start.ts';
import { guest } from './guest.ts';
import { HYPERVISOR, TRIAL } from './hypervisor.ts';
import { findMachine, type Machine, type Program, startMachine, whyNoMachine } from './machine.ts';
import { FOLDER, unpackedVersions, whyNoPackages } from './packages.ts';
import { type Services, servicesOf } from './running.ts';
import { seed, seedServices } from './seed.ts';
import { AGENTS, connects, type ServiceName, servicesOn } from './services.ts';
import { complete, prepare, takeFolder } from './state.ts';

const PORT = { fake: 15_000, libvirt: 15_020 } as const;

export interface Rig {
  /** Of Keystone, with its version. */
  authUrl: string;
  region: string;
  /** The domain has this ID, and names are compared without regard to case, so that it's the name as well. */
  admin: { username: string; password: string; project: string; domain: string };
  folder: string;
  /** Ends one service: by default as a crash would, gently with SIGTERM. SIGSTOP halts it until SIGCONT. */
  kill(service: ServiceName, signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again, and waits until it's ready. Most workers show that in the API of their service. */
  start(service: ServiceName): Promise<void>;
  /** Runs a program where the services run. If machines run there too, it is outside their routers. */
  inside(command: string, ...args: string[]): Promise<string>;
  /** Ends all. What is in the cloud stays in the folder. */
  stop(): Promise<void>;
}

interface Options {
  node?: Settings['node'];
  folder?: string;
  port?: number;
  progress?: (line: string) => void;
}

/** Returns why the rig can't run here; undefined if it can. */
export function missing(node: Settings['node'] = 'fake'): string | undefined {
  const reason =
    whyNoPackages() ??
    (unpackedVersions() === undefined ? 'run "npm run install:tests"' : undefined) ??
    whyNoMachine(node === 'libvirt' ? TRIAL : undefined);
  return reason === undefined ? undefined : `for want of OpenStack: ${reason}`;
}

/** Starts the rig, and ends it with this process. A folder that has a cloud of the same configuration keeps it. */
export const startRig = (options: Options = {}): Promise<Rig> => bringUp(options, false);

async function bringUp(options: Options, outlives: boolean): Promise<Rig> {
  const reason = missing(options.node);
  if (reason !== undefined) throw new Error(`OpenStack can't run here, ${reason}`);
  const settings = settingsOf(options);
  const { folder, port } = settings;
  const begun = Date.now();
  const progress = (line: string) => options.progress?.(`${Math.round((Date.now() - begun) / 1000)} s: ${line}`);
  const lock = await takeFolder(folder, progress);
  let machine: Machine | undefined;
  let services: Services | undefined;
  async function stop(): Promise<void> {
    await services?.stopAll();
    await machine?.end();
    lock.release();
  }
  try {
    await assertFree(settings);
    const isNew = prepare(settings, outlives);
    progress(isNew ? `a new cloud in ${folder}` : `the cloud of ${folder}`);
    const network = settings.node === 'libvirt' ? HYPERVISOR : undefined;
    machine = await startMachine({ folder, lock: lock.fd, outlives, network });
    services = servicesOf(machine, settings);
    await startServices({ machine, services, settings, isNew, progress });
    complete(settings);
  } catch (error) {
    await stop();
    throw error;
  }
  const { kill, launch, ready } = services;
  const { run } = machine;
  return {
    authUrl: `${addresses(port).keystone}/v3`,
    region: REGION,
    admin: ADMIN,
    folder,
    kill: (service, signal = 'SIGKILL') => kill(service, signal),
    start: async (service) => {
      await launch(service);
      await ready([service]);
    },
    inside: (command, ...args) => run({ command, args }),
    stop,
  };
}

const settingsOf = ({ node = 'fake', folder, port = PORT[node] }: Options): Settings => ({
  node,
  port,
  folder: path.resolve(folder ?? path.join(FOLDER, `state-${node}`)),
});

async function assertFree({ port }: Settings): Promise<void> {
  const ports = Array.from({ length: PORTS }, (_, offset) => port + offset);
  const taken = await Promise.all(ports.map((each) => connects({ host: HERE, port: each })));
  const first = ports.find((_, index) => taken[index]);
  if (first !== undefined) throw new Error(`Port ${first} is taken; the rig needs ${port} to ${port + PORTS - 1}`);
}

interface Start {
  machine: Machine;
  services: Services;
  settings: Settings;
  isNew: boolean;
  progress(line: string): void;
}

/** Each service starts as soon as what it can't do without is there; they wait for the others by themselves. */
async function startServices({ machine, services, settings, isNew, progress }: Start): Promise<void> {
  const { folder, node, port } = settings;
  const { launch, ready } = services;
  const first = async (...steps: Program[]) => {
    for (const step of isNew ? steps : []) await machine.run(step);
  };
  await first(databaseFolder(settings));
  await launch('mariadb');
  await launch('rabbitmq');
  await ready(['mariadb']);
  await first(databases(settings));
  const steps = schemas(settings);
  const begin = async (project: keyof typeof steps, ...names: ServiceName[]) => {
    await first(...steps[project]);
    for (const name of names) await launch(name);
  };
  const keystone = async () => {
    await begin('keystone', 'keystone');
    await ready(['keystone']);
    await seedServices(await createCloudClient(port), port);
    progress('Keystone answers');
  };
  const network = async () => {
    await begin('neutron', 'neutron');
    if (node === 'fake') return;
    await first(guest(folder));
    await launch('libvirtd');
    // An agent that asks Neutron too early waits a minute for the answer.
    await ready(['libvirtd', 'neutron', 'rabbitmq']);
    for (const name of AGENTS) await launch(name);
  };
  await Promise.all([
    keystone(),
    begin('nova', 'nova-conductor', 'nova-scheduler', 'nova-api'),
    network(),
    begin('cinder', 'cinder-api', 'cinder-scheduler', 'cinder-volume'),
    begin('placement', 'placement'),
    begin('glance', 'glance'),
    begin('barbican', 'barbican'),
    begin('octavia', 'octavia-api', 'octavia-worker', 'octavia-health-manager'),
  ]);
  // It asks them once at its start, and then after a minute.
  await ready(['keystone', 'placement', 'rabbitmq']);
  await launch('nova-compute');
  if (node === 'libvirt') await launch('nova-novncproxy');
  progress('all services have started');
  await ready(servicesOn(node));
  progress('all services are ready');
  await seed(await createCloudClient(port), settings);
  progress('seeded');
}

/** Ends what "up" has started. */
async function bringDown(options: Options): Promise<void> {
  const settings = settingsOf(options);
  const machine = findMachine(settings.folder);
  if (!machine) return;
  await servicesOf(machine, settings).stopAll();
  await machine.end();
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { node: { type: 'string' }, folder: { type: 'string' }, port: { type: 'string' } },
  });
  const node = values.node ?? 'fake';
  const [command] = positionals;
  if ((node !== 'fake' && node !== 'libvirt') || !['up', 'down', 'clean'].includes(command ?? ''))
    throw new Error('Use: rig.ts up|down|clean [--node fake|libvirt] [--folder F] [--port 15000]');
  const options: Options = {
    node,
    ...(values.folder !== undefined && { folder: values.folder }),
    ...(values.port !== undefined && { port: Number(values.port) }),
    progress: console.error,
  };
  if (command === 'up') return printEnvironment(await bringUp(options, true));
  await bringDown(options);
  if (command === 'clean') fs.rmSync(settingsOf(options).folder, { recursive: true, force: true });
}

/** For OpenStack's own clients: eval "$(npx tsx test/openstack/rig.ts up)". */
function printEnvironment({ authUrl, region, admin }: Rig): void {
  const variables = {
    OS_AUTH_URL: authUrl,
    OS_IDENTITY_API_VERSION: 3,
    OS_REGION_NAME: region,
    OS_USERNAME: admin.username,
    OS_PASSWORD: admin.password,
    OS_PROJECT_NAME: admin.project,
    OS_USER_DOMAIN_ID: admin.domain,
    OS_PROJECT_DOMAIN_ID: admin.domain,
  };
  for (const [name, value] of Object.entries(variables)) console.log(`export ${name}=${value}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main().catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
