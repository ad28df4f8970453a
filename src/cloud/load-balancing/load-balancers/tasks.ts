import { type TaskEnd, taskType } from '../../../convergence/task-kind.ts';
import type { Transaction } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import { type QuotaOwner, releaseQuotas } from '../../ground/quotas/in-transaction.ts';
import * as addresses from '../../network/addresses/in-transaction.ts';
import * as floatingIps from '../../network/floating-ips/in-transaction.ts';
import { letVipGo, lockVip } from '../../network/ports/of-load-balancers/in-transaction.ts';
import { deleteBalancer, lockForEnd } from './store.ts';
import { letTreeSecretsGo } from './tls.ts';
import { freeTree } from './tree/store.ts';
import { treeTasks } from './tree/tasks.ts';

interface Creation extends QuotaOwner {
  loadBalancerId: string;
  /** What the task makes, as it shows it. */
  created: Record<string, string[]>;
  floatingIpIds: string[];
}

interface Removal extends QuotaOwner {
  loadBalancerId: string;
}

export const CREATE = taskType<Creation>('create_loadbalancer');
export const DELETE = taskType<Removal>('delete_loadbalancer');

/** How tasks on load balancers and their parts end. */
export function loadBalancerTasks({ clock }: { clock: Clock }): TaskEnd[] {
  const create: TaskEnd<Creation> = {
    ...CREATE,
    async complete(tx, { id }, { loadBalancerId, created }) {
      const now = clock.now();
      await lockForEnd(tx, loadBalancerId);
      await floatingIps.settle(tx, id, now);
      await freeTree(tx, loadBalancerId, id, now);
      return created;
    },
    abandon: (tx, { id }, { loadBalancerId, floatingIpIds, ...owner }) =>
      removeRows(tx, id, loadBalancerId, { doomed: floatingIpIds, owner, now: clock.now(), unmade: true }),
  };

  const remove: TaskEnd<Removal> = {
    ...DELETE,
    removes: true,
    async complete(tx, { id }, { loadBalancerId, ...owner }) {
      await removeRows(tx, id, loadBalancerId, { doomed: [], owner, now: clock.now() });
      return null;
    },
  };

  return [create, remove, ...treeTasks({ clock })];
}

/** Locks rows in the same order as a creation, so that the two never wait for each other. */
async function removeRows(
  tx: Transaction,
  taskId: string,
  loadBalancerId: string,
  { doomed, owner, now, unmade }: { doomed: string[]; owner: QuotaOwner; now: Date; unmade?: boolean },
): Promise<void> {
  await lockForEnd(tx, loadBalancerId);
  const vip = await lockVip(tx, loadBalancerId);
  if (!vip) return;
  // A floating IP that led to a reserved port before leads there afterwards, if the load balancer can't be made.
  const portIds = unmade && vip.reserved ? [] : [vip.id];
  const goneFloatingIps = await floatingIps.letGo(tx, taskId, { portIds, doomed }, now);
  await letTreeSecretsGo(tx, loadBalancerId);
  const gonePort = await letVipGo(tx, vip, now);
  await deleteBalancer(tx, loadBalancerId);
  await addresses.release(tx, gonePort === undefined ? [] : [gonePort], goneFloatingIps);
  await releaseQuotas(tx, owner, { floating_count: goneFloatingIps.length, loadbalancer_count: 1 });
}
