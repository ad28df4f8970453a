import { make, put, remove, type Wanted } from '../../../../convergence/wants.ts';
import { type Transaction, violates } from '../../../../db/database.ts';
import { ConflictError, type FieldProblem, InvalidError } from '../../../../lib/errors.ts';
import { foundById, newId, newTaskId, refuseHeld } from '../../../../lib/ids.ts';
import { familyOf, numberOf } from '../../../../lib/ip-addresses.ts';
import { patchedTags } from '../../../../lib/tags.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import type { TagHolder } from '../../../ground/metadata/service.ts';
import { quotaOwner, takeQuota } from '../../../ground/quotas/service.ts';
import { waitingDeletion } from '../../../ground/tasks/behind/service.ts';
import * as tasks from '../../../ground/tasks/service.ts';
import { asInRows as floatingIpsAsInRows } from '../../floating-ips/tasks.ts';
import { connect, disconnect, followGateway, lockFloatingIpsIn } from '../../routers/service.ts';
import { lockAlsoHeld, lockOwn, refuseUsed } from '../locks.ts';
import { lockNetwork } from '../network-rows.ts';
import type { CreateSubnet, UpdateSubnet } from '../schema.ts';
import { findSubnet } from '../store.ts';
import { CREATE_SUBNET, DELETE_NETWORK, DELETE_SUBNET, subnetSpec } from '../tasks.ts';
import * as rules from './rules.ts';
import * as rows from './store.ts';

/**
 * Accepts a subnet. Returns the ID of the task that creates it.
 * @throws InvalidError, ConflictError when it overlaps another subnet of the network or its router, or a task holds one
 * of them or will delete the network, QuotaExceededError
 */
export async function createSubnet(on: Platform, scope: Scope, request: CreateSubnet): Promise<string> {
  const { range, gateway, nameservers, routes, tags } = rules.wantedSubnet(request);
  const enable_dhcp = request.enable_dhcp ?? true;
  const kept = on.catalog.keptIn(scope.regionId, { cidr: range.cidr, dhcp: enable_dhcp, gateway });
  const pool = rules.poolOf(range, gateway, kept);
  if (!pool) {
    throw new InvalidError({ cidr: [`The region keeps ${kept} addresses of each subnet. Use a larger range.`] });
  }
  const [id, taskId] = [newId(), newTaskId()];
  const now = on.clock.now();
  await on.database.accept(async (tx) => {
    const network = await lockNetwork(tx, scope, request.network_id);
    if (!network) {
      const message = `No network ${request.network_id} in this project and region.`;
      throw new InvalidError([{ field: 'network_id', message }]);
    }
    refuseHeld(`Network ${network.name}`, network);
    await tasks.refuseDoomed(tx, scope, `Network ${network.name}`, {
      type: 'delete_network',
      id: network.id,
    });
    const other = await rows.overlapping(tx, network.id, range.cidr);
    if (other) {
      throw new ConflictError(
        `${range.cidr} overlaps ${other.cidr} of subnet ${other.name} (${other.id}) in network ${network.name}; choose another range`,
      );
    }
    tx.about({ type: 'subnet', id, name: request.name });
    const subnet = {
      network_id: network.id,
      name: request.name,
      cidr: range.cidr,
      enable_dhcp,
      gateway_ip: gateway,
    };
    await rows.insertSubnet(tx, {
      ...subnet,
      id,
      dns_nameservers: JSON.stringify(nameservers),
      host_routes: JSON.stringify(routes),
      first_address: pool.first,
      last_address: pool.last,
      free_from: pool.first,
      tags: JSON.stringify(tags),
      ready: false,
      creator_task_id: taskId,
      task_id: taskId,
      created_at: now,
      updated_at: now,
    });
    if (rules.keepsGateway(pool, gateway)) await rows.keepForGateway(tx, id, gateway);
    const connected =
      gateway !== null && (request.connect_to_network_router ?? true)
        ? await connect(tx, scope, { id, ...subnet }, request.router_id_to_connect ?? null)
        : [];
    const lists = { dns_nameservers: nameservers, host_routes: routes };
    const spec = subnetSpec({ ...subnet, ...lists, tags, is_default: network.is_default });
    await tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: CREATE_SUBNET,
      data: request,
      input: { subnetId: id, ...quotaOwner(scope) },
      wants: [make('subnet', id, spec), ...connected],
    });
    takeQuota(tx, scope, 'subnet_count');
  });
  return taskId;
}

/**
 * @throws NotFoundError, ForbiddenError, InvalidError, ConflictError while a task holds it or its router, if a port has the
 * gateway's address, and for routes and floating IPs that need the former gateway
 */
export const updateSubnet = (on: Platform, scope: Scope, id: string, change: UpdateSubnet): Promise<void> =>
  on.database.accept(async (tx) => {
    const subnet = await lockOwn(tx, scope, id, SUBNET);
    const family = familyOf(subnet.first_address);
    const { nameservers, problems: nameserverProblems } = rules.nameserversFrom(change.dns_nameservers ?? [], family);
    const { routes, problems: routeProblems } = rules.hostRoutesFrom(change.host_routes ?? [], family);
    const problems = [...nameserverProblems, ...routeProblems];
    const gateway = changedGateway(on, scope, subnet, change, problems);
    if (problems.length > 0) throw new InvalidError(problems);
    const tags = patchedTags(subnet.tags, change.tags);
    const moved = await moveGateway(tx, subnet, gateway);
    const changed = {
      name: change.name ?? subnet.name,
      enable_dhcp: change.enable_dhcp ?? subnet.enable_dhcp,
      gateway_ip: gateway,
    };
    const lists = {
      dns_nameservers: change.dns_nameservers === undefined ? subnet.dns_nameservers : nameservers,
      host_routes: change.host_routes === undefined ? subnet.host_routes : routes,
    };
    await rows.changeSubnet(tx, subnet.id, {
      ...changed,
      dns_nameservers: JSON.stringify(lists.dns_nameservers),
      host_routes: JSON.stringify(lists.host_routes),
      tags: JSON.stringify(tags),
      updated_at: tx.now,
    });
    const spec = subnetSpec({ ...subnet, ...changed, ...lists, tags });
    await tasks.wantChecked(on, tx, scope, [put('subnet', subnet.id, spec), ...moved]);
  });

/**
 * Returns the ID of the task that deletes the subnet.
 * @throws NotFoundError, ForbiddenError, ConflictError while the subnet is in use or a task holds it
 */
export const deleteSubnet = (on: Platform, scope: Scope, id: string): Promise<string> =>
  on.database.accept(async (tx) => {
    const subnet = await lockAlsoHeld(tx, scope, id, SUBNET);
    const again = await tasks.removeAgain(on, tx, scope, subnet.task_id, DELETE_SUBNET, DELETE_NETWORK);
    if (again !== undefined) return again;
    refuseHeld(`Subnet ${subnet.name}`, subnet);
    if (subnet.creator_task_id === null) {
      throw new ConflictError("The subnet of a project's default network can't be deleted");
    }
    await refuseUsed(tx, scope, `Subnet ${subnet.name}`, { subnetId: subnet.id });
    const disconnected = await disconnect(tx, [subnet.id]);
    const taskId = tasks.deletionId(scope);
    await rows.changeSubnet(tx, subnet.id, { ready: false, task_id: taskId });
    await tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: DELETE_SUBNET,
      data: { subnet_id: subnet.id },
      input: { subnetId: subnet.id, ...quotaOwner(scope) },
      wants: [remove('subnet', subnet.id)],
    });
    await tasks.wantChecked(on, tx, scope, disconnected, { removes: true });
    return taskId;
  });

export const subnetTags: TagHolder = {
  read: (on, scope, id) => foundById('Subnet', id, () => findSubnet(on.database.sql, scope, id)),
  async change(on, tx, scope, id, plan) {
    const subnet = await lockOwn(tx, scope, id, SUBNET);
    const tags = plan(subnet.tags);
    await rows.changeSubnet(tx, subnet.id, { tags: JSON.stringify(tags), updated_at: tx.now });
    await tasks.wantChecked(on, tx, scope, [put('subnet', subnet.id, subnetSpec({ ...subnet, tags }))]);
  },
};

function changedGateway(
  on: Platform,
  scope: Scope,
  { cidr, enable_dhcp, gateway_ip, first_address }: rows.OwnSubnet,
  { gateway_ip: given }: UpdateSubnet,
  problems: FieldProblem[],
): string | null {
  const range = rules.subnetRange(cidr);
  if (given === undefined || 'message' in range) return gateway_ip;
  const gateway = rules.gatewayIn(range, given);
  if (gateway !== null && typeof gateway !== 'string') {
    problems.push(gateway);
    return gateway_ip;
  }
  const fits = (at: string | null) => {
    const kept = on.catalog.keptIn(scope.regionId, { cidr, dhcp: enable_dhcp, gateway: at });
    return rules.lastKept(range, at, kept) < numberOf(first_address);
  };
  // Otherwise the backend would come to keep an address that ports get.
  if (fits(gateway_ip) && !fits(gateway)) {
    const message = `The region keeps the addresses before ${first_address} for itself; choose a later one as gateway.`;
    problems.push({ field: 'gateway_ip', message });
  }
  return gateway;
}

/**
 * Returns what is wanted of routers and floating IPs when the gateway moves.
 * @throws ConflictError when a port has the new gateway's address, or something needs the router at the former one
 */
async function moveGateway(tx: Transaction, subnet: rows.OwnSubnet, gateway: string | null): Promise<Wanted[]> {
  if (gateway === subnet.gateway_ip) return [];
  await rows.freeGateway(tx, subnet.id);
  if (rules.keepsGateway({ first: subnet.first_address, last: subnet.last_address }, gateway)) {
    try {
      await rows.keepForGateway(tx, subnet.id, gateway);
    } catch (error) {
      if (!violates(error, 'ip_assignments_once')) throw error;
      throw new ConflictError(`A port already uses the address ${gateway}; choose another gateway`);
    }
  }
  const routers = await followGateway(tx, subnet, gateway);
  // Floating IPs may have got another way out.
  const floatingIps = routers.length > 0 ? await lockFloatingIpsIn(tx, [subnet.id]) : [];
  return [...routers, ...(await floatingIpsAsInRows(tx, floatingIps))];
}

const SUBNET = { name: 'Subnet', type: 'subnet' as const, lock: rows.lockSubnet, find: findSubnet };

export const subnetDeletion = waitingDeletion('delete_subnet', deleteSubnet, ['subnet_id']);
