import { remove } from '../../../convergence/wants.ts';
import * as errors from '../../../lib/errors.ts';
import { foundById, refuseHeld } from '../../../lib/ids.ts';
import type { Page } from '../../../lib/page.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { quotaOwner } from '../../ground/quotas/service.ts';
import { waitingDeletion } from '../../ground/tasks/behind/service.ts';
import { beginTask, deletionId, removeAgain } from '../../ground/tasks/service.ts';
import * as floatingIps from '../../network/floating-ips/service.ts';
import { awayFrom } from '../../network/floating-ips/tasks.ts';
import { usableFlavor } from './flavors/flavors.ts';
import { lockAlsoHeld } from './locks.ts';
import { presentedBalancer } from './presenter.ts';
import type * as schema from './schema.ts';
import * as store from './store.ts';
import { DELETE } from './tasks.ts';
import type { OperatingStatus, Statuses } from './tree/operating-status.ts';
import { forestsOf } from './tree/parts.ts';
import { holdTree, writeRow } from './tree/store.ts';
import { ALREADY_PUBLIC, holdVip, isOutside, type VipWish, vipProblems } from './vip.ts';

export async function listLoadBalancers(
  on: Platform,
  scope: Scope,
  query: schema.LoadBalancerListQuery,
): Promise<Page<schema.LoadBalancerAnswer>> {
  const byStatus = query.operating_status !== undefined || query.order_by?.startsWith('operating_status') === true;
  const { count, rows } = await store.listBalancers(on.database.sql, scope, query, { paged: !byStatus });
  const statuses = await statusesOf(
    on,
    rows.map(({ id }) => id),
  );
  if (!byStatus) return { count, rows: await presented(on, scope, rows, query, statuses) };
  const matching = rows.filter(
    ({ id }) => query.operating_status === undefined || statuses.get(id) === query.operating_status,
  );
  const sign = query.order_by === 'operating_status.desc' ? -1 : 1;
  if (query.order_by?.startsWith('operating_status')) {
    matching.sort((a, b) => sign * String(statuses.get(a.id)).localeCompare(String(statuses.get(b.id))));
  }
  const { offset = 0, limit = 1000 } = query;
  const page = matching.slice(offset, offset + limit);
  return { count: matching.length, rows: await presented(on, scope, page, query, statuses) };
}

/** @throws NotFoundError */
export async function getLoadBalancer(
  on: Platform,
  scope: Scope,
  id: string,
  show: { stats: boolean } = { stats: false },
): Promise<schema.LoadBalancerAnswer> {
  const row = await foundById('Load balancer', id, () => store.findBalancer(on.database.sql, scope, id));
  const [answer] = await presented(on, scope, [row], { show_stats: show.stats }, await statusesOf(on, [row.id]));
  if (!answer) throw new TypeError('each row is presented');
  return answer;
}

/** Returns the load balancers whose virtual address a port has, by port. */
export async function loadBalancersOnPorts(
  on: Platform,
  scope: Scope,
  portIds: string[],
): Promise<Map<string, schema.LoadBalancerAnswer>> {
  if (portIds.length === 0) return new Map();
  const rows = await store.balancersOnPorts(on.database.sql, scope, portIds);
  const answers = await presented(
    on,
    scope,
    rows,
    {},
    await statusesOf(
      on,
      rows.map(({ id }) => id),
    ),
  );
  return new Map(answers.map((answer) => [answer.vip_port_id ?? '', answer]));
}

/** Returns the task that deletes it with all its parts. @throws NotFoundError, ConflictError */
export const deleteLoadBalancer = (on: Platform, scope: Scope, id: string): Promise<string> =>
  on.database.accept(async (tx) => {
    const balancer = await lockAlsoHeld(tx, scope, id);
    const again = await removeAgain(on, tx, scope, balancer.task_id, DELETE);
    if (again !== undefined) return again;
    refuseHeld(`Load balancer ${balancer.name}`, balancer);
    const taskId = deletionId(scope);
    const vip = await holdVip(tx, balancer.id, taskId);
    const held = { provisioning_status: 'PENDING_DELETE', task_id: taskId };
    await writeRow(tx, 'load_balancers', balancer.id, held);
    await holdTree(tx, balancer.id, taskId);
    await beginTask(on, tx, scope, {
      id: taskId,
      task: DELETE,
      data: { load_balancer_id: balancer.id },
      input: { loadBalancerId: balancer.id, ...quotaOwner(scope) },
      wants: [
        remove('load_balancer', balancer.id),
        ...(vip.reserved ? [] : [...(await awayFrom(tx, [vip.id])), remove('port', vip.id)]),
      ],
    });
    return taskId;
  });

/**
 * Returns how many public IPv4 addresses such a load balancer would take for itself.
 * @throws InvalidError for what can't be, ForbiddenError for a flavor that has run out
 */
export function requirePossibleLoadBalancer(
  on: Platform,
  scope: Scope,
  request: VipWish & { flavor: string },
): { publicAddresses: number } {
  const problems = vipProblems(request);
  const outside = isOutside(request, scope.region);
  if (outside && request.floating_ip) problems.push(ALREADY_PUBLIC);
  if (problems.length > 0) throw new errors.InvalidError(problems);
  usableFlavor(on.catalog, scope.regionId, request.flavor);
  return { publicAddresses: outside && request.vip_ip_family !== 'ipv6' ? 1 : 0 };
}

async function statusesOf(on: Platform, ids: string[]): Promise<Statuses> {
  const found = new Map<string, OperatingStatus>();
  for await (const { balancers, statuses } of forestsOf(on.database.sql, ids)) {
    for (const { id } of balancers) found.set(id, statuses.get(id) ?? 'OFFLINE');
  }
  return found;
}

async function presented(
  on: Platform,
  scope: Scope,
  rows: store.ShownLoadBalancer[],
  { show_stats: stats = false }: Pick<schema.LoadBalancerListQuery, 'show_stats'>,
  statuses: Statuses,
): Promise<schema.LoadBalancerAnswer[]> {
  const portIds = rows.flatMap(({ vip }) => vip?.id ?? []);
  const floating = await floatingIps.floatingIpsOnPorts(on, scope, portIds);
  return rows.map((row) =>
    presentedBalancer(row, scope, {
      operating: statuses.get(row.id) ?? 'OFFLINE',
      floatingIps: floating.get(row.vip?.id ?? '') ?? [],
      stats,
    }),
  );
}

export const loadBalancerDeletion = waitingDeletion('delete_loadbalancer', deleteLoadBalancer, ['load_balancer_id']);
