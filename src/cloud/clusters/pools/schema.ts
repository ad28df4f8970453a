import { type Static, Type } from 'typebox';
import { nullable } from '../../../lib/nullable.ts';
import { UuidInput } from '../../../lib/resource-fields.ts';
import { orNull, textMap } from '../../../lib/schema-kit.ts';
import { MAX_GROUPS_OF_POOL, MAX_NODES } from '../schema.ts';

const { Optional } = Type;

const count = (description: string, example: number) =>
  Optional(nullable(Type.Integer({ minimum: 1, maximum: MAX_NODES, description, examples: [example] })));

const texts = (description: string, example: Record<string, string>) =>
  Optional(
    orNull(textMap({ keyLength: 317, valueLength: 1024, entries: 64 }, { description, examples: [example] })),
  );

export const UpdatePool = Type.Object(
  {
    min_node_count: count('Fewest nodes.', 1),
    max_node_count: count('Most nodes.', 3),
    node_count: Optional(
      nullable(
        Type.Integer({
          minimum: 1,
          maximum: MAX_NODES,
          deprecated: true,
          description: 'Only the number of nodes that there are is taken: a resize changes it.',
        }),
      ),
    ),
    auto_healing_enabled: Optional(nullable(Type.Boolean({ description: 'Replaces broken nodes.' }))),
    labels: texts('Kubernetes labels of the nodes, replacing those there.', { tier: 'web' }),
    taints: texts('Kubernetes taints of the nodes, replacing those there; a value reads `value:Effect`.', {
      dedicated: 'web:NoSchedule',
    }),
    crio_config: texts('Settings of the container runtime, replacing those there.', {
      'default-ulimits': 'nofile=1024:2048',
    }),
    kubelet_config: texts('Settings of the kubelet, replacing those there.', { podMaxPids: '4096' }),
    security_group_ids: Optional(
      orNull(
        Type.Array(UuidInput('Security group ID'), {
          maxItems: MAX_GROUPS_OF_POOL,
          description: 'Security groups on the nodes, replacing those there.',
          examples: [[]],
        }),
      ),
    ),
  },
  {
    title: 'UpdateKubernetesPool',
    description: 'What is left out or null stays as it is.',
    additionalProperties: false,
    examples: [{ min_node_count: 1, max_node_count: 3, labels: { tier: 'web' } }],
  },
);
export type UpdatePool = Static<typeof UpdatePool>;

export const ResizePool = Type.Object(
  {
    node_count: Type.Integer({
      minimum: 1,
      maximum: MAX_NODES,
      description: 'Wanted number of nodes, between `min_node_count` and `max_node_count` of the pool.',
      examples: [2],
    }),
  },
  { title: 'ResizeKubernetesPool', additionalProperties: false, examples: [{ node_count: 2 }] },
);
export type ResizePool = Static<typeof ResizePool>;
