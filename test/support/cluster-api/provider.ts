import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { type Client, type ClusterAccess, createClient, type LiveObject } from '../../../kubernetes/applying/client.ts';
import { decoded, encoded } from '../../../kubernetes/base64.ts';
import { FILES, type HostedCluster, urlOf } from '../../../kubernetes/hosted/files.ts';
import { findCluster, keepCluster, listClusters, removeCluster } from '../../../kubernetes/hosted/folder.ts';
import { convergeNodes, nodesOf } from '../../../kubernetes/hosted/nodes.ts';
import { freePorts, keepPort } from '../../../kubernetes/hosted/ports.ts';
import { processesOf } from '../../../kubernetes/hosted/processes.ts';
import { readOrders, readStatus, writeOrders } from '../../../kubernetes/hosted/supervisor/files.ts';
import { ensureSupervisor } from '../../../kubernetes/hosted/supervisor/start.ts';
import { makeAuthority } from '../../../src/backends/certificates/authority.ts';
import type { ClusterSpec } from '../../../src/backends/contract/specs.ts';
import { KUBERNETES_DIR } from '../kubernetes.ts';
import { signedBy } from './keys.ts';
import { type ClusterConfiguration, readUserData, type UserData } from './user-data.ts';

const GROUP = 'infrastructure.cluster.x-k8s.io';
const API = `${GROUP}/v1`;
const CLUSTER_LABEL = 'cluster.x-k8s.io/cluster-name';
const CONTROL_PLANE = 'node-role.kubernetes.io/control-plane';
const STATIC_PODS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
const TICK_MS = 300;
const ADDRESS = '127.0.0.1';
const MANAGER = 'process-provider';
const OWNER_KIND = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine' };

export const CLUSTER_KIND = { apiVersion: API, kind: 'ProcessCluster' };
export const MACHINE_KIND = { apiVersion: API, kind: 'ProcessMachine' };
export const TEMPLATE_KIND = { apiVersion: API, kind: 'ProcessMachineTemplate' };

/** Descriptions of the provider's kinds, which hold anything. */
export const PROVIDER_KINDS = [CLUSTER_KIND, MACHINE_KIND, TEMPLATE_KIND].map(({ kind }) => {
  const names = { kind, singular: kind.toLowerCase(), plural: `${kind.toLowerCase()}s` };
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${names.plural}.${GROUP}`,
      labels: { 'cluster.x-k8s.io/v1beta1': 'v1', 'cluster.x-k8s.io/v1beta2': 'v1' },
    },
    spec: {
      group: GROUP,
      names,
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } },
          },
        },
      ],
    },
  };
});

interface Booted {
  name: string;
  version: string;
  pool: string;
  isControlPlane: boolean;
  userData: UserData;
  /** Of its KubeadmConfig. */
  config: string;
}

/**
 * An infrastructure provider of the tests. Its machines have no kubelet: what the machines of a control plane would run
 * are processes on this machine, one set for each cluster, with the keys, files and flags that kubeadm is told; all
 * machines are nodes of kwok. Nothing of Cluster API itself is played.
 */
export function startProvider(
  management: ClusterAccess,
  { clusters, ports }: { clusters: string; ports: { from: number; to: number } },
): { stop(): Promise<void>; complaints: Set<string> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const client = createClient(management, signal, MANAGER);
  /** Machines that have started, by their uid. */
  const booted = new Map<string, Booted>();
  /** Nodes that are there as they should be, by cluster. */
  const noded = new Map<string, string>();
  const complaints = new Set<string>();
  fs.mkdirSync(clusters, { recursive: true, mode: 0o700 });

  const running = (async () => {
    while (!signal.aborted) {
      await look().catch(complain);
      await sleep(TICK_MS, undefined, { signal }).catch(() => {});
    }
  })();
  function complain(error: unknown): void {
    if (!signal.aborted) complaints.add(String((error as Error).stack ?? error));
  }

  async function look(): Promise<void> {
    const [found, machines, owners] = await Promise.all([
      client.list(CLUSTER_KIND, {}),
      client.list(MACHINE_KIND, {}),
      client.list(OWNER_KIND, {}),
    ]);
    const byUid = new Map(owners.map((owner) => [owner.metadata.uid, owner]));
    await Promise.all(
      found.map(async (cluster) => {
        const name = ownerOf(cluster, 'Cluster')?.name;
        if (name === undefined) return;
        const own = machines.filter(
          ({ metadata }) => isIn(metadata, cluster) && metadata.labels?.[CLUSTER_LABEL] === name,
        );
        await converge(cluster, name, own, byUid).catch(complain);
      }),
    );
    const there = new Set(found.map(({ metadata }) => metadata.uid));
    for (const { id } of listClusters(clusters)) if (!there.has(id)) removeProcesses(id);
  }

  async function converge(
    object: LiveObject,
    name: string,
    machines: LiveObject[],
    owners: Map<string, LiveObject>,
  ): Promise<void> {
    const { uid: id, namespace = '' } = object.metadata;
    const at = { ...CLUSTER_KIND, name: object.metadata.name, namespace };
    const port = await keepPort(clusters, { id, regionId: 1, address: ADDRESS, version: '' }, ports);
    if (!isProvisioned(object)) {
      await makeEtcdSecrets(namespace, name);
      const { apiVersion, kind, ...metadata } = at;
      const spec = { controlPlaneEndpoint: { host: ADDRESS, port } };
      await client.apply({ apiVersion, kind, metadata, spec }, { force: true });
      await client.changeStatus(at, PROVISIONED);
      return;
    }
    for (const machine of machines) {
      if (booted.has(machine.metadata.uid)) continue;
      const owner = owners.get(ownerOf(machine, 'Machine')?.uid ?? '');
      const boot = owner && (await bootOf(machine, owner));
      if (boot && (await runs({ id, regionId: 1, address: ADDRESS, port, version: boot.version }, boot))) {
        booted.set(machine.metadata.uid, boot);
      }
    }
    if (isReady(id)) await makeNodes(id, machines);
    for (const machine of machines) if (booted.has(machine.metadata.uid)) await provision(machine);
  }

  /** Returns what the machine is to be, once Cluster API knows. */
  async function bootOf({ metadata }: LiveObject, { spec }: LiveObject): Promise<Booted | undefined> {
    const { name, namespace = '', labels = {} } = metadata;
    const { version, bootstrap } = spec as {
      version?: string;
      bootstrap?: { dataSecretName?: string; configRef?: { name: string } };
    };
    if (!version || bootstrap?.dataSecretName === undefined) return undefined;
    const secret = { apiVersion: 'v1', kind: 'Secret', name: bootstrap.dataSecretName, namespace };
    const { value = '' } = ((await client.get(secret))?.data ?? {}) as { value?: string };
    const userData = readUserData(decoded(value));
    return {
      name,
      version,
      pool: labels['tradewind/pool'] ?? 'control-plane',
      isControlPlane: 'cluster.x-k8s.io/control-plane' in labels,
      userData,
      config: bootstrap.configRef?.name ?? '',
    };
  }

  async function runs(cluster: HostedCluster, boot: Booted): Promise<boolean> {
    return boot.isControlPlane ? runControlPlane(cluster, boot) : isReady(cluster.id);
  }

  async function provision(machine: LiveObject): Promise<void> {
    const { name, namespace = '', deletionTimestamp } = machine.metadata;
    if (isProvisioned(machine) || deletionTimestamp !== undefined) return;
    await tellExpiry(namespace, booted.get(machine.metadata.uid));
    await skipDraining(machine);
    const spec = { providerID: `tradewind://1/${name}` };
    await client.apply({ ...MACHINE_KIND, metadata: { name, namespace }, spec }, { force: true });
    await client.changeStatus({ ...MACHINE_KIND, name, namespace }, PROVISIONED);
  }

  /** There is no kubelet through which Cluster API could ask the API server for its certificate. */
  async function tellExpiry(namespace: string, boot: Booted | undefined): Promise<void> {
    if (!boot?.isControlPlane) return;
    const annotations = { 'machine.cluster.x-k8s.io/certificates-expiry': '2099-01-01T00:00:00Z' };
    const of = { apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2', kind: 'KubeadmConfig' };
    await client.apply({ ...of, metadata: { name: boot.config, namespace, annotations } }, { force: true });
  }

  /** Cluster API looks only every 20 s whether the pods have left a machine. Here they never ran on it. */
  async function skipDraining(machine: LiveObject): Promise<void> {
    const { name = '' } = ownerOf(machine, 'Machine') ?? {};
    const annotations = { 'machine.cluster.x-k8s.io/exclude-node-draining': '' };
    const metadata = { name, namespace: machine.metadata.namespace ?? '', annotations };
    await client.apply({ ...OWNER_KIND, metadata }, { force: true });
  }

  /** etcd isn't on the machines, so Cluster API wants to know its keys, which it never uses. */
  async function makeEtcdSecrets(namespace: string, name: string): Promise<void> {
    const authority = await makeAuthority('CN=etcd', 1);
    const user = await authority.forClient('CN=apiserver-etcd-client');
    for (const [purpose, { certificate, key }] of [
      ['etcd', { certificate: authority.certificate, key: '' }],
      ['apiserver-etcd-client', user],
    ] as const) {
      const metadata = { name: `${name}-${purpose}`, namespace, labels: { [CLUSTER_LABEL]: name } };
      if (await client.get({ apiVersion: 'v1', kind: 'Secret', ...metadata })) continue;
      const data = { 'tls.crt': encoded(certificate), ...(key !== '' && { 'tls.key': encoded(key) }) };
      await client.create({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata,
        type: 'cluster.x-k8s.io/secret',
        data,
      });
    }
  }

  /** Does what kubeadm does on a machine of the control plane. Returns whether it runs. */
  async function runControlPlane(cluster: HostedCluster, { name, userData }: Booted): Promise<boolean> {
    const folder = path.join(clusters, cluster.id);
    const { files, clusterConfiguration: given } = userData;
    if (!findCluster(clusters, cluster.id)) {
      if (!given) throw new Error(`${name} is to join a cluster that is not there`);
      await writeKeys(folder, cluster, files);
      keepCluster(clusters, cluster);
    }
    ensureSupervisor(clusters, process.env.PATH ?? '');
    const configuration = given ?? (await readConfiguration(cluster.id));
    for (const [file, text] of Object.entries(files)) {
      if (!file.startsWith('/etc/kubernetes/tradewind/')) continue;
      fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      fs.writeFileSync(path.join(folder, file), text);
    }
    const { networking, apiServer } = configuration;
    const flags = (apiServer?.extraArgs ?? []).map(
      ({ name: flag, value }) => `--${flag}=${value.startsWith('/etc/') ? path.join(folder, value) : value}`,
    );
    const spec = {
      pods: { ipv4: networking.podSubnet },
      services: { ipv4: networking.serviceSubnet },
    } as ClusterSpec;
    const programs = {
      folder: path.join(KUBERNETES_DIR, cluster.version),
      kwok: true,
      apiServerFlags: flags,
    };
    const processes = processesOf(spec, cluster, programs, { memoryMib: 600, durable: false });
    if (JSON.stringify(readOrders(folder)?.processes) !== JSON.stringify(processes)) {
      writeOrders(folder, { processes, removing: false });
    }
    if (!isReady(cluster.id)) return false;
    if (given) await inCluster(cluster.id, (inside) => writeConfiguration(inside, given));
    return true;
  }

  const isReady = (id: string): boolean => {
    const folder = path.join(clusters, id);
    const status = readStatus(folder);
    return (
      status?.settled === true && status.orders === readOrders(folder)?.id && findCluster(clusters, id) !== undefined
    );
  };

  async function inCluster<T>(id: string, use: (inside: Client) => Promise<T>): Promise<T> {
    const inside = createClient(accessIn(path.join(clusters, id)), signal, MANAGER);
    return use(inside).finally(() => inside.close());
  }

  const readConfiguration = (id: string) =>
    inCluster(id, async (inside) => {
      const { data } = ((await inside.get(KUBEADM_CONFIG)) ?? {}) as { data?: Record<string, string> };
      return parse(data?.ClusterConfiguration ?? '') as ClusterConfiguration;
    });

  async function makeNodes(id: string, machines: LiveObject[]): Promise<void> {
    const boots = machines.flatMap(({ metadata }) => booted.get(metadata.uid) ?? []);
    const key = JSON.stringify(boots.map(({ name }) => name));
    if (noded.get(id) === key) return;
    const nodes = boots.flatMap((boot) => nodesOf(poolOf(boot), { regionId: 1, version: boot.version }, () => SIZE));
    await inCluster(id, async (inside) => {
      for (const { name, isControlPlane } of boots) if (isControlPlane) await makePods(inside, name);
      const unfinished = await convergeNodes(inside, nodes);
      if (unfinished === 0) noded.set(id, key);
    });
  }

  function removeProcesses(id: string): void {
    const folder = path.join(clusters, id);
    ensureSupervisor(clusters, process.env.PATH ?? '');
    if (readOrders(folder)?.removing === false) writeOrders(folder, { processes: [], removing: true });
    const status = readStatus(folder);
    if (status?.settled && status.orders === readOrders(folder)?.id) {
      removeCluster(clusters, id);
      freePorts(clusters, id);
    }
  }

  return {
    complaints,
    async stop() {
      stopping.abort();
      await running;
      client.close();
    },
  };
}

const PROVISIONED = { initialization: { provisioned: true }, ready: true };
const SIZE = { vcpus: 8, ramMib: 16_384 };
const KUBEADM_CONFIG = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: 'kubeadm-config',
  namespace: 'kube-system',
};

const isIn = ({ namespace }: LiveObject['metadata'], { metadata }: LiveObject): boolean =>
  namespace === metadata.namespace;
const isProvisioned = ({ status }: LiveObject): boolean =>
  (status as { initialization?: { provisioned?: boolean } } | undefined)?.initialization?.provisioned === true;

function ownerOf({ metadata }: LiveObject, kind: string): { name: string; uid: string } | undefined {
  const { ownerReferences = [] } = metadata as {
    ownerReferences?: { kind: string; name: string; uid: string }[];
  };
  return ownerReferences.find((owner) => owner.kind === kind);
}

function poolOf({ name, pool, isControlPlane, userData }: Booted): ClusterSpec {
  const taints = Object.fromEntries(
    userData.taints.map(({ key, value = '', effect }) => [key, `${value}:${effect}`] as const),
  );
  return {
    pools: {
      [pool]: {
        flavorId: 'process',
        labels: isControlPlane ? { [CONTROL_PLANE]: '' } : {},
        taints: isControlPlane ? { [CONTROL_PLANE]: ':NoSchedule' } : taints,
        nodes: { [name]: { name, ports: {} } },
      },
    },
  } as unknown as ClusterSpec;
}

/** As kubelet shows what it runs from files. */
async function makePods(inside: Client, node: string): Promise<void> {
  for (const program of STATIC_PODS) {
    const labels = { component: program, tier: 'control-plane' };
    // Nobody is to evict them.
    const annotations = { 'kubernetes.io/config.mirror': program };
    const metadata = { name: `${program}-${node}`, namespace: 'kube-system', labels, annotations };
    const of = { apiVersion: 'v1', kind: 'Pod' };
    if (await inside.get({ ...of, ...metadata })) continue;
    const spec = {
      nodeName: node,
      automountServiceAccountToken: false,
      containers: [{ name: program, image: program }],
      tolerations: [{ operator: 'Exists' }],
    };
    await inside.create({ ...of, metadata, spec });
  }
}

async function writeConfiguration(inside: Client, configuration: ClusterConfiguration): Promise<void> {
  if (await inside.get(KUBEADM_CONFIG)) return;
  const { apiVersion, kind, ...metadata } = KUBEADM_CONFIG;
  await inside.create({
    apiVersion,
    kind,
    metadata,
    data: { ClusterConfiguration: stringify(configuration) },
  });
}

async function writeKeys(folder: string, cluster: HostedCluster, files: Record<string, string>): Promise<void> {
  const given = (name: string): string => {
    const text = files[`/etc/kubernetes/pki/${name}`];
    if (text === undefined) throw new Error(`The machine was not given ${name}`);
    return text;
  };
  const authority = { certificate: given('ca.crt'), key: given('ca.key') };
  const server = await signedBy(authority, 'CN=kube-apiserver', [ADDRESS, 'localhost', 'kubernetes']);
  const admin = await signedBy(authority, 'O=system:masters, CN=kubernetes-admin');
  const config = stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'own',
        cluster: { server: urlOf(cluster), 'certificate-authority-data': encoded(authority.certificate) },
      },
    ],
    users: [
      {
        name: 'own',
        user: {
          'client-certificate-data': encoded(admin.certificate),
          'client-key-data': encoded(admin.key),
        },
      },
    ],
    contexts: [{ name: 'own', context: { cluster: 'own', user: 'own' } }],
    'current-context': 'own',
  });
  const texts: Record<string, string> = {
    [FILES.caCertificate]: authority.certificate,
    [FILES.caKey]: authority.key,
    [FILES.accountsKey]: given('sa.key'),
    [FILES.accountsPublicKey]: given('sa.pub'),
    [FILES.serverCertificate]: server.certificate,
    [FILES.serverKey]: server.key,
    [FILES.adminCertificate]: admin.certificate,
    [FILES.adminKey]: admin.key,
    [FILES.controllerManagerConfig]: config,
    [FILES.schedulerConfig]: config,
    [FILES.kwokConfig]: config,
  };
  for (const [file, text] of Object.entries(texts)) {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true, mode: 0o700 });
    fs.writeFileSync(path.join(folder, file), text, { mode: 0o600 });
  }
}

function accessIn(folder: string): ClusterAccess {
  const read = (file: string) => fs.readFileSync(path.join(folder, file), 'utf8');
  const { address, port } = JSON.parse(read(FILES.cluster)) as HostedCluster;
  return {
    server: urlOf({ address, port }),
    caCertificate: read(FILES.caCertificate),
    clientCertificate: read(FILES.adminCertificate),
    clientKey: read(FILES.adminKey),
  };
}
