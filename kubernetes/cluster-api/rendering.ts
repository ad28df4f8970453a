import type { ClusterPoolSpec, ClusterSpec } from '../../src/backends/contract/specs.ts';
import type { Platform } from '../platform.ts';
import { authenticationFile, authenticationFlags } from '../rendering/authentication.ts';
import { groupsOf } from '../rendering/groups.ts';
import { hashOf, type KubernetesObject, OURS, PREFIX, sorted } from '../rendering/objects.ts';
import { crioEnvironment, kubeletConfiguration } from '../rendering/pool-settings.ts';
import { filled, joined, type Place, type Template } from './templates.ts';

/** The first contract whose conditions and counts mean the same in all kinds; Cluster API 1.11 and later have it. */
const CONTRACT = 'v1beta2';
const GROUPS = {
  Cluster: 'cluster.x-k8s.io',
  Machine: 'cluster.x-k8s.io',
  MachineDeployment: 'cluster.x-k8s.io',
  KubeadmConfigTemplate: 'bootstrap.cluster.x-k8s.io',
  KubeadmControlPlane: 'controlplane.cluster.x-k8s.io',
} as const;
export type OwnKind = keyof typeof GROUPS;

export const kindOf = (kind: OwnKind) => ({ apiVersion: `${GROUPS[kind]}/${CONTRACT}`, kind });

/** On everything of a cluster. */
export const LABELS = {
  backend: `${PREFIX}/backend`,
  cluster: `${PREFIX}/cluster`,
  project: `${PREFIX}/project`,
  region: `${PREFIX}/region`,
  pool: `${PREFIX}/pool`,
  cni: `${PREFIX}/cni`,
} as const;
/** How many nodes of a pool were wanted when they were last set, since the autoscaler may have changed it. */
export const NODES = `${PREFIX}/nodes`;
/** On a machine: the node of ours that it is. */
export const NODE_ID = `${PREFIX}/node-id`;
export const DELETE_FIRST = 'cluster.x-k8s.io/delete-machine';
const NAME = `${PREFIX}/name`;
const SMALLEST = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size';
const LARGEST = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size';
/** Between which sizes the autoscaler may choose. */
export const sizesOf = (annotations: Readonly<Record<string, string>>) => ({
  smallest: Number(annotations[SMALLEST]),
  largest: Number(annotations[LARGEST]),
});
export const DEPLOYMENT_LABEL = 'cluster.x-k8s.io/deployment-name';
const CLUSTER_LABEL = 'cluster.x-k8s.io/cluster-name';

const FILES = '/etc/kubernetes/tradewind';
const AUTHENTICATION = `${FILES}/authentication.yaml`;
const OIDC_CA = `${FILES}/oidc-ca.crt`;
const PATCHES = `${FILES}/patches`;

export interface Infrastructure {
  /** Goes before the number of a project in the name of its namespace. */
  namespacePrefix: string;
  cluster: Template;
  controlPlane: { replicas: number; machine: Template; kubeadm?: Record<string, unknown> | undefined };
  workers: { machine: Template; kubeadm?: Record<string, unknown> | undefined };
  /** The user on nodes who gets the cluster's key. */
  nodeUser: string;
  /** How long pods have to leave a node that goes. */
  drainSeconds: number;
}

/** What a cluster consists of in the management cluster. */
export interface Parts {
  namespace: KubernetesObject;
  /** In the order in which they are applied; templates come before who uses them. */
  objects: KubernetesObject[];
  controlPlane: KubernetesObject;
  /** By pool name: its templates, and the MachineDeployment, for which `version` and `replicas` are decided later. */
  pools: Record<string, { templates: KubernetesObject[]; deployment: KubernetesObject }>;
}

/** Names that a label's value can hold too, even with what Cluster API appends for machines. */
export const clusterName = ({ id }: Pick<Place, 'id'>): string => `c-${id}`;
export const poolName = ({ id }: Pick<ClusterPoolSpec, 'id'>): string => `p-${id}`;

/** `spec.version` is the version of the control plane. The same spec always gives the same objects. */
export function partsOf(
  spec: ClusterSpec,
  place: Place & { backend: string },
  infrastructure: Infrastructure,
  platform: Platform,
): Parts {
  const namespace = `${infrastructure.namespacePrefix}${place.projectId}`;
  const name = clusterName(place);
  const labels = {
    ...OURS,
    [LABELS.backend]: place.backend,
    [LABELS.cluster]: place.id,
    [LABELS.project]: String(place.projectId),
    [LABELS.region]: String(place.regionId),
  };
  const object = (of: { apiVersion: string; kind: string }, called: string, content: object): KubernetesObject =>
    sorted({ ...of, metadata: { name: called, namespace, labels }, ...content });
  /** Templates aren't changed but replaced, which is what makes new machines. */
  const template = (of: { apiVersion: string; kind: string }, prefix: string, content: object) =>
    object(of, `${prefix}-${hashOf(content).slice(0, 8)}`, { spec: { template: { spec: content } } });

  const { controlPlane: control, workers } = infrastructure;
  const cluster = object(infrastructure.cluster, name, {
    spec: filled(infrastructure.cluster, spec, place),
  });
  const controlMachine = template(control.machine, name, filled(control.machine, spec, place));
  const controlPlane = object(kindOf('KubeadmControlPlane'), name, {
    spec: {
      replicas: control.replicas,
      version: spec.version,
      machineTemplate: {
        spec: {
          infrastructureRef: refTo(controlMachine),
          deletion: { nodeDrainTimeoutSeconds: infrastructure.drainSeconds },
        },
      },
      kubeadmConfigSpec: joined(controlPlaneConfig(spec, infrastructure, platform), control.kubeadm),
    },
  });
  const pools = Object.entries(spec.pools).map(([title, pool]) => {
    const called = poolName(pool);
    const machine = template(workers.machine, called, filled(workers.machine, spec, place, pool));
    const config = template(
      kindOf('KubeadmConfigTemplate'),
      called,
      joined(workerConfig(spec, pool, infrastructure), workers.kubeadm) as object,
    );
    const own = { [CLUSTER_LABEL]: name, [DEPLOYMENT_LABEL]: called };
    const deployment = object(kindOf('MachineDeployment'), called, {
      spec: {
        clusterName: name,
        selector: { matchLabels: own },
        template: {
          metadata: { labels: { ...own, [LABELS.cluster]: place.id, [LABELS.pool]: title } },
          spec: {
            clusterName: name,
            bootstrap: { configRef: refTo(config) },
            infrastructureRef: refTo(machine),
            deletion: { nodeDrainTimeoutSeconds: infrastructure.drainSeconds },
          },
        },
      },
    });
    deployment.metadata = {
      ...deployment.metadata,
      labels: { ...labels, [LABELS.pool]: title, [CLUSTER_LABEL]: name },
      annotations: {
        [SMALLEST]: String(pool.minNodes),
        [LARGEST]: String(pool.maxNodes),
        [NODES]: String(Object.keys(pool.nodes).length),
      },
    };
    return [title, { templates: [machine, config], deployment }] satisfies [string, Parts['pools'][string]];
  });
  return {
    namespace: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: { ...OURS, [LABELS.project]: String(place.projectId) } },
    },
    objects: [
      controlMachine,
      sorted({
        ...kindOf('Cluster'),
        metadata: {
          name,
          namespace,
          // For the operator's ClusterResourceSets, which bring the CNI's own programs.
          labels: { ...labels, [LABELS.cni]: groupsOf(spec).cni?.provider ?? 'calico' },
          annotations: { [NAME]: spec.name },
        },
        spec: {
          clusterNetwork: {
            pods: { cidrBlocks: ranges(spec.pods) },
            services: { cidrBlocks: ranges(spec.services) },
            serviceDomain: 'cluster.local',
          },
          controlPlaneRef: refTo(controlPlane),
          infrastructureRef: refTo(cluster),
        },
      }),
      cluster,
    ],
    controlPlane,
    pools: Object.fromEntries(pools),
  };
}

/** kubeadm passes these on to the API server; a change of them replaces the machines of the control plane. */
function controlPlaneConfig(spec: ClusterSpec, infrastructure: Infrastructure, platform: Platform): object {
  const { oidc_ca: ca } = platform;
  const there: Platform = { ...platform, ...(ca && { oidc_ca: { file: OIDC_CA, text: ca.text } }) };
  const flags = authenticationFlags(spec, there, AUTHENTICATION);
  const authentication = authenticationFile(spec, there);
  const files = [
    ...(authentication === undefined ? [] : [file(AUTHENTICATION, authentication)]),
    ...(ca && flags.length > 0 ? [file(OIDC_CA, ca.text)] : []),
  ];
  return {
    ...(flags.length > 0 && {
      clusterConfiguration: {
        apiServer: {
          extraArgs: flags.map(argument),
          ...(files.length > 0 && {
            extraVolumes: [{ name: PREFIX, hostPath: FILES, mountPath: FILES, readOnly: true, pathType: 'Directory' }],
          }),
        },
      },
    }),
    ...(files.length > 0 && { files }),
    ...users(spec, infrastructure),
  };
}

/** Labels of nodes are not here: they change in place, see `nodes.ts`. */
function workerConfig(spec: ClusterSpec, pool: ClusterPoolSpec, infrastructure: Infrastructure): object {
  const { apiVersion, kind, ...settings } = kubeletConfiguration(pool);
  const hasSettings = Object.keys(settings).length > 0;
  const crio = crioEnvironment(pool);
  const taints = Object.entries(pool.taints).map(([key, text]) => taint(key, text));
  return {
    // Cluster API takes no empty configuration, and this one is its own default.
    format: 'cloud-config',
    ...((hasSettings || taints.length > 0) && {
      joinConfiguration: {
        ...(hasSettings && { patches: { directory: PATCHES } }),
        ...(taints.length > 0 && { nodeRegistration: { taints } }),
      },
    }),
    ...((hasSettings || crio !== undefined) && {
      files: [
        ...(hasSettings
          ? [file(`${PATCHES}/kubeletconfiguration+strategic.json`, JSON.stringify({ apiVersion, kind, ...settings }))]
          : []),
        // CRI-O's own unit reads it.
        ...(crio === undefined ? [] : [file('/etc/sysconfig/crio', crio)]),
      ],
    }),
    ...(crio !== undefined && { preKubeadmCommands: ['systemctl restart crio'] }),
    ...users(spec, infrastructure),
  };
}

const users = ({ publicKey }: ClusterSpec, { nodeUser }: Infrastructure): object =>
  publicKey === undefined
    ? {}
    : {
        users: [{ name: nodeUser, sudo: 'ALL=(ALL) NOPASSWD:ALL', sshAuthorizedKeys: [authorizedKey(publicKey)] }],
      };

/** Cluster API writes it into YAML without quotes, so a comment that would be more than text is left out. */
function authorizedKey(line: string): string {
  const [type = '', key = '', ...comment] = line.split(/\s+/);
  return comment.every((word) => /^[\w.@+-]*$/.test(word)) ? line : `${type} ${key}`;
}

const file = (path: string, content: string) => ({ path, content, owner: 'root:root', permissions: '0640' });

function argument(flag: string): { name: string; value: string } {
  const [, name = '', value = ''] = /^--([^=]+)=(.*)$/s.exec(flag) ?? [];
  return { name, value };
}

function taint(key: string, text: string): object {
  const at = text.lastIndexOf(':');
  const value = text.slice(0, at);
  return { key, ...(value !== '' && { value }), effect: text.slice(at + 1) };
}

function refTo({ apiVersion, kind, metadata }: KubernetesObject): object {
  return { apiGroup: apiVersion.split('/')[0], kind, name: metadata.name };
}

const ranges = ({ ipv4, ipv6 }: ClusterSpec['pods']): string[] => [ipv4, ...(ipv6 === undefined ? [] : [ipv6])];
