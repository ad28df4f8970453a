import { type Static, Type } from 'typebox';
import type { Specs } from '../../src/backends/contract/specs.ts';
import type { Api } from '../cloud/client.ts';
import { isGone, isInTheWay } from '../cloud/errors.ts';
import { isSameSet, type Resource, type Site } from '../resource.ts';
import { Common, inNeutron } from './neutron.ts';
import { closeOutlet } from './outlets.ts';

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

const Interface = Type.Object({ id: Type.String(), description: Type.String(), device_id: Type.String() });
type Interface = Static<typeof Interface>;
const One = Type.Object({ port: Interface });

/** The ports of a router have no wants of their own, so they have marks that no list takes for those of ports. */
const markOfInterface = (portId: string): string => `tradewind-router-interface-${portId}`;

export const routers: Resource<'router', Router> = {
  ...neutron,
  async create(site, { name, gateway }) {
    return neutron.make(site, { name, external_gateway_info: await gatewayOf(site, gateway) });
  },
  /** Adds interfaces before routes lead through them, and removes them when no route does any more. */
  async change(site, live, spec) {
    const { api } = site;
    const attached = await interfacesOf(api, live);
    const there = new Set(attached.map(({ description }) => description));
    const missing = Object.keys(spec.interfaces).filter((id) => !there.has(markOfInterface(id)));
    for (const id of missing) await attach(site, live, id, spec.interfaces[id] as InterfaceSpec);
    const changes = await changesOf(site, live, spec);
    if (changes) await neutron.put(api, live, changes);
    const wanted = new Set(Object.keys(spec.interfaces).map(markOfInterface));
    const surplus = attached.filter(({ description }) => !wanted.has(description));
    for (const one of surplus) await detach(api, live, one);
    return missing.length + surplus.length > 0 || changes ? { doing: 'configuring' } : undefined;
  },
  async remove(site, live) {
    const attached = await interfacesOf(site.api, live);
    if (live.routes.length > 0) await neutron.put(site.api, live, { routes: [] });
    for (const one of attached) await detach(site.api, live, one);
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
        isSameSet(addressesOf(now), addressesOf(gateway));
  const changes = {
    ...(live.name !== spec.name && { name: spec.name }),
    ...(!isSameSet(live.routes.map(textOf), spec.routes.map(textOf)) && { routes: spec.routes }),
    ...(!isLedOut && { external_gateway_info: gateway ?? {} }),
  };
  return Object.keys(changes).length > 0 ? changes : undefined;
}

async function interfacesOf(api: Api, { id: device_id }: Router): Promise<Interface[]> {
  const all = await api.list('network', '/ports', Interface, { device_id });
  return all.filter(({ description }) => description.startsWith(markOfInterface('')));
}

async function attach({ api, names }: Site<'router'>, router: Router, id: string, spec: InterfaceSpec): Promise<void> {
  const description = markOfInterface(id);
  // The answer to an earlier try may have been lost before the router got the port.
  const [found] = await api.list('network', '/ports', Interface, { description });
  if (found?.device_id === router.id) return;
  const port = found ?? (await newInterface(api, names, description, spec));
  await api.send('network', 'PUT', `/routers/${router.id}/add_router_interface`, { port_id: port.id });
}

async function newInterface(api: Api, names: Site['names'], description: string, spec: InterfaceSpec) {
  const network_id = await names.of(api, 'network', spec.networkId);
  const subnet_id = await names.of(api, 'subnet', spec.subnetId);
  const fixed_ips = [{ subnet_id, ip_address: spec.address }];
  const port = { network_id, mac_address: spec.macAddress, fixed_ips, description };
  const make = async () => (await api.send('network', 'POST', '/ports', { port }, One)).port;
  return make().catch(async (error: unknown) => {
    if (!isInTheWay(error)) throw error;
    await closeOutlet(api, subnet_id);
    return make();
  });
}

/** The port goes with its place at the router. */
async function detach(api: Api, { id }: Router, { id: port_id }: Interface): Promise<void> {
  try {
    await api.send('network', 'PUT', `/routers/${id}/remove_router_interface`, { port_id });
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}
