import { offsetTimestamp } from '../../../lib/timestamps.ts';
import type { Scope } from '../../ground/projects/service.ts';
import type { RouterAnswer } from './schema.ts';
import type { RouterRow } from './store.ts';

export function presentedRouter(row: RouterRow, scope: Scope): RouterAnswer {
  return {
    id: row.id,
    name: row.name,
    status: row.task_id === row.creator_task_id ? 'ALLOCATING' : 'ACTIVE',
    distributed: false,
    external_gateway_info:
      row.gateway_network_id === null
        ? null
        : {
            network_id: row.gateway_network_id,
            enable_snat: row.enable_snat,
            external_fixed_ips: row.outside.map(assigned),
          },
    interfaces: row.interfaces.map((one) => ({
      port_id: one.port_id,
      network_id: one.network_id,
      mac_address: one.mac_address,
      ip_assignments: [assigned(one)],
    })),
    routes: row.routes,
    project_id: row.project_id,
    region: scope.region.display_name,
    region_id: row.region_id,
    creator_task_id: row.creator_task_id,
    task_id: row.task_id,
    created_at: offsetTimestamp(row.created_at),
    updated_at: offsetTimestamp(row.updated_at),
  };
}

const assigned = ({ address, subnet_id }: { address: string; subnet_id: string }) => ({
  ip_address: address,
  subnet_id,
});
