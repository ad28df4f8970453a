import { type Static, Type } from 'typebox';
import { Refused } from '../../src/backends/contract/backend.ts';
import type { Api } from '../cloud/client.ts';
import { unlessGone } from '../cloud/errors.ts';
import type { Live } from '../resource.ts';

/*
 * How subnets that the platform routes by itself, those of default networks, reach the outside: by a router of ours each, until a
 * router of the client's takes the gateway's address.
 */

const Named = Type.Object({ id: Type.String(), name: Type.String() });
const Router = Type.Object({ id: Type.String(), description: Type.String() });
const Id = Type.Object({ id: Type.String() });
const Nullable = Type.Union([Type.String(), Type.Null()]);
const FloatingIp = Type.Object({ id: Type.String(), router_id: Nullable, port_id: Nullable });
const Port = Type.Object({ id: Type.String(), device_owner: Type.String() });
const Made = Type.Object({ router: Router });

/** A subnet: its ID in the cloud, and the address of its gateway. */
export interface Routed extends Live {
  network_id: string;
  gateway_ip: string | null;
}

const markOfOutlet = (subnetId: string): string => `tradewind-outlet-${subnetId}`;

/** Finds the network outside: the one with the name or ID, or the only one. */
export function outside(named: string | undefined): (api: Api) => Promise<string> {
  let found: string | undefined;
  return async (api) => {
    if (found !== undefined) return found;
    const all = await api.list('network', '/networks', Named, { 'router:external': 'true' });
    const fitting = all.filter(({ id, name }) => named === undefined || [id, name].includes(named));
    const [one] = fitting;
    if (!one || fitting.length > 1)
      throw new Refused('The cloud has no external network, or several: name one as external_network in backends.yaml');
    found = one.id;
    return found;
  };
}

/** Leads out of the subnet, unless a router does already. Returns whether there was something to do. */
export async function leadOut(api: Api, subnet: Routed, external: (api: Api) => Promise<string>): Promise<boolean> {
  if (subnet.gateway_ip === null) return false;
  const fixed_ips = `ip_address=${subnet.gateway_ip}`;
  const atGateway = await api.list('network', '/ports', Port, { network_id: subnet.network_id, fixed_ips });
  if (atGateway.some(({ device_owner }) => device_owner.startsWith('network:'))) return false;
  const router = (await outletsOf(api, subnet.id))[0] ?? (await makeOutlet(api, subnet.id, await external(api)));
  await api.send('network', 'PUT', `/routers/${router.id}/add_router_interface`, { subnet_id: subnet.id });
  return true;
}

/** Removes what `leadOut` made. */
export async function closeOutlet(api: Api, subnetId: string): Promise<void> {
  for (const { id } of await stepAside(api, subnetId)) await api.send('network', 'DELETE', `/routers/${id}`, undefined);
}

/** Leaves the subnet to another router. Floating addresses that led through the outlet lead nowhere until they are assigned again. */
export async function stepAside(api: Api, subnetId: string): Promise<Live[]> {
  const outlets = await outletsOf(api, subnetId);
  for (const { id } of outlets) {
    await unassign(api, id, subnetId);
    await api
      .send('network', 'PUT', `/routers/${id}/remove_router_interface`, { subnet_id: subnetId })
      .catch(unlessGone);
  }
  return outlets;
}

/** Lets another router go from a subnet, if the platform can lead out of it again: `leave` takes it away. */
export async function takeOver(
  api: Api,
  routerId: string,
  subnetId: string,
  leave: () => Promise<void>,
): Promise<void> {
  const [outlet] = await outletsOf(api, subnetId);
  if (outlet) await unassign(api, routerId, subnetId);
  await leave();
  if (outlet) await api.send('network', 'PUT', `/routers/${outlet.id}/add_router_interface`, { subnet_id: subnetId });
}

/** A router that floating addresses lead through can't go. They are found changed soon, and assigned again. */
async function unassign(api: Api, routerId: string, subnetId: string): Promise<void> {
  const inSubnet = await api.list('network', '/ports', Id, { fixed_ips: `subnet_id=${subnetId}`, fields: 'id' });
  const ports = new Set(inSubnet.map(({ id }) => id));
  const assigned = await api.list('network', '/floatingips', FloatingIp, { router_id: routerId });
  for (const { id } of assigned.filter((one) => one.router_id === routerId && ports.has(one.port_id ?? '')))
    await api.send('network', 'PUT', `/floatingips/${id}`, { floatingip: { port_id: null } });
}

async function outletsOf(api: Api, subnetId: string): Promise<Static<typeof Router>[]> {
  const mark = markOfOutlet(subnetId);
  const found = await api.list('network', '/routers', Router, { description: mark });
  return found.filter(({ description }) => description === mark);
}

async function makeOutlet(api: Api, subnetId: string, network_id: string) {
  const description = markOfOutlet(subnetId);
  const router = { name: `outlet of ${subnetId}`, description, external_gateway_info: { network_id } };
  return (await api.send('network', 'POST', '/routers', { router }, Made)).router;
}
