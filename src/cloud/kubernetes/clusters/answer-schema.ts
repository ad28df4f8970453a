import { type Static, Type } from 'typebox';
import { nullable } from '../../../lib/nullable.ts';
import { listOf, Timestamp } from '../../../lib/wire.ts';
import { configurationAnswer } from './configuration/answer-schema.ts';

const texts = (description: string) =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description,
  });

export const PoolAnswer = Type.Object(
  {
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
    created_at: Timestamp('For example 2026-05-23T05:07:31Z'),
    servergroup_id: Type.String({ description: 'Placement group of its nodes; empty for bare metal' }),
    servergroup_name: Type.String({ description: 'Empty for bare metal' }),
    servergroup_policy: Type.String({ description: 'Empty for bare metal', examples: ['anti-affinity'] }),
  },
  { title: 'KubernetesPool' },
);
export type PoolAnswer = Static<typeof PoolAnswer>;
export const PoolList = listOf(PoolAnswer, 'KubernetesPoolList');

export const ClusterAnswer = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Cluster ID' }),
    name: Type.String({ examples: ['my-cluster'] }),
    version: Type.String({ description: 'Kubernetes version, with the leading `v`', examples: ['v1.32.13'] }),
    keypair: Type.String({ description: 'Name of the SSH key on the nodes', examples: ['my-key'] }),
    status: Type.Enum(['Deleting', 'Provisioned', 'Provisioning'], {
      type: 'string',
      description: 'Status of the cluster. If a change fails, its task says why.',
    }),
    is_public: Type.Boolean({ description: 'Whether the API server can be reached from the internet' }),
    pools: Type.Array(PoolAnswer),
    ...configurationAnswer,
    csi: Type.Object(
      {
        nfs: Type.Object(
          {
            vast_enabled: Type.Boolean(),
            ddn_enabled: Type.Boolean({ description: 'Always false: no region offers DDN file shares' }),
          },
          { title: 'KubernetesNfs' },
        ),
      },
      { title: 'KubernetesCsi' },
    ),
    fixed_network: nullable(Type.String({ description: 'Empty if the platform chose it' })),
    fixed_subnet: nullable(Type.String({ description: 'Empty if the platform chose it' })),
    is_ipv6: Type.Boolean(),
    pods_ip_pool: nullable(Type.String({ examples: ['172.16.0.0/18'] })),
    services_ip_pool: nullable(Type.String({ examples: ['172.24.0.0/18'] })),
    pods_ipv6_pool: nullable(Type.String()),
    services_ipv6_pool: nullable(Type.String()),
    creator_task_id: nullable(Type.String({ description: 'Task that created the cluster' })),
    task_id: nullable(
      Type.String({
        description: 'Task that holds the cluster; the cluster can be changed when this is null',
      }),
    ),
    created_at: Timestamp('For example 2026-05-23T05:07:31Z'),
  },
  { title: 'KubernetesCluster', description: 'A Kubernetes cluster with all its settings.' },
);
export type ClusterAnswer = Static<typeof ClusterAnswer>;
export const ClusterList = listOf(ClusterAnswer, 'KubernetesClusterList');
