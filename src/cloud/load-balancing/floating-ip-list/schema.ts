import { type Static, Type } from 'typebox';
import { listOf } from '../../../lib/wire.ts';
import { InstanceAnswer } from '../../compute/instances/schema.ts';
import { FloatingIpAnswer } from '../../network/floating-ips/schema.ts';
import { LoadBalancerAnswer } from '../load-balancers/schema.ts';

/** The instance of a floating IP, as lists show it. */
const InstanceOfFloatingIp = Type.Object(
  {
    ...Type.Omit(InstanceAnswer, [
      'fixed_ip_assignments',
      'blackhole_ports',
      'ddos_profile',
      'instance_isolation',
    ]).properties,
    flavor: Type.Pick(InstanceAnswer.properties.flavor, ['flavor_id', 'flavor_name', 'vcpus', 'ram'], {
      title: 'FlavorOfFloatingIpInstance',
    }),
  },
  { title: 'FloatingIpInstance' },
);

/** A floating IP in a list, with what has its port. */
export const ListedFloatingIp = Type.Object(
  {
    ...FloatingIpAnswer.properties,
    instance: Type.Unsafe<Static<typeof InstanceOfFloatingIp> | null>({
      anyOf: [InstanceOfFloatingIp, { type: 'null' }],
      description: 'Instance that it is assigned to',
    }),
    loadbalancer: Type.Unsafe<LoadBalancerAnswer | null>({
      anyOf: [LoadBalancerAnswer, { type: 'null' }],
      description: 'Load balancer whose virtual address it leads to',
    }),
  },
  { title: 'ListedFloatingIp' },
);
export type ListedFloatingIp = Static<typeof ListedFloatingIp>;
export const FloatingIpList = listOf(ListedFloatingIp, 'FloatingIpList');
