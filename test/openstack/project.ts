import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { Type } from 'typebox';
import { stringify } from 'yaml';
import type { Api } from '../../openstack/cloud/client.ts';
import type { Backend, Ref } from '../../src/backends/contract/backend.ts';
import type { Rig } from './rig.ts';
import { clientOf } from './scenario.ts';

const log = pino({ level: 'silent' });
const Named = Type.Object({ id: Type.String(), name: Type.String() });
/** Of the administrator in each project. */
const ROLES = ['admin', 'load-balancer_member', 'creator'];
const MOST_ROUNDS = 300;
const PAUSE_MS = 200;

export interface TestProject {
  name: string;
  id: string;
  /** Of 198.19.0.0/16, with the gateway 198.19.0.1. The addresses from 198.19.200.0 on are given by Neutron. */
  externalNetworkId: string;
  /** A clouds.yaml with which an administrator works in the project. */
  clouds: string;
  /** As an administrator, in the project. */
  api: Api;
}

/** Makes a project in the cloud, and an external network that nobody else uses. */
export async function newProject(rig: Rig, name: string): Promise<TestProject> {
  const admin = apiWith(cloudsOf(rig, rig.admin.project));
  const make = async (service: 'identity' | 'network', kind: string, body: object) => {
    const answer = await admin.send(service, 'POST', `/${kind}s`, { [kind]: body }, Type.Record(Type.String(), Named));
    return (answer[kind] as { id: string }).id;
  };
  const id = await make('identity', 'project', { name, domain_id: rig.admin.domain });
  const [roles, [user]] = await Promise.all([
    admin.list('identity', '/roles', Named),
    admin.list('identity', '/users', Named, { name: rig.admin.username }),
  ]);
  for (const role of roles.filter((each) => ROLES.includes(each.name)))
    await admin.send('identity', 'PUT', `/projects/${id}/users/${user?.id}/roles/${role.id}`, undefined);
  const externalNetworkId = await make('network', 'network', { name, 'router:external': true });
  const subnet = { network_id: externalNetworkId, ip_version: 4, cidr: '198.19.0.0/16', enable_dhcp: false };
  const allocation_pools = [{ start: '198.19.200.0', end: '198.19.255.254' }];
  await make('network', 'subnet', { ...subnet, name, gateway_ip: '198.19.0.1', allocation_pools });
  const clouds = cloudsOf(rig, name);
  return { name, id, externalNetworkId, clouds, api: apiWith(clouds) };
}

/** Removes all that the backend lists. */
export async function removeAll(backend: Backend): Promise<void> {
  const signal = new AbortController().signal;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const left: Ref[] = [];
    for await (const one of backend.list({ log, signal })) left.push({ ...one, regionId: 1, projectId: 1 });
    if (left.length === 0) return;
    const call = { signal, generation: 1, wasThere: true, secret: async () => undefined, log };
    await Promise.all(left.map((ref) => backend.converge(ref, null, call)));
    await sleep(PAUSE_MS);
  }
  throw new Error('Some of it is still there');
}

const apiWith = (clouds: string): Api => clientOf(clouds).on({ log, signal: new AbortController().signal });

function cloudsOf({ authUrl, region, admin }: Rig, project: string): string {
  const auth = {
    auth_url: authUrl,
    username: admin.username,
    password: admin.password,
    project_name: project,
    user_domain_id: admin.domain,
    project_domain_id: admin.domain,
  };
  return stringify({ clouds: { rig: { auth, region_name: region } } });
}
