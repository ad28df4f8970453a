import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';
import type { Service } from '../../openstack/cloud/errors.ts';
import { catalogWith } from '../../test/openstack/catalog.ts';
import { newProject, type TestProject } from '../../test/openstack/project.ts';
import { missing, startRig } from '../../test/openstack/rig.ts';
import { BOOT_VOLUME } from '../../test/support/boot-volume.ts';
import { createHttpClient, type HttpClient } from '../../test/support/http-client.ts';
import { tasksIn } from '../../test/support/possessions.ts';
import { startProduct, TOKEN } from '../support/product.ts';
import { median } from '../support/statistics.ts';
import { markdownTable, shown } from '../support/table.ts';

const TASK_MS = 600_000;
/** Who waits by hand looks that often. */
const LOOK_MS = 50;
const FLAVOR = 'g1-standard-1-2';
const Named = Type.Object({ id: Type.String(), name: Type.String() });
const One = Type.Record(Type.String(), Type.Object({ id: Type.String() }));
/** The second is Octavia's word. */
const State = Type.Record(
  Type.String(),
  Type.Object({ status: Type.Optional(Type.String()), provisioning_status: Type.Optional(Type.String()) }),
);

/** One kind of things: how clients of the product order one, and the calls that nobody can do without. */
interface Trial {
  kind: string;
  ours(name: string): Promise<string>;
  bare(name: string): Promise<void>;
}

/** Makes things by the product and by bare calls to the same cloud in turn, and compares how long it takes until they are there. */
export async function measureOpenStack({ quick }: { quick: boolean }): Promise<string> {
  const reason = missing();
  if (reason !== undefined) return `Skipped, ${reason}.`;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-bench-'));
  // A cloud of its own, in which nothing is left from the last time.
  const rig = await startRig({ folder: path.join(folder, 'cloud') });
  const project = await newProject(rig, `bench-${randomUUID()}`);
  const images = await project.api.list('image', '/images', Named, { visibility: 'public', name: 'tiny' });
  const imageId = images[0]?.id ?? '';
  const product = await startProduct({
    TRADEWIND_DATA_DIR: path.join(folder, 'data'),
    TRADEWIND_CATALOG_DIR: catalogWith(project, imageId, { like: 'catalog', folder }),
    TRADEWIND_ENCRYPTION_KEY: '',
  });
  try {
    const http = createHttpClient(`http://127.0.0.1:${product.port}`, TOKEN);
    const rows: string[][] = [];
    for (const { kind, ours, bare } of await trialsOf(project, http, imageId)) {
      const times = { ours: [] as number[], bare: [] as number[] };
      for (let turn = 0; turn < (quick ? 3 : 9); turn++) {
        times.ours.push(await secondsOf(async () => finished(http, await ours(`${kind} ${turn}`))));
        times.bare.push(await secondsOf(() => bare(`${kind} ${turn}`)));
      }
      const [own, theirs] = [median(times.ours), median(times.bare)];
      rows.push([kind, shown(own), shown(theirs), shown(own - theirs)]);
    }
    return markdownTable(['s until it is there', 'by a task', 'by bare calls', 'more'], rows);
  } finally {
    await product.stop();
    await rig.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** What the things need is there before. */
async function trialsOf({ api, externalNetworkId }: TestProject, http: HttpClient, imageId: string): Promise<Trial[]> {
  async function order(kind: string, body: object, version = 'v1'): Promise<string> {
    const { body: answer, text } = await http.post(`/cloud/${version}/${kind}/1/1`, body);
    const [task] = tasksIn(answer);
    if (task === undefined) throw new Error(text);
    return task;
  }
  const made = async (kind: string, body: object) =>
    (await finished(http, await order(kind, body)))[kind]?.[0] as string;
  const create = async (service: Service, kind: string, body: object) =>
    (await api.send(service, 'POST', `/${kind}s`, { [kind]: body }, One))[kind]?.id ?? '';
  async function until(service: Service, kind: string, id: string, wanted: string): Promise<void> {
    for (const end = Date.now() + TASK_MS; ; await sleep(LOOK_MS)) {
      const live = (await api.get(service, `/${kind}s/${id}`, State))[kind];
      const status = live?.status ?? live?.provisioning_status;
      if (status === wanted) return;
      if (status?.toLowerCase() === 'error' || Date.now() > end) throw new Error(`The ${kind} is ${status}`);
    }
  }
  const networkId = await made('networks', { name: 'bench', create_router: false });
  const bareNetwork = await create('network', 'network', { name: 'bare' });
  const volumeId = await made('volumes', { name: 'bench', source: 'new-volume', size: 1 });
  const bareVolume = await create('volume', 'volume', { name: 'bare', size: 1 });
  await until('volume', 'volume', bareVolume, 'available');
  let subnets = 0;
  const nextCidr = () => `10.90.${++subnets}.0/24`;

  return [
    {
      kind: 'network',
      ours: (name) => order('networks', { name, create_router: false }),
      bare: async (name) => void (await create('network', 'network', { name })),
    },
    {
      kind: 'subnet',
      ours: (name) => order('subnets', { name, network_id: networkId, cidr: nextCidr() }),
      bare: async (name) =>
        void (await create('network', 'subnet', { name, network_id: bareNetwork, ip_version: 4, cidr: nextCidr() })),
    },
    {
      kind: 'floating address',
      ours: () => order('floatingips', {}),
      bare: async () => void (await create('network', 'floatingip', { floating_network_id: externalNetworkId })),
    },
    {
      kind: 'volume',
      ours: (name) => order('volumes', { name, source: 'new-volume', size: 1 }),
      bare: async (name) => until('volume', 'volume', await create('volume', 'volume', { name, size: 1 }), 'available'),
    },
    {
      kind: 'volume of an image',
      ours: (name) => order('volumes', { name, ...BOOT_VOLUME, size: 10 }),
      bare: async (name) => {
        const id = await create('volume', 'volume', { name, size: 10, imageRef: imageId });
        await until('volume', 'volume', id, 'available');
      },
    },
    {
      kind: 'snapshot',
      ours: (name) => order('snapshots', { name, volume_id: volumeId }),
      bare: async (name) =>
        until('volume', 'snapshot', await create('volume', 'snapshot', { name, volume_id: bareVolume }), 'available'),
    },
    {
      kind: 'machine with its volume and port',
      ours: (name) =>
        order(
          'instances',
          {
            ...{ name, flavor: FLAVOR, interfaces: [{ type: 'external' }] },
            volumes: [{ ...BOOT_VOLUME, size: 10, boot_index: 0 }],
          },
          'v2',
        ),
      bare: async (name) => {
        const uuid = await create('volume', 'volume', { name, size: 10, imageRef: imageId });
        const port = await create('network', 'port', { name, network_id: externalNetworkId });
        await until('volume', 'volume', uuid, 'available');
        const disk = { uuid, source_type: 'volume', destination_type: 'volume', boot_index: 0 };
        const id = await create('compute', 'server', {
          ...{ name, flavorRef: FLAVOR, networks: [{ port }], block_device_mapping_v2: [disk], config_drive: true },
        });
        await until('compute', 'server', id, 'ACTIVE');
      },
    },
    {
      kind: 'load balancer with its port and a listener',
      ours: (name) => order('loadbalancers', { name, listeners: [{ name, protocol: 'HTTP', protocol_port: 80 }] }),
      bare: async (name) => {
        const vip_port_id = await create('network', 'port', { name, network_id: externalNetworkId });
        const id = await create('load-balancer', 'loadbalancer', { name, vip_port_id });
        await until('load-balancer', 'loadbalancer', id, 'ACTIVE');
        const listener = { name, loadbalancer_id: id, protocol: 'HTTP', protocol_port: 80 };
        await create('load-balancer', 'listener', listener);
        await until('load-balancer', 'loadbalancer', id, 'ACTIVE');
      },
    },
  ];
}

/** Waits for a task, and returns what it has made. */
async function finished(http: HttpClient, id: string): Promise<Record<string, string[]>> {
  const { error, created_resources } = await http.task(id, TASK_MS);
  if (error !== null) throw new Error(error);
  return created_resources;
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1_000;
}
