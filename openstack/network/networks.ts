import { type Static, Type } from 'typebox';
import { Refused } from '../../src/backends/contract/backend.ts';
import type { AddressSpace } from '../../src/backends/contract/needs.ts';
import type { Specs } from '../../src/backends/contract/specs.ts';
import { addressAt, familyOf, isBetween, numberOf } from '../../src/lib/ip-addresses.ts';
import { lastKept, subnetRange } from '../../src/lib/subnet-ranges.ts';
import { isSameSet, type Resource } from '../resource.ts';
import { Common, inNeutron } from './neutron.ts';
import { closeOutlet, leadOut, type outside, stepAside } from './outlets.ts';

const Network = Type.Object({ ...Common, name: Type.String(), status: Type.String() });
const neutronNetworks = inNeutron('network', 'network', Network);

export const networks: Resource<'network', Static<typeof Network>> = {
  ...neutronNetworks,
  /** Some clouds have less room in their packets than we want. */
  create: (site, { name, mtu }) =>
    neutronNetworks.make(site, { name, mtu }).catch((error: unknown) => {
      if (error instanceof Refused && error.message.includes('MTU')) return neutronNetworks.make(site, { name });
      throw error;
    }),
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
    const isIpv6 = familyOf(spec.cidr.split('/')[0] ?? '') === 'IPv6';
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
    if (!isAsWanted) {
      if (spec.platformRouted && live.gateway_ip !== wanted.gateway_ip) await stepAside(api, live.id);
      await neutronSubnets.put(api, live, wanted);
    }
    if (isAsWanted && !(spec.platformRouted && (await leadOut(api, live, external)))) return undefined;
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

/** Returns the ranges of the lowest `count` addresses of a subnet, without the gateway's. */
export function poolsOf({ cidr, gateway }: AddressSpace, count: number): { start: string; end: string }[] {
  const range = subnetRange(cidr);
  if ('message' in range) throw new Refused(range.message);
  const { family, firstHost, lastHost } = range;
  const kept = lastKept(range, gateway, count);
  const last = isBetween(firstHost, addressAt(kept, family), lastHost) ? kept : numberOf(lastHost);
  return rangesWithout(numberOf(firstHost), last, gateway === null ? undefined : numberOf(gateway)).map(
    ([start, end]) => ({
      start: addressAt(start, family),
      end: addressAt(end, family),
    }),
  );
}

/** Returns what is left of a range, with both its ends, without one member. */
function rangesWithout(first: bigint, last: bigint, without: bigint | undefined): [bigint, bigint][] {
  if (first > last) return [];
  if (without === undefined || without < first || without > last) return [[first, last]];
  return [...rangesWithout(first, without - 1n, undefined), ...rangesWithout(without + 1n, last, undefined)];
}
