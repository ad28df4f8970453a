import { type TaskEnd, taskType } from '../../../convergence/task-kind.ts';
import type { Wanted } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import { type QuotaOwner, releaseQuota } from '../../ground/quotas/in-transaction.ts';
import * as addresses from '../addresses/in-transaction.ts';
import { asInRows as floatingIpsAsInRows } from '../floating-ips/wanted.ts';
import { removeRouter } from './removal.ts';
import * as store from './store.ts';
import type { StaticRoute } from './tables.ts';
import { asInRow } from './wanted.ts';

interface RouterInput extends QuotaOwner {
  routerId: string;
}

/** The state before an update. The update itself is written when it is accepted. */
interface RouterUpdate {
  routerId: string;
  former: {
    name: string;
    routes: StaticRoute[];
    gateway_network_id: string | null;
    enable_snat: boolean;
  };
}

export const CREATE_ROUTER = taskType<RouterInput>('create_router');
export const UPDATE_ROUTER = taskType<RouterUpdate>('update_router');
export const DELETE_ROUTER = taskType<RouterInput>('delete_router');

/** How tasks on routers end. */
export function routerTasks({ clock }: { clock: Clock }): TaskEnd[] {
  const create: TaskEnd<RouterInput> = {
    ...CREATE_ROUTER,
    async complete(tx, _task, { routerId }) {
      await store.changeRouter(tx, routerId, { task_id: null });
      return { routers: [routerId] };
    },
    async abandon(tx, _task, input) {
      const subnetIds = await store.subnetsOf(tx, input.routerId);
      await remove(tx, input);
      return rerouted(tx, subnetIds);
    },
  };

  const update: TaskEnd<RouterUpdate> = {
    ...UPDATE_ROUTER,
    async complete(tx, _task, { routerId }) {
      const change = { task_id: null, updated_at: clock.now() };
      await store.changeRouter(tx, routerId, change);
      const { gateway_network_id } = await store.readRouter(tx, routerId);
      if (gateway_network_id === null) await releaseOutside(tx, routerId);
      return null;
    },
    async abandon(tx, _task, { routerId, former }) {
      const change = { ...former, routes: JSON.stringify(former.routes), task_id: null };
      await store.changeRouter(tx, routerId, { ...change, updated_at: clock.now() });
      if (former.gateway_network_id === null) await releaseOutside(tx, routerId);
      const routed = await rerouted(tx, await store.subnetsOf(tx, routerId));
      return [asInRow(await store.readRouter(tx, routerId)), ...routed];
    },
  };

  const removal: TaskEnd<RouterInput> = {
    ...DELETE_ROUTER,
    removes: true,
    async complete(tx, _task, input) {
      await remove(tx, input);
      return null;
    },
  };

  return [create, update, removal];
}

async function remove(tx: Transaction, { routerId, ...owner }: RouterInput): Promise<void> {
  if (await removeRouter(tx, routerId)) await releaseQuota(tx, owner, 'router_count');
}

/** Floating IPs in the subnets go their former way again. If they needed the router, it could never be removed. */
async function rerouted(tx: Transaction, subnetIds: readonly string[]): Promise<Wanted[]> {
  return floatingIpsAsInRows(tx, await store.lockFloatingIpsIn(tx, subnetIds));
}

/** Releases the addresses that the router has outside of its subnets. */
export async function releaseOutside(tx: Transaction, routerId: string): Promise<void> {
  const subnetIds = await store.outsideOf(tx, routerId);
  if (subnetIds.length > 0) await addresses.releaseOfRouter(tx, routerId, subnetIds);
}
