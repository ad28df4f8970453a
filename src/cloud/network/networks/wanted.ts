import type { NetworkSpec, SubnetSpec } from '../../../backends/contract/specs.ts';
import type { OwnNetwork } from './network-rows.ts';
import type { OwnSubnet } from './subnets/store.ts';

export function networkSpec({
  name,
  type,
  mtu,
  tags,
}: Pick<OwnNetwork, 'name' | 'type' | 'mtu' | 'tags'>): NetworkSpec {
  return { name, type, mtu, metadata: tags };
}

type SubnetParts = Pick<
  OwnSubnet,
  'name' | 'network_id' | 'cidr' | 'enable_dhcp' | 'gateway_ip' | 'dns_nameservers' | 'host_routes' | 'tags'
>;

export function subnetSpec(subnet: SubnetParts): SubnetSpec {
  return {
    name: subnet.name,
    networkId: subnet.network_id,
    cidr: subnet.cidr,
    dhcp: subnet.enable_dhcp,
    ...(subnet.gateway_ip !== null && { gatewayIp: subnet.gateway_ip }),
    dnsNameservers: subnet.dns_nameservers,
    hostRoutes: subnet.host_routes,
    metadata: subnet.tags,
  };
}
