import { type Static, Type } from 'typebox';
import { IdList } from '../../../lib/id-list.ts';
import { KUBERNETES_NAME_PATTERN, KUBERNETES_NAME_RULE } from '../../../lib/names.ts';
import { nullable } from '../../../lib/nullable.ts';
import { UuidInput } from '../../../lib/resource-fields.ts';
import { closed, oneOf, orNull, textMap } from '../../../lib/schema-kit.ts';
import { listQuery, ProjectRegion } from '../../../lib/wire.ts';
import { creationGroups } from './configuration/schema.ts';

export { ClusterUpdate } from './configuration/schema.ts';

const { Optional } = Type;

/** Our own limits. Only the number of nodes is published. */
export const MAX_POOLS = 50;
export const MAX_NODES = 200;
export const MAX_GROUPS_OF_POOL = 50;

export const SERVERGROUP_POLICIES = ['affinity', 'anti-affinity', 'soft-anti-affinity'] as const;

const KubernetesName = (what: string, example: string) =>
  Type.String({
    pattern: KUBERNETES_NAME_PATTERN,
    rule: `The name ${KUBERNETES_NAME_RULE}.`,
    description: `${what}; it ${KUBERNETES_NAME_RULE}.`,
    examples: [example],
  });

export const Nodes = (description: string) =>
  Type.Integer({ minimum: 1, maximum: MAX_NODES, description, examples: [1] });

const textsOf = (description: string, examples: Record<string, string>[]) =>
  Optional(orNull(textMap({ keyLength: 317, valueLength: 1024, entries: 64 }, { description, examples })));

const switchOf = (description: string) => Optional(nullable(Type.Boolean({ description })));

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
    max_node_count: Optional(nullable(Nodes('Maximum number of nodes; defaults to `min_node_count`.'))),
    boot_volume_size: Optional(
      nullable(
        Type.Integer({
          minimum: 10,
          maximum: 2000,
          description:
            'Size of the boot volume in GiB. Required for virtual flavors, not allowed for bare metal.',
          examples: [50],
        }),
      ),
    ),
    boot_volume_type: Optional(
      nullable(
        Type.String({
          minLength: 1,
          maxLength: 32,
          description:
            'Volume type of the boot volume, one that the region offers. Required for virtual flavors, not allowed for bare metal.',
          examples: ['ssd_hiiops'],
        }),
      ),
    ),
    servergroup_policy: Optional(
      nullable(
        oneOf(SERVERGROUP_POLICIES, {
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
      orNull(
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
  Optional(
    nullable(
      Type.String({
        pattern: '^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$',
        rule: 'Must be a UUID or an empty string.',
        description,
        examples: [''],
      }),
    ),
  );

const addressPool = (description: string, example: string) =>
  Optional(nullable(Type.String({ minLength: 1, maxLength: 64, description, examples: [example] })));

const CsiInput = closed(
  {
    nfs: Optional(
      closed(
        {
          vast_enabled: Optional(
            Type.Boolean({
              description:
                "VAST NFS, which Slurm requires; defaults to false. Can't be changed after creation.",
              examples: [false],
            }),
          ),
          ddn_enabled: Optional(
            Type.Boolean({
              description: 'DDN EXAScaler file shares. Not available in any region, so it must be false.',
              examples: [false],
            }),
          ),
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
    fixed_subnet: networkId(
      'Subnet of the nodes, which must have a router. If empty, the platform chooses one.',
    ),
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

export const ClusterParams = Type.Object({
  ...ProjectRegion,
  cluster_name: Type.String({ description: 'Cluster name' }),
});
export const PoolParams = Type.Object({
  ...ClusterParams.properties,
  pool_name: Type.String({ description: 'Pool name' }),
});

export const ClusterListQuery = Type.Object(listQuery(), { additionalProperties: false });
export const DeleteClusterQuery = Type.Object(
  {
    volumes: Optional(IdList('Volumes of the cluster to delete as well, including those that would be kept')),
  },
  { additionalProperties: false },
);
