import { type Static, Type } from 'typebox';
import type { Specs } from '../../src/backends/contract/specs.ts';
import type { Api } from '../cloud/client.ts';
import { hasAddresses, isSameSet, type Resource, type Site } from '../resource.ts';
import { Common, inNeutron } from './neutron.ts';

const Pair = Type.Object({ ip_address: Type.String(), mac_address: Type.Optional(Type.String()) });
const Port = Type.Object({
  ...Common,
  mac_address: Type.String(),
  port_security_enabled: Type.Optional(Type.Boolean()),
  security_groups: Type.Array(Type.String()),
  device_owner: Type.Optional(Type.String()),
  fixed_ips: Type.Array(Type.Object({ ip_address: Type.String(), subnet_id: Type.String() })),
  allowed_address_pairs: Type.Array(Pair),
});
type Port = Static<typeof Port>;
const neutron = inNeutron('port', 'port', Port);

export const ports: Resource<'port', Port> = {
  ...neutron,
  async create(site, spec) {
    const { api, names } = site;
    return neutron.make(site, {
      network_id: await names.of(api, 'network', spec.networkId),
      mac_address: spec.macAddress,
      fixed_ips: await fixedIpsOf(site, spec),
      ...(await filtering(site, spec)),
    });
  },
  /** An address that was given up is with its former port until that is removed, which waits for its machine. Orphans hold theirs for good. */
  async isPassing({ api, names }, { networkId, addresses }) {
    const network_id = await names.of(api, 'network', networkId);
    const inTheWay = await Promise.all(
      Object.keys(addresses).map((address) =>
        api.list('network', '/ports', Port, { network_id, fixed_ips: `ip_address=${address}` }),
      ),
    );
    return inTheWay.flat().some((port) => neutron.idOf(port) !== undefined);
  },
  async change(site, live, spec) {
    const wanted = await filtering(site, spec);
    const mayBalance = spec.portSecurity && !live.device_owner;
    if (mayBalance) wanted.security_groups.push(...(await groupsOfOthers(site.api, live, wanted.security_groups)));
    const pairs = wanted.allowed_address_pairs.map((pair) => pairText(pair, spec.macAddress));
    const isFiltered =
      (live.port_security_enabled ?? true) === wanted.port_security_enabled &&
      isSameSet(live.security_groups, wanted.security_groups) &&
      isSameSet(
        live.allowed_address_pairs.map((pair) => pairText(pair, live.mac_address)),
        pairs,
      );
    const isAddressed = hasAddresses(addressesOf(live), Object.keys(spec.addresses));
    if (isFiltered && isAddressed) return undefined;
    const addresses = isAddressed ? {} : { fixed_ips: await fixedIpsOf(site, spec) };
    await neutron.put(site.api, live, { ...wanted, ...addresses });
    return { doing: 'configuring' };
  },
  observed: () => ({}),
  seen: (live) => [
    live.port_security_enabled ?? true,
    live.security_groups.toSorted(),
    addressesOf(live).toSorted(),
    live.allowed_address_pairs.map((pair) => pairText(pair, live.mac_address)).toSorted(),
  ],
};

const addressesOf = ({ fixed_ips }: Port): string[] => fixed_ips.map(({ ip_address }) => ip_address);

/** Neutron fills the hardware address of the port in. */
const pairText = ({ ip_address, mac_address }: Static<typeof Pair>, own: string): string =>
  `${ip_address} ${mac_address ?? own}`;

async function filtering({ api, names }: Site<'port'>, { portSecurity, groups, addressPairs }: Specs['port']) {
  const ids = portSecurity ? Object.keys(groups) : [];
  return {
    port_security_enabled: portSecurity,
    security_groups: await Promise.all(ids.map((id) => names.of(api, 'security_group', id))),
    allowed_address_pairs: (portSecurity ? addressPairs : []).map(({ ipAddress, macAddress }) => ({
      ip_address: ipAddress,
      ...(macAddress !== undefined && { mac_address: macAddress }),
    })),
  };
}

/** Returns the groups that other projects put on a port, as Octavia does. */
async function groupsOfOthers(api: Api, { security_groups }: Port, wanted: readonly string[]): Promise<string[]> {
  const others = security_groups.filter((group) => !wanted.includes(group));
  const own = await api.projectId();
  const projects = await Promise.all(others.map((id) => api.find('network', `/security-groups/${id}`, Group)));
  return others.filter((_, index) => projects[index]?.security_group.project_id !== own);
}

const Group = Type.Object({ security_group: Type.Object({ project_id: Type.String() }) });

/** The subnets of an external network are the cloud's own, and it finds them by the address. */
async function fixedIpsOf({ api, names }: Site<'port'>, { addresses }: Specs['port']) {
  return Promise.all(
    Object.entries(addresses).map(async ([ip_address, { subnetId }]) => {
      const subnet_id = await names.ifOurs(api, 'subnet', subnetId);
      return { ip_address, ...(subnet_id !== undefined && { subnet_id }) };
    }),
  );
}
