import { offsetTimestamp } from '../../lib/timestamps.ts';
import type { NetworkAnswer } from '../networks/schema.ts';
import { presentedPairs } from '../ports/schema.ts';
import type { Scope } from '../projects/service.ts';
import type { ReservedFixedIpAnswer } from './schema.ts';
import type { ReservedRow } from './store.ts';

export function presentedReservedFixedIp(
  row: ReservedRow,
  network: NetworkAnswer,
  scope: Scope,
): ReservedFixedIpAnswer {
  const v6 = row.addresses.find(({ address }) => address.includes(':'));
  const v4 = row.addresses.find(({ address }) => !address.includes(':'));
  const attached = row.instance_id === null ? row.sharing : [row.instance_id];
  return {
    port_id: row.id,
    name: row.name,
    status: row.instance_id === null ? 'DOWN' : 'ACTIVE',
    fixed_ip_address: v4?.address ?? null,
    fixed_ipv6_address: v6?.address ?? null,
    subnet_id: v4?.subnet_id ?? null,
    subnet_v6_id: v6?.subnet_id ?? null,
    is_external: row.external,
    is_vip: row.is_vip,
    reservation: {
      status: attached.length > 0 ? 'in-use' : 'available',
      resource_type: row.instance_id === null ? null : 'instance',
      resource_id: row.instance_id,
    },
    attachments: attached.map((resource_id) => ({ resource_id, resource_type: 'instance' })),
    network_id: row.network_id,
    network,
    allowed_address_pairs: presentedPairs(row),
    project_id: row.project_id,
    region: scope.region.display_name,
    region_id: row.region_id,
    creator_task_id: row.creator_task_id,
    task_id: row.task_id,
    created_at: offsetTimestamp(row.created_at),
    updated_at: offsetTimestamp(row.updated_at),
  };
}
