import type { Static } from 'typebox';
import { Input, OptionalList } from '../../../lib/wire.ts';
import { MAX_LISTENERS } from './listeners/rules.ts';
import { newListenerFields } from './listeners/schema.ts';
import { PoolOfListener } from './pools/schema.ts';
import { newBalancerFields } from './schema.ts';

const ListenerOfBalancer = Input('ListenerOfLoadBalancer', {
  ...newListenerFields,
  pools: OptionalList(PoolOfListener, { maxItems: 1, description: 'Its default pool' }),
});

export const CreateLoadBalancer = Input(
  'CreateLoadBalancer',
  {
    ...newBalancerFields,
    listeners: OptionalList(ListenerOfBalancer, {
      maxItems: MAX_LISTENERS + 1,
      description: `Listeners; at most ${MAX_LISTENERS}, apart from one for PROMETHEUS`,
    }),
  },
  {
    name: 'shop front',
    listeners: [
      {
        name: 'web',
        protocol: 'HTTP',
        protocol_port: 80,
        pools: [
          {
            name: 'web servers',
            protocol: 'HTTP',
            lb_algorithm: 'ROUND_ROBIN',
            healthmonitor: { type: 'TCP', delay: 10, timeout: 5, max_retries: 2 },
            members: [{ address: '192.168.40.33', protocol_port: 80 }],
          },
        ],
      },
    ],
  },
);
export type CreateLoadBalancer = Static<typeof CreateLoadBalancer>;
