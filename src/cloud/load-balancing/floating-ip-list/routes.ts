import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import type { InstanceAnswer } from '../../compute/instances/schema.ts';
import { instancesOnPorts } from '../../compute/instances/service.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { presentedFloatingIp } from '../../network/floating-ips/presenter.ts';
import { FloatingIpListQuery } from '../../network/floating-ips/schema.ts';
import { listFloatingIps } from '../../network/floating-ips/service.ts';
import type { LoadBalancerAnswer } from '../load-balancers/schema.ts';
import { loadBalancersOnPorts } from '../load-balancers/service.ts';
import { FloatingIpList, type ListedFloatingIp } from './schema.ts';

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
  return { ...presentedFloatingIp(row, scope), instance, loadbalancer };
}
