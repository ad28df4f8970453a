import { type Static, Type } from 'typebox';
import { Input, nullable } from '../../../lib/wire.ts';
import { MAX_POOLS, Nodes, PoolInput } from '../../kubernetes/clusters/schema.ts';
import { priceSchema } from './schema.ts';

const { Optional } = Type;
const { flavor_id, boot_volume_size, boot_volume_type, is_public_ipv4 } = PoolInput.properties;

const PricedPool = Input('KubernetesPricePool', {
  flavor_id,
  node_count: Optional(nullable(Nodes('Number of nodes; defaults to 1.'))),
  boot_volume_size: Optional({
    ...boot_volume_size,
    description: 'Size of the boot volume in GiB. Without size and type, only the machines are priced.',
  }),
  boot_volume_type,
  is_public_ipv4,
});

export const clusterPriceRequestSchema = Type.Object(
  {
    pools: Type.Array(PricedPool, { minItems: 1, maxItems: MAX_POOLS, description: 'Pools of the cluster.' }),
  },
  {
    title: 'KubernetesPriceRequest',
    description: 'The cluster to price. Nothing is created.',
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
    instances: Type.Array(priceSchema, { description: 'Machines of each pool, in the order of the pools' }),
    publicips: Type.Array(priceSchema, {
      description: 'Public addresses of each pool that has any',
    }),
    volumes: Type.Array(priceSchema, {
      description: 'Boot volumes of each pool that has any',
    }),
    total_price: priceSchema,
  },
  {
    title: 'KubernetesPrice',
    description: 'Price of a cluster for this account, by part and in total.',
  },
);
