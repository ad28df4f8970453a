import { type Static, Type } from 'typebox';
import { UuidInput } from '../../../../lib/resource-fields.ts';
import { Input, nullable, OptionalIntegerOrNull, orNull, textMap } from '../../../../lib/wire.ts';
import { MAX_GROUPS_OF_POOL, MAX_NODES } from '../schema.ts';

const { Optional } = Type;

const count = (description: string, example: number) =>
  OptionalIntegerOrNull({ minimum: 1, maximum: MAX_NODES, description, examples: [example] });

const texts = (description: string, example: Record<string, string>) =>
  Optional(orNull(textMap({ keyLength: 317, valueLength: 1024, entries: 64 }, { description, examples: [example] })));

export const UpdatePool = Type.Object(
  {
    min_node_count: count('Minimum number of nodes.', 1),
    max_node_count: count('Maximum number of nodes.', 3),
    node_count: OptionalIntegerOrNull({
      minimum: 1,
      maximum: MAX_NODES,
      deprecated: true,
      description: 'Must equal the current number of nodes. To change it, resize the pool.',
    }),
    auto_healing_enabled: Optional(nullable(Type.Boolean({ description: 'Replaces broken nodes.' }))),
    labels: texts('Kubernetes labels of the nodes. Replaces the current ones.', { tier: 'web' }),
    taints: texts(
      'Kubernetes taints of the nodes; each value has the form `value:Effect`. Replaces the current ones.',
      {
        dedicated: 'web:NoSchedule',
      },
    ),
    crio_config: texts('Settings of the container runtime. Replaces the current ones.', {
      'default-ulimits': 'nofile=1024:2048',
    }),
    kubelet_config: texts('Kubelet settings. Replaces the current ones.', { podMaxPids: '4096' }),
    security_group_ids: Optional(
      orNull(
        Type.Array(UuidInput('Security group ID'), {
          maxItems: MAX_GROUPS_OF_POOL,
          description: 'Security groups of the nodes. Replaces the current ones.',
          examples: [[]],
        }),
      ),
    ),
  },
  {
    title: 'UpdateKubernetesPool',
    description: "Fields that are omitted or null don't change.",
    additionalProperties: false,
    examples: [{ min_node_count: 1, max_node_count: 3, labels: { tier: 'web' } }],
  },
);
export type UpdatePool = Static<typeof UpdatePool>;

export const ResizePool = Input(
  'ResizeKubernetesPool',
  {
    node_count: Type.Integer({
      minimum: 1,
      maximum: MAX_NODES,
      description: 'Desired number of nodes, between `min_node_count` and `max_node_count` of the pool.',
      examples: [2],
    }),
  },
  { node_count: 2 },
);
export type ResizePool = Static<typeof ResizePool>;
