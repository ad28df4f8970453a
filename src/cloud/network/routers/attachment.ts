import { type Transaction, violates } from '../../../db/database.ts';
import { canonicalAddress, contains } from '../../../lib/cidr.ts';
import { ConflictError, type FieldProblem, InvalidError } from '../../../lib/errors.ts';
import { newId, someOf } from '../../../lib/ids.ts';
import { type IpRoute, ipRoutesFrom } from '../../../lib/next-hops.ts';
import type { Scope } from '../../../platform.ts';
import { usedBy } from '../../ground/tasks/service.ts';
import * as addresses from '../addresses/in-transaction.ts';
import * as store from './store.ts';

/** The default of Neutron's max_routes. */
const MAX_ROUTES = 30;

/** A range that a router reaches directly, and its own address there. */
export interface Reach {
  cidr: string;
  address: string;
}

export const routesFrom = (given: readonly IpRoute[]) => ipRoutesFrom(given, { field: 'routes', most: MAX_ROUTES });

/** As in Neutron: the next hop must be in a range of the router, and must not be the router itself. */
export function unreachable(routes: readonly IpRoute[], reach: readonly Reach[]): FieldProblem[] {
  return routes.flatMap(({ nexthop }, index): FieldProblem[] => {
    const field = `routes.${index}.nexthop`;
    if (reach.some(({ address }) => address === nexthop)) {
      return [{ field, message: `${nexthop} is an address of the router itself.` }];
    }
    return reach.some(({ cidr }) => contains(cidr, nexthop))
      ? []
      : [{ field, message: `${nexthop} is in no subnet of the router, nor in its external network.` }];
  });
}

/** Whether two ranges have addresses in common. One of them then contains the other. */
export function overlap(one: string, other: string): boolean {
  const base = (cidr: string) => cidr.slice(0, cidr.indexOf('/'));
  return contains(one, base(other)) || contains(other, base(one));
}

type Subnet = Omit<store.SubnetRow, 'task_id'>;

/**
 * Gives the router a port in the subnet, and returns the router with it. Both must be locked. `field` names the subnet
 * in the request. If `address` is left out, the router gets the gateway's address, or a free one if another router has that.
 * @throws InvalidError, ConflictError when it has a port there already, a range overlaps or the address is taken
 */
export async function attach(
  tx: Transaction,
  scope: Scope,
  router: store.RouterRow,
  { subnet, address: asked, field }: { subnet: Subnet; address?: string; field: string },
): Promise<store.RouterRow> {
  if (router.interfaces.some((one) => one.subnet_id === subnet.id)) {
    throw new ConflictError(`Router ${router.name} is already attached to subnet ${subnet.name}`);
  }
  await refuseOverlap(tx, router, subnet);
  if (asked === undefined && subnet.gateway_ip === null) {
    const message = `Subnet ${subnet.id} has no gateway address, which the router would get; send ip_address.`;
    throw new InvalidError([{ field, message }]);
  }
  const address = await addressFor(tx, scope, router, subnet, asked);
  const row = { port_id: newId(), router_id: router.id, subnet_id: subnet.id, address, created_at: tx.now };
  await store.insertInterface(tx, row).catch((error: unknown) => {
    if (!violates(error, 'router_interfaces_address')) throw error;
    throw new ConflictError(
      `Another router has the address ${address} in subnet ${subnet.name}; detach it there, or attach this one with another ip_address`,
    );
  });
  if (router.gateway_network_id === null) {
    await refuseStranded(tx, router, [subnet.id], { detached: false });
  }
  return store.readRouter(tx, router.id);
}

async function addressFor(
  tx: Transaction,
  scope: Scope,
  router: store.RouterRow,
  subnet: Subnet,
  asked: string | undefined,
): Promise<string> {
  const address = asked === undefined ? subnet.gateway_ip : (canonicalAddress(asked)?.address ?? asked);
  // The gateway's address is kept for a router already.
  const isGateway = address !== null && address === subnet.gateway_ip;
  if (isGateway && (asked !== undefined || !(await store.hasRouterAt(tx, subnet.id, address)))) return address;
  const named = asked === undefined || address === null ? {} : { address };
  const from = { kind: 'subnet' as const, subnetId: subnet.id, ...named };
  const [taken] = await addresses.take(tx, scope, [{ holder: { router: router.id }, field: '', from }]);
  if (!taken) throw new TypeError('one wish has one answer');
  return taken.address;
}

/** As in Neutron: a router can't tell which of two overlapping ranges an address belongs to. */
async function refuseOverlap(tx: Transaction, router: store.RouterRow, subnet: Subnet): Promise<void> {
  const outside = router.gateway_network_id === null ? [] : await store.rangesOf(tx, router.gateway_network_id);
  const taken = [...router.interfaces.map(({ cidr }) => cidr), ...outside];
  const other = taken.find((cidr) => overlap(cidr, subnet.cidr));
  if (other === undefined) return;
  throw new ConflictError(
    `Subnet ${subnet.name} (${subnet.cidr}) overlaps ${other}, which router ${router.name} is attached to`,
  );
}

/**
 * Takes the router out of the subnets, and returns it as it is then. Subnets and router must be locked.
 * @throws ConflictError naming routes or floating IPs that need it there
 */
export async function detach(tx: Transaction, router: store.RouterRow, subnetIds: readonly string[]) {
  const left = router.interfaces.filter((one) => !subnetIds.includes(one.subnet_id));
  const lost = router.interfaces.filter((one) => subnetIds.includes(one.subnet_id));
  const through = router.routes.filter(
    ({ nexthop }) =>
      lost.some(({ cidr }) => contains(cidr, nexthop)) && !left.some(({ cidr }) => contains(cidr, nexthop)),
  );
  if (through.length > 0) {
    const named = through.map(({ destination, nexthop }) => `${destination} by ${nexthop}`).join(', ');
    throw new ConflictError(`Router ${router.name} has routes through the subnet; remove them first: ${named}`);
  }
  if (router.gateway_network_id !== null) {
    await refuseStranded(tx, router, subnetIds, { detached: true });
  }
  await store.deleteInterfaces(tx, router.id, subnetIds);
  await addresses.releaseOfRouter(tx, router.id, subnetIds);
  return store.readRouter(tx, router.id);
}

/**
 * @throws ConflictError naming the floating IPs in the subnets that would have no way out if the router led nowhere, or, with
 * `detached`, left the subnets; a deletion may wait if all of them leave
 */
export async function refuseStranded(
  tx: Transaction,
  router: Pick<store.RouterRow, 'id' | 'name'>,
  subnetIds: readonly string[],
  how: { detached: boolean },
): Promise<void> {
  const stranded = await store.strandedWithout(tx, router.id, subnetIds, how);
  if (stranded.length === 0) return;
  const shown = someOf(stranded.map(({ address }) => address));
  throw await usedBy(
    tx,
    `Floating IPs need router ${router.name} to lead out of their subnet; unassign them first: ${shown}`,
    stranded.map(({ id, instance_id }) => [
      { kind: 'floating_ip', id },
      ...(instance_id === null ? [] : [{ kind: 'machine' as const, id: instance_id }]),
    ]),
    stranded.map(({ task_id }) => task_id),
  );
}

/** @throws InvalidError for routes whose next hop the router can't reach */
export function refuseUnreachable(router: store.RouterRow): void {
  const problems = unreachable(router.routes, reachOf(router));
  if (problems.length > 0) throw new InvalidError(problems);
}

function reachOf({ interfaces, outside }: store.RouterRow): Reach[] {
  return [...interfaces, ...outside];
}
