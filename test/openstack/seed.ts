// What every test finds in the cloud. All of it may be seeded again.
import type { CloudClient } from './cloud-client.ts';
import { AMPHORA, addresses, EXTERNAL, PASSWORD, REGION, type Settings } from './configuration.ts';
import { COMMAND_LINE, readGuest } from './guest.ts';

interface Named {
  id: string;
  name: string;
}

interface Endpoint {
  service_id: string;
  interface: string;
}

const FLAVORS = [
  { id: 'g1-standard-1-2', vcpus: 1, ram: 2048 },
  { id: 'g1-standard-2-4', vcpus: 2, ram: 4096 },
  { id: 'g1-standard-4-8', vcpus: 4, ram: 8192 },
  { id: 'g1-tiny', vcpus: 1, ram: 128 },
];
/** Users need them for Octavia and Barbican, whose own policies apply. */
const ROLES = ['load-balancer_member', 'load-balancer_admin', 'creator'];
const VOLUME_TYPES = ['standard', 'ssd_hiiops'];
const MEBIBYTE = 2 ** 20;

interface Wanted {
  service: Parameters<CloudClient['call']>[1];
  path: string;
  kind: string;
  name: string;
  /** The rest of it. */
  body?: object;
  /** What else tells it from others of its name. */
  filter?: Record<string, string>;
}

/** Returns the one of this name, which is made if it isn't there. */
async function ensure(cloud: CloudClient, { service, path, kind, name, body, filter }: Wanted): Promise<Named> {
  const query = new URLSearchParams({ name, ...filter });
  const found = await cloud.call<Record<string, Named[]>>('GET', service, `${path}?${query}`);
  // Not every service knows this filter.
  const same = found[`${kind}s`]?.find((one) => one.name === name);
  if (same) return same;
  const wanted = { name, ...body };
  // Glance alone has no name around a body.
  if (service === 'glance') return cloud.call<Named>('POST', service, path, wanted);
  const made = await cloud.call<Record<string, Named>>('POST', service, path, { [kind]: wanted });
  return made[kind] as Named;
}

/** One user for all services, and where each of them is. They can't work before that. */
export async function seedServices(cloud: CloudClient, port: number): Promise<void> {
  const domain = { domain_id: 'default' };
  const inKeystone = (kind: string, name: string, body: object) =>
    ensure(cloud, { service: 'keystone', path: `/v3/${kind}s`, kind, name, body });
  const project = await inKeystone('project', 'service', domain);
  const user = await inKeystone('user', 'service', { ...domain, password: PASSWORD });
  const { roles } = await cloud.call<{ roles: Named[] }>('GET', 'keystone', '/v3/roles?name=admin');
  await cloud.call('PUT', 'keystone', `/v3/projects/${project.id}/users/${user.id}/roles/${roles[0]?.id}`);
  for (const name of ROLES) await inKeystone('role', name, {});
  const at = addresses(port);
  const { endpoints } = await cloud.call<{ endpoints: Endpoint[] }>('GET', 'keystone', '/v3/endpoints');
  for (const [name, type, url] of [
    ['placement', 'placement', at.placement],
    ['glance', 'image', at.glance],
    ['cinderv3', 'volumev3', `${at.cinder}/v3/%(project_id)s`],
    ['neutron', 'network', at.neutron],
    ['nova', 'compute', `${at.nova}/v2.1`],
    ['octavia', 'load-balancer', at.octavia],
    ['barbican', 'key-manager', at.barbican],
  ] as const) {
    const service = await inKeystone('service', name, { type });
    for (const face of ['public', 'internal']) {
      if (endpoints.some((one) => one.service_id === service.id && one.interface === face)) continue;
      const endpoint = { interface: face, service_id: service.id, region_id: REGION, url };
      await cloud.call('POST', 'keystone', '/v3/endpoints', { endpoint });
    }
  }
}

/** What tests use. */
export async function seed(cloud: CloudClient, settings: Settings): Promise<void> {
  await Promise.all([
    seedNetwork(cloud),
    seedAmphorae(cloud),
    seedFlavors(cloud),
    seedVolumeTypes(cloud),
    seedImages(cloud, settings),
  ]);
}

async function seedNetwork(cloud: CloudClient): Promise<void> {
  const external = { service: 'neutron', name: 'external' } as const;
  const network = await ensure(cloud, {
    ...external,
    path: '/v2.0/networks',
    kind: 'network',
    filter: { 'router:external': 'true' },
    body: { 'router:external': true, 'provider:network_type': 'flat', 'provider:physical_network': EXTERNAL },
  });
  await ensure(cloud, {
    ...external,
    path: '/v2.0/subnets',
    kind: 'subnet',
    filter: { network_id: network.id },
    body: {
      ...{ network_id: network.id, ip_version: 4, enable_dhcp: false },
      ...{ cidr: '198.18.0.0/24', gateway_ip: '198.18.0.1' },
      allocation_pools: [{ start: '198.18.0.200', end: '198.18.0.250' }],
    },
  });
}

/** The network by which Octavia reaches its machines. */
async function seedAmphorae(cloud: CloudClient): Promise<void> {
  const { projects } = await cloud.call<{ projects: Named[] }>('GET', 'keystone', '/v3/projects?name=service');
  const own = { service: 'neutron', name: 'amphorae' } as const;
  const filter = { project_id: projects[0]?.id ?? '' };
  const network = await ensure(cloud, { ...own, path: '/v2.0/networks', kind: 'network', filter, body: filter });
  await ensure(cloud, {
    ...own,
    path: '/v2.0/subnets',
    kind: 'subnet',
    filter: { network_id: network.id },
    body: {
      ...{ ...filter, network_id: network.id, ip_version: 4, cidr: '198.18.128.0/20' },
      ...{ enable_dhcp: false, gateway_ip: null },
    },
  });
}

async function seedFlavors(cloud: CloudClient): Promise<void> {
  for (const { id, vcpus, ram } of FLAVORS) {
    const body = { id, vcpus, ram, disk: 0 };
    await ensure(cloud, { service: 'nova', path: '/v2.1/flavors', kind: 'flavor', name: id, body });
  }
}

async function seedVolumeTypes(cloud: CloudClient): Promise<void> {
  const path = `/v3/${cloud.projectId}/types`;
  for (const name of VOLUME_TYPES) await ensure(cloud, { service: 'cinder', path, kind: 'volume_type', name });
}

/** Machines that run need a kernel beside the image, whose disk is empty. */
async function seedImages(cloud: CloudClient, { node, folder }: Settings): Promise<void> {
  const disk = { disk_format: 'raw', container_format: 'bare', min_disk: 1, tags: [AMPHORA.tag] };
  const empty = new Uint8Array(MEBIBYTE);
  if (node === 'fake') return void (await seedImage(cloud, 'tiny', disk, empty));
  const format = (name: string) => ({ disk_format: name, container_format: name });
  await seedImage(
    cloud,
    'tiny',
    {
      ...disk,
      kernel_id: await seedImage(cloud, 'tiny-kernel', format('aki'), readGuest(folder, 'kernel')),
      ramdisk_id: await seedImage(cloud, 'tiny-ramdisk', format('ari'), readGuest(folder, 'ramdisk')),
      os_command_line: COMMAND_LINE,
    },
    empty,
  );
}

/** Returns its ID. */
async function seedImage(
  cloud: CloudClient,
  name: string,
  about: object,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const path = '/v2/images';
  const body = { ...about, visibility: 'public' };
  const { id } = await ensure(cloud, { service: 'glance', path, kind: 'image', name, body });
  const { status } = await cloud.call<{ status: string }>('GET', 'glance', `${path}/${id}`);
  if (status === 'queued') await cloud.upload(`${path}/${id}/file`, bytes);
  return id;
}
