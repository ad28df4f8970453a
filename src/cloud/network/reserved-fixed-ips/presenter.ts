import { offsetTimestamp } from '../../../lib/timestamps.ts';
import type { Scope } from '../../ground/projects/service.ts';
import type { NetworkAnswer } from '../networks/schema.ts';
import { presentedPairs } from '../ports/schema.ts';
import type { ReservedFixedIpAnswer } from './schema.ts';
import type { ReservedRow } from './store.ts';

export function presentedReservedFixedIp(
  row: ReservedRow,
  network: NetworkAnswer,
  scope: Scope,
): ReservedFixedIpAnswer {
  const v6 = row.addresses.find(({ address }) => address.includes(':'));
  const v4 = row.addresses.find(({ address }) => !address.includes(':'));
  const user = userOf(row);
  const sharing = row.sharing.map((id) => ({ resource_id: id, resource_type: 'instance' as const }));
  const attachments = user ? [user] : sharing;
  return {
    port_id: row.id,
    name: row.name,
    status: user ? 'ACTIVE' : 'DOWN',
    fixed_ip_address: v4?.address ?? null,
    fixed_ipv6_address: v6?.address ?? null,
    subnet_id: v4?.subnet_id ?? null,
    subnet_v6_id: v6?.subnet_id ?? null,
    is_external: row.external,
    is_vip: row.is_vip,
    reservation: {
      status: attachments.length > 0 ? 'in-use' : 'available',
      resource_type: user?.resource_type ?? null,
      resource_id: user?.resource_id ?? null,
    },
    attachments,
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

function userOf({ instance_id, load_balancer_id }: ReservedRow) {
  if (instance_id !== null) return { resource_id: instance_id, resource_type: 'instance' as const };
  if (load_balancer_id === null) return undefined;
  return { resource_id: load_balancer_id, resource_type: 'loadbalancer' as const };
}
