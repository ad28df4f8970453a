import { type Static, Type } from 'typebox';
import type { Specs } from '../../src/backends/contract/specs.ts';
import type { Api } from '../cloud/client.ts';
import { isInTheWay, unlessGone } from '../cloud/errors.ts';
import { hasAddresses, isSameSet, type Resource, type Site } from '../resource.ts';
import { Common, inNeutron } from './neutron.ts';
import { stepAside, takeOver } from './outlets.ts';

const Route = Type.Object({ destination: Type.String(), nexthop: Type.String() });
const Gateway = Type.Object({
  network_id: Type.String(),
  enable_snat: Type.Optional(Type.Boolean()),
  external_fixed_ips: Type.Array(Type.Object({ ip_address: Type.String() })),
});
const Router = Type.Object({
  ...Common,
  name: Type.String(),
  routes: Type.Array(Route),
  external_gateway_info: Type.Union([Gateway, Type.Null()]),
});
type Router = Static<typeof Router>;
const neutron = inNeutron('router', 'router', Router);

const Interface = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  device_id: Type.String(),
  fixed_ips: Type.Array(Type.Object({ ip_address: Type.String(), subnet_id: Type.String() })),
});
type Interface = Static<typeof Interface>;
const One = Type.Object({ port: Interface });

/** The ports of a router have no wants of their own, so they have marks that no list takes for those of ports. */
const markOfInterface = (portId: string): string => `tradewind-router-interface-${portId}`;
/** They have the name of their router, by which they are found also before it has them. */
const nameOfInterfaces = (routerId: string): string => `tradewind-router-${routerId}`;

export const routers: Resource<'router', Router> = {
  ...neutron,
  async create(site, { name, gateway }) {
    return neutron.make(site, { name, external_gateway_info: await gatewayOf(site, gateway) });
  },
  /** Adds interfaces before routes lead through them, and removes them when no route does any more. */
  async change(site, live, spec) {
    const { api } = site;
    const made = await interfacesOf(site);
    const missing = Object.entries(spec.interfaces).filter(([id, one]) => !isAttached(made, live, id, one));
    for (const [id, one] of missing) await attach(site, live, { id, spec: one, made });
    const changes = await changesOf(site, live, spec);
    if (changes) await neutron.put(api, live, changes);
    const wanted = new Set(Object.keys(spec.interfaces).map(markOfInterface));
    const surplus = made.filter(({ description }) => !wanted.has(description));
    for (const one of surplus) await detach(api, live, one);
    return missing.length + surplus.length > 0 || changes ? { doing: 'configuring' } : undefined;
  },
  async remove(site, live) {
    const made = await interfacesOf(site);
    if (live.routes.length > 0) await neutron.put(site.api, live, { routes: [] });
    for (const one of made) await detach(site.api, live, one);
    await neutron.remove(site, live);
  },
  observed: () => ({}),
  seen: ({ name, routes, external_gateway_info: gateway }) => [
    name,
    routes.map(textOf).toSorted(),
    gateway && [gateway.network_id, gateway.enable_snat ?? true, addressesOf(gateway).toSorted()],
  ],
};

type InterfaceSpec = Specs['router']['interfaces'][string];
const textOf = ({ destination, nexthop }: Static<typeof Route>): string => `${destination} ${nexthop}`;
const addressesOf = (gateway: Static<typeof Gateway>): string[] =>
  gateway.external_fixed_ips.map(({ ip_address }) => ip_address);

async function gatewayOf({ api, names }: Site<'router'>, gateway: Specs['router']['gateway']) {
  if (!gateway) return null;
  return {
    network_id: await names.of(api, 'network', gateway.networkId),
    enable_snat: gateway.sourceNat,
    external_fixed_ips: Object.keys(gateway.addresses).map((ip_address) => ({ ip_address })),
  };
}

async function changesOf(site: Site<'router'>, live: Router, spec: Specs['router']): Promise<object | undefined> {
  const { external_gateway_info: now } = live;
  const gateway = await gatewayOf(site, spec.gateway);
  const isLedOut =
    now === null || gateway === null
      ? now === gateway
      : now.network_id === gateway.network_id &&
        (now.enable_snat ?? true) === gateway.enable_snat &&
        hasAddresses(addressesOf(now), addressesOf(gateway));
  const changes = {
    ...(live.name !== spec.name && { name: spec.name }),
    ...(!isSameSet(live.routes.map(textOf), spec.routes.map(textOf)) && { routes: spec.routes }),
    ...(!isLedOut && { external_gateway_info: gateway ?? {} }),
  };
  return Object.keys(changes).length > 0 ? changes : undefined;
}

async function interfacesOf({ api, ref }: Pick<Site<'router'>, 'api' | 'ref'>): Promise<Interface[]> {
  const name = nameOfInterfaces(ref.id);
  return (await api.list('network', '/ports', Interface, { name })).filter((one) => one.name === name);
}

const interfaceIn = (made: readonly Interface[], id: string): Interface | undefined =>
  made.find(({ description }) => description === markOfInterface(id));

function isAttached(made: readonly Interface[], { id }: Router, portId: string, { address }: InterfaceSpec): boolean {
  const found = interfaceIn(made, portId);
  return found?.device_id === id && found.fixed_ips.some(({ ip_address }) => ip_address === address);
}

interface Attaching {
  id: string;
  spec: InterfaceSpec;
  made: readonly Interface[];
}

async function attach(site: Site<'router'>, router: Router, { id, spec, made }: Attaching): Promise<void> {
  const { api, names } = site;
  const found = interfaceIn(made, id);
  if (found?.device_id === router.id) {
    const fixed_ips = [{ subnet_id: await names.of(api, 'subnet', spec.subnetId), ip_address: spec.address }];
    await api.send('network', 'PUT', `/ports/${found.id}`, { port: { fixed_ips } });
    return;
  }
  const port = found ?? (await newInterface(site, id, spec));
  await api.send('network', 'PUT', `/routers/${router.id}/add_router_interface`, { port_id: port.id });
}

async function newInterface({ api, names, ref }: Site<'router'>, id: string, spec: InterfaceSpec): Promise<Interface> {
  const network_id = await names.of(api, 'network', spec.networkId);
  const subnet_id = await names.of(api, 'subnet', spec.subnetId);
  const fixed_ips = [{ subnet_id, ip_address: spec.address }];
  const marks = { name: nameOfInterfaces(ref.id), description: markOfInterface(id) };
  const port = { network_id, mac_address: spec.macAddress, fixed_ips, ...marks };
  const make = async () => (await api.send('network', 'POST', '/ports', { port }, One)).port;
  return make().catch(async (error: unknown) => {
    if (!isInTheWay(error)) throw error;
    await stepAside(api, subnet_id);
    return make();
  });
}

/** The port goes with its place at the router. One that no router has got yet goes by itself. */
async function detach(api: Api, { id }: Router, { id: port_id, device_id, fixed_ips }: Interface): Promise<void> {
  const leave = async () => {
    if (device_id === id) await api.send('network', 'PUT', `/routers/${id}/remove_router_interface`, { port_id });
    else await api.send('network', 'DELETE', `/ports/${port_id}`, undefined);
  };
  const [address] = fixed_ips;
  await (address ? takeOver(api, id, address.subnet_id, leave) : leave()).catch(unlessGone);
}
