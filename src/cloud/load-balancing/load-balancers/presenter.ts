import type { KeptLbFlavor } from '../../../db/json-columns.ts';
import { familyOf } from '../../../lib/ip-addresses.ts';
import { commonFields } from '../../../lib/resource-fields.ts';
import { offsetTimestamp } from '../../../lib/time.ts';
import type { Scope } from '../../../platform.ts';
import type { FloatingIpAnswer } from '../../network/floating-ips/schema.ts';
import type { LoadBalancerAnswer } from './schema.ts';
import type { ShownLoadBalancer } from './store.ts';
import type { OperatingStatus } from './tree/operating-status.ts';

/** Nothing sends traffic through simulated infrastructure, and no backend counts it yet. */
export const NO_TRAFFIC = {
  active_connections: 0,
  bytes_in: 0,
  bytes_out: 0,
  request_errors: 0,
  total_connections: 0,
};

export function presentedBalancer(
  row: ShownLoadBalancer,
  scope: Scope,
  more: { operating: OperatingStatus; floatingIps: FloatingIpAnswer[]; stats: boolean },
): LoadBalancerAnswer {
  const { tags, ...common } = commonFields(row, scope);
  const [first, ...further] = row.vip?.addresses ?? [];
  return {
    operating_status: more.operating,
    ...row,
    flavor: row.flavor_named ? presentedFlavor(row.flavor) : null,
    vip_address: first?.address ?? null,
    vip_ip_family: vipFamily(row),
    vip_port_id: row.vip?.id ?? null,
    vip_fqdn: null,
    additional_vips: further.map(({ address, subnet_id }) => ({ ip_address: address, subnet_id })),
    vrrp_ips: [],
    floating_ips: more.floatingIps,
    listeners: row.listener_ids.map((id) => ({ id })),
    stats: more.stats ? NO_TRAFFIC : null,
    ddos_profile: null,
    tags_v2: tags,
    ...common,
    updated_at: offsetTimestamp(row.updated_at),
  };
}

export const presentedFlavor = ({ flavor_id, vcpus, ram }: KeptLbFlavor) => ({
  flavor_id,
  flavor_name: flavor_id,
  vcpus,
  ram,
});

function vipFamily({ vip }: ShownLoadBalancer): LoadBalancerAnswer['vip_ip_family'] {
  const families = new Set(vip?.addresses.map(({ address }) => familyOf(address)));
  if (families.size > 1) return 'dual';
  if (families.size === 0) return null;
  return families.has('IPv6') ? 'ipv6' : 'ipv4';
}
