// Workers and agents have no port. They are ready when they have reported to the database after their start.
import type { CloudClient } from './cloud-client.ts';
import { busPort, HERE } from './configuration.ts';
import type { Machine } from './machine.ts';

interface Report {
  binary: string;
  state: string;
  updated_at: string | null;
}

interface Agent {
  binary: string;
  alive: boolean;
  heartbeat_timestamp: string;
}

/** Returns those of the workers that have not reported since their start. */
export async function silentWorkers<T extends string>(
  cloud: CloudClient,
  started: ReadonlyMap<T, number>,
): Promise<T[]> {
  const lists = await Promise.all([
    cloud.call<{ services: Report[] }>('GET', 'cinder', `/v3/${cloud.projectId}/os-services`),
    cloud.call<{ services: Report[] }>('GET', 'nova', '/v2.1/os-services'),
    agents(cloud, [...started.keys()]),
  ]);
  const reports = lists.flatMap(({ services }) => services);
  return [...started].flatMap(([name, since]) => {
    const own = reports.find(({ binary }) => binary === name);
    // The time is in UTC. Nova leaves out fractions of a second.
    const last = own?.updated_at ? Date.parse(`${own.updated_at.slice(0, 19)}Z`) : 0;
    return own?.state === 'up' && last >= since ? [] : [name];
  });
}

/** Octavia's worker reports nothing. It is ready when it waits for orders at the bus: those before that are lost. */
export async function takesOrders(machine: Machine, port: number): Promise<boolean> {
  const count = `import amqp
with amqp.Connection('${HERE}:${busPort(port)}') as bus:
    print(bus.channel().queue_declare('octavia_provisioning_v2', passive=True).consumer_count)`;
  try {
    return Number(await machine.run({ command: 'python3', args: ['-c', count] })) > 0;
  } catch {
    return false;
  }
}

/** Asks Neutron, if one of them is its agent. */
async function agents(cloud: CloudClient, names: readonly string[]): Promise<{ services: Report[] }> {
  if (!names.some((name) => name.startsWith('neutron'))) return { services: [] };
  const found = await cloud.call<{ agents: Agent[] }>('GET', 'neutron', '/v2.0/agents');
  const reports = found.agents.map(({ binary, alive, heartbeat_timestamp: at }) => ({
    binary,
    state: alive ? 'up' : 'down',
    updated_at: at,
  }));
  return { services: reports };
}
