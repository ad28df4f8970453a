import type { Transaction } from '../../../db/database.ts';
import { type FieldProblem, InvalidError } from '../../../lib/errors.ts';
import { newId, refuseHeld } from '../../../lib/ids.ts';
import type { Scope } from '../../../platform.ts';
import { leadsOutside } from '../../ground/catalog/service.ts';
import * as addresses from '../../network/addresses/in-transaction.ts';
import { familiesOf } from '../../network/addresses/schema.ts';
import * as floatingIps from '../../network/floating-ips/service.ts';
import * as ports from '../../network/ports/of-load-balancers/in-transaction.ts';
import { lockReserved } from '../../network/ports/reserved/in-transaction.ts';
import type { CreateLoadBalancer } from './creation-schema.ts';

/** What a request says of the virtual address. */
export type VipWish = Pick<
  CreateLoadBalancer,
  'floating_ip' | 'vip_ip_family' | 'vip_network_id' | 'vip_port_id' | 'vip_subnet_id'
>;

/** The virtual address of a new load balancer, and what leads to it from outside. */
export interface Vip {
  portId: string;
  /** Whether the port is made, and goes with the load balancer. */
  made: boolean;
  networkId: string;
  external: boolean;
  addresses: addresses.HeldAddress[];
  floatingIp: floatingIps.PlannedFloatingIp | undefined;
  /** The address of a new floating IP. */
  floatingAddress: string | undefined;
}

export const ALREADY_PUBLIC: FieldProblem = {
  field: 'floating_ip',
  message: 'The virtual address is in the external network and is already a public address.',
};

/** Whether the request asks for a new address of the external network. */
export function isOutside(wish: VipWish, region: Parameters<typeof leadsOutside>[0]): boolean {
  if (wish.vip_port_id !== undefined) return false;
  const network = wish.vip_network_id?.toLowerCase();
  return network === undefined || leadsOutside(region, network);
}

/** Returns the problems of a request that need no look-up. */
export function vipProblems(wish: Omit<VipWish, 'floating_ip'>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (wish.vip_port_id !== undefined && wish.vip_network_id !== undefined) {
    const message = 'Send either vip_network_id or vip_port_id, not both.';
    problems.push({ field: 'vip_port_id', message });
  }
  const inSubnet = wish.vip_network_id !== undefined && wish.vip_subnet_id !== undefined;
  if (inSubnet && wish.vip_ip_family === 'dual') {
    const message = 'A subnet has addresses of a single family; leave vip_subnet_id out to get one of each family.';
    problems.push({ field: 'vip_ip_family', message });
  }
  return problems;
}

/**
 * Takes the address. Locks ports, floating IPs and subnets in this order, as instances do.
 * @throws InvalidError, ConflictError when no address is left, or the port or the floating IP is in use
 */
export async function takeVip(tx: Transaction, scope: Scope, wish: VipWish): Promise<Vip> {
  const reserved = await reservedVip(tx, scope, wish);
  const [floatingIp] = await floatingIps.plan(tx, scope, [floatingWish(wish)]);
  const portId = reserved?.id ?? newId();
  const own = reserved ? [] : sourcesOf(wish).map((from) => ({ holder: { port: portId }, field: 'vip', from }));
  const outside = floatingIp?.made
    ? [
        {
          holder: { floatingIp: floatingIp.id },
          field: 'floating_ip',
          from: { kind: 'external' as const, family: 'IPv4' as const },
        },
      ]
    : [];
  const taken = await addresses.take(tx, scope, [...own, ...outside]).catch(inVipFields);
  const ofPort = taken.filter(({ holder }) => 'port' in holder);
  const place = reserved ?? ofPort[0];
  if (!place) throw new TypeError('a virtual address is reserved or taken');
  const vip = {
    portId,
    made: reserved === undefined,
    networkId: place.networkId,
    external: place.external,
    addresses: reserved?.addresses ?? ofPort,
    floatingIp,
    floatingAddress: taken.find(({ holder }) => 'floatingIp' in holder)?.address,
  };
  if (floatingIp && vip.external) {
    throw new InvalidError([ALREADY_PUBLIC]);
  }
  return vip;
}

/** Writes the port and assigns the floating IP, which the task holds. */
export async function writeVip(tx: Transaction, scope: Scope, loadBalancerId: string, vip: Vip, taskId: string) {
  const { portId: id, networkId, external, floatingIp } = vip;
  if (vip.made) await ports.insertVip(tx, scope, { id, networkId, loadBalancerId });
  else await ports.attachVip(tx, id, loadBalancerId);
  if (!floatingIp) return;
  const port = { id, address: ports.floatingAddress(vip.addresses), external };
  await floatingIps.put(tx, scope, [{ floatingIp, address: vip.floatingAddress, port }], taskId);
}

/** Locks the port of a load balancer that is deleted, and holds its floating IPs if it goes as well. @throws ConflictError */
export async function holdVip(tx: Transaction, loadBalancerId: string, taskId: string) {
  const vip = await ports.lockVip(tx, loadBalancerId);
  if (!vip) throw new TypeError('every load balancer has a port');
  // Its task would write to a port that is gone.
  refuseHeld(`Port ${vip.id}`, vip);
  if (!vip.reserved) {
    await floatingIps.hold(tx, [vip.id], { floatings: [], deleteFloatings: false }, taskId);
  }
  return vip;
}

async function reservedVip(tx: Transaction, scope: Scope, { vip_port_id, vip_ip_family }: VipWish) {
  const portId = vip_port_id?.toLowerCase();
  if (portId === undefined) return undefined;
  const wish = { portId, ipFamily: vip_ip_family, field: 'vip' };
  return (await lockReserved(tx, scope, [wish]).catch(inVipFields)).get(portId);
}

function sourcesOf({ vip_network_id, vip_subnet_id, vip_ip_family }: VipWish): addresses.AddressSource[] {
  const families = familiesOf(vip_ip_family);
  if (vip_network_id === undefined) return families.map((family) => ({ kind: 'external', family }));
  const networkId = vip_network_id;
  if (vip_subnet_id === undefined) return families.map((family) => ({ kind: 'any-subnet', networkId, family }));
  const [family] = vip_ip_family === undefined ? [undefined] : families;
  return [{ kind: 'subnet', networkId, subnetId: vip_subnet_id, family }];
}

function floatingWish({ floating_ip: wish, vip_port_id: port }: VipWish): floatingIps.FloatingIpWish | undefined {
  if (!wish) return undefined;
  const field = 'floating_ip';
  return wish.source === 'new'
    ? { source: 'new', field }
    : { ...wish, ...(port && { portId: port.toLowerCase() }), field };
}

/** Problems of addresses name the fields of ports and interfaces. Here, they are named otherwise. */
function inVipFields(error: unknown): never {
  if (!(error instanceof InvalidError)) throw error;
  const entries = Object.entries(error.fields).map(([field, texts]) => [
    field === 'vip.type' ? 'vip_network_id' : field.replace(/^vip\./, 'vip_'),
    texts.map((text) => text.replace(/\bip_family\b/g, 'vip_ip_family')),
  ]);
  throw new InvalidError(Object.fromEntries(entries));
}
