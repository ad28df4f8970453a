import { type Static, Type } from 'typebox';
import { nullable } from '../../lib/nullable.ts';
import { MAX_POOLS, Nodes, PoolInput } from '../clusters/schema.ts';
import { priceSchema } from './schema.ts';

const { Optional } = Type;
const { flavor_id, boot_volume_size, boot_volume_type, is_public_ipv4 } = PoolInput.properties;

const PricedPool = Type.Object(
  {
    flavor_id,
    node_count: Optional(nullable(Nodes('Nodes; 1 when not given.'))),
    boot_volume_size: Optional({
      ...boot_volume_size,
      description: 'GiB. Left out with its type: the machines alone are priced.',
    }),
    boot_volume_type,
    is_public_ipv4,
  },
  { title: 'KubernetesPricePool', additionalProperties: false },
);

export const clusterPriceRequestSchema = Type.Object(
  {
    pools: Type.Array(PricedPool, { minItems: 1, maxItems: MAX_POOLS, description: 'Pools of the cluster.' }),
  },
  {
    title: 'KubernetesPriceRequest',
    description: 'The cluster whose price is asked for; nothing is created.',
    additionalProperties: false,
    examples: [
      {
        pools: [
          {
            flavor_id: 'g1-standard-2-4',
            node_count: 3,
            boot_volume_size: 50,
            boot_volume_type: 'ssd_hiiops',
            is_public_ipv4: true,
          },
        ],
      },
    ],
  },
);
export type ClusterPriceRequest = Static<typeof clusterPriceRequestSchema>;

export const clusterPriceSchema = Type.Object(
  {
    instances: Type.Array(priceSchema, { description: 'The machines of each pool, in their order' }),
    publicips: Type.Array(priceSchema, {
      description: 'The addresses of each pool that has public ones',
    }),
    volumes: Type.Array(priceSchema, {
      description: 'The boot volumes of each pool that has them',
    }),
    total_price: priceSchema,
  },
  {
    title: 'KubernetesPrice',
    description: 'The price of a cluster as the account would pay it, part by part and as their sum.',
  },
);
