import ipaddr from 'ipaddr.js';
import { type Static, Type } from 'typebox';
import type { AddressSpace } from '../../src/backends/contract/needs.ts';
import type { Specs } from '../../src/backends/contract/specs.ts';
import { isSameSet, type Resource } from '../resource.ts';
import { Common, inNeutron } from './neutron.ts';
import { closeOutlet, leadOut, type outside } from './outlets.ts';

const Network = Type.Object({ ...Common, name: Type.String(), status: Type.String() });
const neutronNetworks = inNeutron('network', 'network', Network);

export const networks: Resource<'network', Static<typeof Network>> = {
  ...neutronNetworks,
  create: (site, { name, mtu }) => neutronNetworks.make(site, { name, mtu }),
  async change({ api }, live, { name }) {
    if (live.name === name) return undefined;
    await neutronNetworks.put(api, live, { name });
    return { doing: 'renaming' };
  },
  observed: () => ({}),
  seen: ({ name }) => [name],
};

const Route = Type.Object({ destination: Type.String(), nexthop: Type.String() });
const Subnet = Type.Object({
  ...Common,
  name: Type.String(),
  network_id: Type.String(),
  gateway_ip: Type.Union([Type.String(), Type.Null()]),
  enable_dhcp: Type.Boolean(),
  dns_nameservers: Type.Array(Type.String()),
  host_routes: Type.Array(Route),
});
const neutronSubnets = inNeutron('subnet', 'subnet', Subnet);

/** What of a subnet may change. */
const changeable = ({ name, gatewayIp, dhcp, dnsNameservers, hostRoutes }: Specs['subnet']) => ({
  name,
  gateway_ip: gatewayIp ?? null,
  enable_dhcp: dhcp,
  dns_nameservers: dnsNameservers,
  host_routes: hostRoutes,
});

const textOf = ({ destination, nexthop }: Static<typeof Route>): string => `${destination} ${nexthop}`;

/** Of each subnet Neutron's own ports, such as those of its DHCP servers, get the lowest `kept` addresses; all others are given by us. */
export const subnetsKeeping = (
  kept: number,
  external: ReturnType<typeof outside>,
): Resource<'subnet', Static<typeof Subnet>> => ({
  ...neutronSubnets,
  async create(site, spec) {
    const { api, names } = site;
    const isIpv6 = ipaddr.parseCIDR(spec.cidr)[0].kind() === 'ipv6';
    const space = { cidr: spec.cidr, dhcp: spec.dhcp, gateway: spec.gatewayIp ?? null };
    return neutronSubnets.make(site, {
      ...changeable(spec),
      network_id: await names.of(api, 'network', spec.networkId),
      cidr: spec.cidr,
      ip_version: isIpv6 ? 6 : 4,
      ...(isIpv6 && spec.dhcp && { ipv6_address_mode: 'dhcpv6-stateful', ipv6_ra_mode: 'dhcpv6-stateful' }),
      allocation_pools: poolsOf(space, kept),
    });
  },
  async change({ api }, live, spec) {
    const wanted = changeable(spec);
    const isAsWanted =
      live.name === wanted.name &&
      live.gateway_ip === wanted.gateway_ip &&
      live.enable_dhcp === wanted.enable_dhcp &&
      live.dns_nameservers.join() === wanted.dns_nameservers.join() &&
      isSameSet(live.host_routes.map(textOf), wanted.host_routes.map(textOf));
    if (!isAsWanted) await neutronSubnets.put(api, live, wanted);
    else if (!spec.platformRouted || !(await leadOut(api, live, external))) return undefined;
    return { doing: 'configuring' };
  },
  async remove(site, live) {
    await closeOutlet(site.api, live.id);
    await neutronSubnets.remove(site, live);
  },
  observed: () => ({}),
  seen: ({ name, gateway_ip, enable_dhcp, dns_nameservers, host_routes }) => [
    name,
    gateway_ip,
    enable_dhcp,
    dns_nameservers,
    host_routes.map(textOf).toSorted(),
  ],
});

/** Returns the ranges of the lowest `count` addresses after the network's own, without the gateway's. */
export function poolsOf({ cidr, gateway }: AddressSpace, count: number): { start: string; end: string }[] {
  const [network, bits] = ipaddr.parseCIDR(cidr);
  const size = 2n ** BigInt(network.toByteArray().length * 8 - bits);
  const first = numberOf(network.toByteArray()) & ~(size - 1n);
  const gatewayAt = gateway === null ? -1n : numberOf(ipaddr.parse(gateway).toByteArray());
  const kept: bigint[] = [];
  for (let at = first + 1n; kept.length < count && at < first + size - 1n; at++) if (at !== gatewayAt) kept.push(at);
  const ranges: { start: bigint; end: bigint }[] = [];
  for (const at of kept) {
    const last = ranges.at(-1);
    if (last && last.end === at - 1n) last.end = at;
    else ranges.push({ start: at, end: at });
  }
  const text = (at: bigint) => addressOf(at, network.toByteArray().length);
  return ranges.map(({ start, end }) => ({ start: text(start), end: text(end) }));
}

const numberOf = (bytes: readonly number[]): bigint => bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

function addressOf(value: bigint, length: number): string {
  const bytes = Array.from({ length }, (_, index) => Number((value >> BigInt(8 * (length - 1 - index))) & 255n));
  return ipaddr.fromByteArray(bytes).toString();
}
