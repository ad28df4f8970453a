import { make } from '../../../convergence/wants.ts';
import { InvalidError, type QuotaExceededError } from '../../../lib/errors.ts';
import { newId, newTaskId } from '../../../lib/ids.ts';
import { tagsOf } from '../../../lib/legacy-metadata.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { keepTopicOf } from '../../ground/logging/service.ts';
import { exceededQuotas, quotaOwner, takeQuotas } from '../../ground/quotas/service.ts';
import { beginTask } from '../../ground/tasks/service.ts';
import { asInRows as floatingIpsInRows } from '../../network/floating-ips/tasks.ts';
import { asInRows as portsInRows } from '../../network/ports/tasks.ts';
import { wantedLogging } from './changes.ts';
import type { CreateLoadBalancer } from './creation-schema.ts';
import { defaultFlavor, usableFlavor } from './flavors/flavors.ts';
import { insertTree, treeMisfits, wantedTree } from './listeners/new-listener.ts';
import type { CheckLoadBalancerLimits } from './schema.ts';
import { CREATE, loadBalancerSpec } from './tasks.ts';
import { startEdit } from './tree/edits.ts';
import { insertRows } from './tree/store.ts';
import { takeVip, vipProblems, writeVip } from './vip.ts';

/**
 * Accepts a load balancer, which can be read at once. Returns the ID of the task that makes it work.
 * @throws InvalidError, ConflictError, QuotaExceededError
 */
export async function createLoadBalancer(on: Platform, scope: Scope, request: CreateLoadBalancer): Promise<string> {
  const problems = vipProblems(request);
  const id = newId();
  const logging = wantedLogging(on, scope, { id, logging: null }, request.logging, problems);
  const tree = wantedTree(request.listeners, problems);
  if (problems.length > 0) throw new InvalidError(problems);
  const flavor = request.flavor
    ? usableFlavor(on.catalog, scope.regionId, request.flavor)
    : defaultFlavor(on.catalog, scope.region);
  const tags = tagsOf(request);
  const taskId = newTaskId();
  return on.database.accept(async (tx) => {
    const vip = await takeVip(tx, scope, request);
    const addresses = vip.addresses.map(({ address }) => address);
    const misfits = treeMisfits(tree, addresses);
    if (misfits.length > 0) throw new InvalidError(misfits);
    tx.about({ type: 'loadbalancer', id, name: request.name });
    const row = {
      id,
      project_id: scope.projectId,
      region_id: scope.regionId,
      provisioning_status: 'PENDING_CREATE',
      creator_task_id: taskId,
      task_id: taskId,
      created_at: tx.now,
      updated_at: tx.now,
      name: request.name,
      flavor,
      flavor_named: request.flavor !== undefined,
      admin_state_up: true,
      preferred_connectivity: request.preferred_connectivity ?? 'L2',
      logging,
      failovers: 0,
      tags,
    };
    await insertRows(tx, 'load_balancers', [row]);
    await writeVip(tx, scope, id, vip, taskId);
    const { edit } = startEdit(tx, row, taskId);
    const parts = await insertTree(tx, scope, edit, tree);
    await keepTopicOf(tx, scope, logging);
    const floatingIpIds = vip.floatingIp?.made ? [vip.floatingIp.id] : [];
    await beginTask(on, tx, scope, {
      id: taskId,
      task: CREATE,
      data: withoutUsers(request),
      input: {
        loadBalancerId: id,
        floatingIpIds,
        created: { loadbalancers: [id], ports: vip.made ? [vip.portId] : [], floatingips: floatingIpIds, ...parts },
        ...quotaOwner(scope),
      },
      wants: [
        ...(await portsInRows(tx, [vip.portId])),
        ...(await floatingIpsInRows(tx, vip.floatingIp ? [vip.floatingIp.id] : [])),
        make('load_balancer', id, await loadBalancerSpec(tx, id)),
      ],
    });
    takeQuotas(tx, scope, { floating_count: floatingIpIds.length, loadbalancer_count: 1 });
    return taskId;
  });
}

/** Returns the quotas that such a load balancer would exceed. @throws InvalidError */
export async function loadBalancerQuotaExceeded(
  on: Platform,
  scope: Scope,
  request: CheckLoadBalancerLimits,
): Promise<QuotaExceededError['info'][]> {
  const problems = vipProblems(request);
  wantedLogging(on, scope, { id: newId(), logging: null }, request.logging, problems);
  if (problems.length > 0) throw new InvalidError(problems);
  const floating_count = request.floating_ip?.source === 'new' ? 1 : 0;
  return exceededQuotas(on.database.sql, scope, { floating_count, loadbalancer_count: 1 });
}

/** Everybody who may read the task sees its parameters, and hashes of passwords are none of their business. */
function withoutUsers({ listeners, ...request }: CreateLoadBalancer): object {
  return { ...request, listeners: listeners?.map(({ user_list: _, ...listener }) => listener) };
}
