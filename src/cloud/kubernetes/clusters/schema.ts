import { type Static, Type } from 'typebox';
import { UuidInput } from '../../../lib/resource-fields.ts';
import { isoSeconds } from '../../../lib/time.ts';
import { PROJECT_REGION_COLUMNS } from '../../../lib/versioned.ts';
import * as wire from '../../../lib/wire.ts';
import { configurationAnswer, creationGroups } from './configuration/schema.ts';
import type { ClusterRow, PoolRow } from './store.ts';

export { ClusterUpdate } from './configuration/schema.ts';

const { Optional } = Type;

/** Our own limits. Only the number of nodes is published. */
export const MAX_POOLS = 50;
export const MAX_NODES = 200;
export const MAX_GROUPS_OF_POOL = 50;

export const SERVERGROUP_POLICIES = ['affinity', 'anti-affinity', 'soft-anti-affinity'] as const;

const KubernetesName = (what: string, example: string) =>
  Type.String({
    pattern: wire.KUBERNETES_NAME_PATTERN,
    rule: `The name ${wire.KUBERNETES_NAME_RULE}.`,
    description: `${what}; it ${wire.KUBERNETES_NAME_RULE}.`,
    examples: [example],
  });

export const Nodes = (description: string) =>
  Type.Integer({ minimum: 1, maximum: MAX_NODES, description, examples: [1] });

const textsOf = (description: string, examples: Record<string, string>[]) =>
  Optional(wire.orNull(wire.textMap({ keyLength: 317, valueLength: 1024, entries: 64 }, { description, examples })));

const switchOf = (description: string) => Optional(wire.nullable(Type.Boolean({ description })));

const EXAMPLE_POOL = {
  name: 'pool-1',
  flavor_id: 'g1-standard-2-4',
  min_node_count: 1,
  max_node_count: 3,
  boot_volume_size: 50,
  boot_volume_type: 'ssd_hiiops',
  servergroup_policy: 'anti-affinity',
};

export const PoolInput = Type.Object(
  {
    name: KubernetesName('Pool name, unique in the cluster', 'pool-1'),
    flavor_id: Type.String({
      minLength: 1,
      maxLength: 63,
      description: 'Flavor of the nodes. Must be one that the region offers for Kubernetes.',
      examples: ['g1-standard-2-4'],
    }),
    min_node_count: Nodes('Minimum and initial number of nodes.'),
    max_node_count: Optional(wire.nullable(Nodes('Maximum number of nodes; defaults to `min_node_count`.'))),
    boot_volume_size: wire.OptionalIntegerOrNull({
      minimum: 10,
      maximum: 2000,
      description: 'Size of the boot volume in GiB. Required for virtual flavors, not allowed for bare metal.',
      examples: [50],
    }),
    boot_volume_type: wire.OptionalTextOrNull({
      minLength: 1,
      maxLength: 32,
      description:
        'Volume type of the boot volume, one that the region offers. Required for virtual flavors, not allowed for bare metal.',
      examples: ['ssd_hiiops'],
    }),
    servergroup_policy: Optional(
      wire.nullable(
        wire.oneOf(SERVERGROUP_POLICIES, {
          description:
            'How nodes are distributed over hosts. Required for virtual flavors, not allowed for bare metal.',
          examples: ['anti-affinity'],
        }),
      ),
    ),
    auto_healing_enabled: switchOf('Replaces broken nodes; defaults to false.'),
    is_public_ipv4: switchOf('Gives each node a public IPv4 address; defaults to false.'),
    labels: textsOf('Kubernetes labels of the nodes.', [{ tier: 'web' }]),
    taints: textsOf('Kubernetes taints of the nodes; each value has the form `value:Effect`.', [
      { dedicated: 'web:NoSchedule' },
    ]),
    crio_config: textsOf('Settings of the container runtime.', [{ 'default-ulimits': 'nofile=1024:2048' }]),
    kubelet_config: textsOf('Kubelet settings.', [{ podMaxPids: '4096' }]),
    security_group_ids: Optional(
      wire.orNull(
        Type.Array(UuidInput('Security group ID'), {
          maxItems: MAX_GROUPS_OF_POOL,
          description: "Security groups of the nodes, in addition to the platform's.",
          examples: [[]],
        }),
      ),
    ),
  },
  {
    title: 'CreateKubernetesPool',
    description: 'A group of nodes with the same settings.',
    additionalProperties: false,
  },
);
export type PoolInput = Static<typeof PoolInput>;
/** The same schema as a request body: the example belongs to the body only. */
export const CreatePool = { ...PoolInput, examples: [EXAMPLE_POOL] };

const networkId = (description: string) =>
  wire.OptionalTextOrNull({
    pattern: '^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$',
    rule: 'Must be a UUID or an empty string.',
    description,
    examples: [''],
  });

const addressPool = (description: string, example: string) =>
  wire.OptionalTextOrNull({ minLength: 1, maxLength: 64, description, examples: [example] });

const CsiInput = wire.closed(
  {
    nfs: Optional(
      wire.closed(
        {
          vast_enabled: wire.OptionalFlag({
            description: "VAST NFS, which Slurm requires; defaults to false. Can't be changed after creation.",
            examples: [false],
          }),
          ddn_enabled: wire.OptionalFlag({
            description: 'DDN EXAScaler file shares. Not available in any region, so it must be false.',
            examples: [false],
          }),
        },
        { title: 'KubernetesNfsInput', description: 'NFS storage of the cluster.' },
      ),
    ),
  },
  { title: 'KubernetesCsiInput', description: 'Storage of the cluster.' },
);

export const VersionInput = Type.String({
  pattern: '^v?1\\.\\d{1,3}\\.\\d{1,3}$',
  rule: 'Must be a version such as v1.32.13.',
  description: 'Kubernetes version, one of those offered, with or without the leading `v`.',
  examples: ['v1.32.13'],
});

export const CreateCluster = Type.Object(
  {
    name: KubernetesName('Cluster name, unique in the project and region', 'my-cluster'),
    version: VersionInput,
    keypair: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Name of an SSH key of the project, for logging in to the nodes.',
      examples: ['my-key'],
    }),
    pools: Type.Array(PoolInput, { minItems: 1, maxItems: MAX_POOLS, description: 'Node pools.' }),
    ...creationGroups,
    csi: Optional(CsiInput),
    fixed_network: networkId('Network of the nodes. If empty, the platform chooses one.'),
    fixed_subnet: networkId('Subnet of the nodes, which must have a router. If empty, the platform chooses one.'),
    is_ipv6: switchOf('IPv6 in addition to IPv4: each node gets a public IPv6 address. Defaults to false.'),
    pods_ip_pool: addressPool('IPv4 CIDR for pods; defaults to 172.16.0.0/18.', '172.16.0.0/18'),
    services_ip_pool: addressPool('IPv4 CIDR for services; defaults to 172.24.0.0/18.', '172.24.0.0/18'),
    pods_ipv6_pool: addressPool('IPv6 CIDR for pods; requires `is_ipv6`.', 'fd00:10:244::/104'),
    services_ipv6_pool: addressPool('IPv6 CIDR for services; requires `is_ipv6`.', 'fd00:10:96::/112'),
  },
  {
    title: 'CreateKubernetesCluster',
    description: 'A new cluster. Fields that are omitted or null get the platform default.',
    additionalProperties: false,
    examples: [
      {
        name: 'my-cluster',
        version: 'v1.32.13',
        keypair: 'my-key',
        pools: [EXAMPLE_POOL],
      },
    ],
  },
);
export type CreateCluster = Static<typeof CreateCluster>;

export const ClusterParams = wire.PlaceParams({ cluster_name: 'Cluster name' });
export const PoolParams = Type.Object({
  ...ClusterParams.properties,
  pool_name: Type.String({ description: 'Pool name' }),
});

export const ClusterListQuery = wire.Query(wire.listQuery());
export const DeleteClusterQuery = wire.Query({
  volumes: Optional(wire.IdList('Volumes of the cluster to delete as well, including those that would be kept')),
});

const texts = (description: string) =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description,
  });

export const PoolAnswer = wire.Named('KubernetesPool', {
  id: Type.String({ format: 'uuid', description: 'Pool ID' }),
  name: Type.String({ examples: ['pool-1'] }),
  flavor_id: Type.String({ examples: ['g1-standard-2-4'] }),
  min_node_count: Type.Integer({ examples: [1] }),
  max_node_count: Type.Integer({ examples: [3] }),
  node_count: Type.Integer({ description: 'Current number of nodes', examples: [1] }),
  boot_volume_size: Type.Integer({
    description: 'Size of the boot volume in GiB; 0 for bare metal',
    examples: [50],
  }),
  boot_volume_type: Type.String({
    description: 'Type of the boot volume; empty for bare metal',
    examples: ['ssd_hiiops'],
  }),
  auto_healing_enabled: Type.Boolean(),
  is_public_ipv4: Type.Boolean(),
  labels: texts('Kubernetes labels of the nodes'),
  taints: texts('Kubernetes taints of the nodes; each value has the form `value:Effect`'),
  crio_config: texts('Settings of the container runtime'),
  kubelet_config: texts('Kubelet settings'),
  security_group_ids: Type.Array(Type.String({ format: 'uuid' })),
  status: Type.String({
    description: 'Provisioning, Running or Deleting',
    examples: ['Running'],
  }),
  created_at: wire.Timestamp('For example 2026-05-23T05:07:31Z'),
  servergroup_id: Type.String({ description: 'Placement group of its nodes; empty for bare metal' }),
  servergroup_name: Type.String({ description: 'Empty for bare metal' }),
  servergroup_policy: Type.String({ description: 'Empty for bare metal', examples: ['anti-affinity'] }),
});
export type PoolAnswer = Static<typeof PoolAnswer>;
export const PoolList = wire.listOf(PoolAnswer, 'KubernetesPoolList');

export const ClusterAnswer = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Cluster ID' }),
    name: Type.String({ examples: ['my-cluster'] }),
    version: Type.String({ description: 'Kubernetes version, with the leading `v`', examples: ['v1.32.13'] }),
    keypair: Type.String({ description: 'Name of the SSH key on the nodes', examples: ['my-key'] }),
    status: wire.Choice(['Deleting', 'Provisioned', 'Provisioning'], {
      description: 'Status of the cluster. If a change fails, its task says why.',
    }),
    is_public: Type.Boolean({ description: 'Whether the API server can be reached from the internet' }),
    pools: Type.Array(PoolAnswer),
    ...configurationAnswer,
    csi: wire.Named('KubernetesCsi', {
      nfs: wire.Named('KubernetesNfs', {
        vast_enabled: Type.Boolean(),
        ddn_enabled: Type.Boolean({ description: 'Always false: no region offers DDN file shares' }),
      }),
    }),
    fixed_network: wire.TextOrNull({ description: 'Empty if the platform chose it' }),
    fixed_subnet: wire.TextOrNull({ description: 'Empty if the platform chose it' }),
    is_ipv6: Type.Boolean(),
    pods_ip_pool: wire.TextOrNull({ examples: ['172.16.0.0/18'] }),
    services_ip_pool: wire.TextOrNull({ examples: ['172.24.0.0/18'] }),
    pods_ipv6_pool: wire.nullable(Type.String()),
    services_ipv6_pool: wire.nullable(Type.String()),
    creator_task_id: wire.TextOrNull({ description: 'Task that created the cluster' }),
    task_id: wire.TextOrNull({
      description: 'Task that holds the cluster; the cluster can be changed when this is null',
    }),
    created_at: wire.Timestamp('For example 2026-05-23T05:07:31Z'),
  },
  { title: 'KubernetesCluster', description: 'A Kubernetes cluster with all its settings.' },
);
export type ClusterAnswer = Static<typeof ClusterAnswer>;
export const ClusterList = wire.listOf(ClusterAnswer, 'KubernetesClusterList');

export function presentedCluster(row: ClusterRow): ClusterAnswer {
  const { authentication, ...groups } = row.configuration;
  return {
    is_public: true,
    ...row,
    pools: row.pools.map((pool) => presentedPool(pool, row.status)),
    ...groups,
    authentication: {
      oidc: authentication?.oidc ?? null,
      kubeconfig_created_at: row.kubeconfig_created_at && isoSeconds(row.kubeconfig_created_at),
      kubeconfig_expires_at: row.kubeconfig_expires_at && isoSeconds(row.kubeconfig_expires_at),
    },
    csi: { nfs: { vast_enabled: row.vast_nfs_enabled, ddn_enabled: false } },
    created_at: isoSeconds(row.created_at),
  };
}

const POOL_STATUS: Record<ClusterRow['status'], string> = {
  Provisioning: 'Provisioning',
  Provisioned: 'Running',
  Deleting: 'Deleting',
};

export function presentedPool(row: PoolRow, clusterStatus: ClusterRow['status']): PoolAnswer {
  return {
    status: row.pending ?? POOL_STATUS[clusterStatus],
    ...row,
    boot_volume_size: row.boot_volume_size ?? 0,
    boot_volume_type: row.boot_volume_type ?? '',
    created_at: isoSeconds(row.created_at),
    servergroup_id: row.servergroup_id ?? '',
    servergroup_name: row.servergroup_name ?? '',
    servergroup_policy: row.servergroup_policy ?? '',
  };
}

/**
 * The specification has cloud operations under v1, the published contract has clusters under v2. The operations are
 * the same; a suffix tells their IDs apart.
 */
export const CLUSTER_BASES = [
  { path: '/cloud/v1/k8s/clusters/:project_id/:region_id', suffix: '' },
  { path: '/cloud/v2/k8s/clusters/:project_id/:region_id', suffix: 'V2' },
] as const;
export type ClusterBase = (typeof CLUSTER_BASES)[number];

/** The last part of the path. `check_limits` is an operation and no cluster, whatever the method is. */
export const CLUSTER_NAME = ':cluster_name(^(?!check_limits$).*$)';

/** Which columns the parameters of a cluster's address are. */
export const CLUSTER_COLUMNS = { ...PROJECT_REGION_COLUMNS, cluster_name: 'name' };
