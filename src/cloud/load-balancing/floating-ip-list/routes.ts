import { type Static, Type } from 'typebox';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { listOf, Named, orNull, ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { InstanceAnswer } from '../../compute/instances/schema.ts';
import { instancesOnPorts } from '../../compute/instances/service.ts';
import { presentedFloatingIp } from '../../network/floating-ips/presenter.ts';
import { FloatingIpAnswer, FloatingIpListQuery } from '../../network/floating-ips/schema.ts';
import { listFloatingIps } from '../../network/floating-ips/service.ts';
import { LoadBalancerAnswer } from '../load-balancers/schema.ts';
import { loadBalancersOnPorts } from '../load-balancers/service.ts';

const InstanceOfFloatingIp = Named('FloatingIpInstance', {
  ...Type.Omit(InstanceAnswer, ['fixed_ip_assignments', 'blackhole_ports', 'ddos_profile', 'instance_isolation'])
    .properties,
  flavor: Type.Pick(InstanceAnswer.properties.flavor, ['flavor_id', 'flavor_name', 'vcpus', 'ram'], {
    title: 'FlavorOfFloatingIpInstance',
  }),
});

export const ListedFloatingIp = Named('ListedFloatingIp', {
  ...FloatingIpAnswer.properties,
  instance: orNull(InstanceOfFloatingIp, 'Instance that it is assigned to'),
  loadbalancer: orNull(LoadBalancerAnswer, 'Load balancer whose virtual address it leads to'),
});
export type ListedFloatingIp = Static<typeof ListedFloatingIp>;
export const FloatingIpList = listOf(ListedFloatingIp, 'FloatingIpList');

/** Floating IPs with the instances and load balancers that they lead to. */
export function floatingIpListRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Floating IPs'], params: ProjectRegionParams });

  api.get('/cloud/v1/floatingips/:project_id/:region_id', 'listFloatingIps', 'List floating IPs', {
    description: 'Newest first.',
    query: FloatingIpListQuery,
    answer: FloatingIpList,
    handler: async ({ scope, query }) => {
      const { count, rows } = await listFloatingIps(on, scope, query);
      const portIds = rows.flatMap(({ port_id }) => port_id ?? []);
      const instances = await instancesOnPorts(on, scope, portIds);
      const balancers = await loadBalancersOnPorts(on, scope, portIds);
      return { count, results: rows.map((row) => listedFloatingIp(row, scope, instances, balancers)) };
    },
  });
}

/** Presents a floating IP in a list. Instances and load balancers are keyed by their ports. */
function listedFloatingIp(
  row: Parameters<typeof presentedFloatingIp>[0],
  scope: Scope,
  instances: ReadonlyMap<string, InstanceAnswer>,
  balancers: ReadonlyMap<string, LoadBalancerAnswer>,
): ListedFloatingIp {
  const portId = row.port_id ?? '';
  const instance = instances.get(portId) ?? null;
  const loadbalancer = balancers.get(portId) ?? null;
  return { instance, ...presentedFloatingIp(row, scope), loadbalancer };
}
