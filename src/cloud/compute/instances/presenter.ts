import type { Load } from '../../../backends/contract/backend.ts';
import type { KeptFlavor } from '../../../db/json-columns.ts';
import { presentedTags } from '../../../lib/tags.ts';
import { isoSeconds } from '../../../lib/time.ts';
import type { Scope } from '../../../platform.ts';
import { hardwareOf } from '../../ground/catalog/flavor-schema.ts';
import { legacyInstance } from './legacy-answer.ts';
import type { InstanceAnswer } from './schema.ts';
import type { InstanceRow } from './store.ts';

interface Shown {
  subnets: boolean;
  interfaceNames: boolean;
}

export function presentedInstance(row: InstanceRow, scope: Scope, shown: Shown): InstanceAnswer {
  const created_at = isoSeconds(row.created_at);
  return {
    instance_description: row.description,
    ...row,
    region: scope.region.display_name,
    created_at,
    flavor: presentedFlavor(row.flavor),
    addresses: presentedAddresses(row, shown),
    fixed_ip_assignments: row.addresses.map(({ address, subnet_id, external }) => ({
      ip_address: address,
      subnet_id,
      external,
    })),
    security_groups: row.security_groups.map((name) => ({ name })),
    tags: presentedTags(row.tags),
    blackhole_ports: [],
    ddos_profile: null,
    instance_isolation: null,
    ...legacyInstance({ ...row, created_at }),
  };
}

function presentedFlavor({ resource_class, ...flavor }: KeptFlavor) {
  return {
    flavor_name: flavor.flavor_id,
    ...flavor,
    hardware_description: hardwareOf(flavor),
    ...(resource_class !== null && { resource_class }),
  };
}

function presentedAddresses(row: InstanceRow, shown: Shown): InstanceAnswer['addresses'] {
  const byNetwork = new Map<string, InstanceAnswer['addresses'][string]>();
  for (const found of row.addresses) {
    const list = byNetwork.get(found.network_name) ?? [];
    list.push({
      type: 'fixed',
      addr: found.address,
      interface_name: shown.interfaceNames ? found.interface_name : null,
      ...(shown.subnets && { subnet_id: found.subnet_id, subnet_name: found.subnet_name }),
    });
    if (found.floating_address !== null) list.push({ type: 'floating', addr: found.floating_address });
    byNetwork.set(found.network_name, list);
  }
  return Object.fromEntries(byNetwork);
}

/** Returns a load as metrics show it: what is not known is null. */
export const presentedLoad = ({ time, network, cpuPercent, memoryPercent }: Load) => ({
  time: isoSeconds(time),
  cpu_util: cpuPercent ?? null,
  memory_util: memoryPercent ?? null,
  network_Bps_ingress: network?.bytesIn ?? null,
  network_Bps_egress: network?.bytesOut ?? null,
  network_pps_ingress: network?.packetsIn ?? null,
  network_pps_egress: network?.packetsOut ?? null,
});
