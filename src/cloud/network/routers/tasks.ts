import type { RouterSpec } from '../../../backends/contract/specs.ts';
import { type TaskEnd, taskType } from '../../../convergence/task-kind.ts';
import { amend, type Wanted } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import type { StaticRoute } from '../../../db/json-columns.ts';
import { type QuotaOwner, releaseQuota } from '../../ground/quotas/service.ts';
import * as addresses from '../addresses/in-transaction.ts';
import { asInRows as floatingIpsAsInRows } from '../floating-ips/tasks.ts';
import * as store from './store.ts';
import { deleteRouter, type RouterRow } from './store.ts';

/** Deletes a router with its interfaces and addresses. Returns whether it was still there: the caller releases its quota. */
export async function removeRouter(tx: Transaction, routerId: string): Promise<boolean> {
  await addresses.releaseOfRouter(tx, routerId);
  return deleteRouter(tx, routerId);
}

export function routerSpec(row: RouterRow): RouterSpec {
  return {
    name: row.name,
    ...(row.gateway_network_id !== null && {
      gateway: {
        networkId: row.gateway_network_id,
        sourceNat: row.enable_snat,
        addresses: Object.fromEntries(row.outside.map(({ address, subnet_id }) => [address, { subnetId: subnet_id }])),
      },
    }),
    interfaces: Object.fromEntries(
      row.interfaces.map((one) => [
        one.port_id,
        {
          networkId: one.network_id,
          subnetId: one.subnet_id,
          address: one.address,
          macAddress: one.mac_address,
        },
      ]),
    ),
    routes: row.routes,
  };
}

export const asInRow = (row: RouterRow): Wanted => amend('router', row.id, () => routerSpec(row));

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

export function routerTasks(): TaskEnd[] {
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
      const change = { task_id: null, updated_at: tx.now };
      await store.changeRouter(tx, routerId, change);
      await releaseOutside(tx, routerId);
    },
    async abandon(tx, _task, { routerId, former }) {
      const change = { ...former, routes: JSON.stringify(former.routes), task_id: null };
      await store.changeRouter(tx, routerId, { ...change, updated_at: tx.now });
      await releaseOutside(tx, routerId);
      const routed = await rerouted(tx, await store.subnetsOf(tx, routerId));
      return [asInRow(await store.readRouter(tx, routerId)), ...routed];
    },
  };

  const removal: TaskEnd<RouterInput> = {
    ...DELETE_ROUTER,
    removes: true,
    complete: (tx, _task, input) => remove(tx, input),
  };

  return [create, update, removal];
}

async function remove(tx: Transaction, { routerId, ...owner }: RouterInput): Promise<void> {
  if (await removeRouter(tx, routerId)) releaseQuota(tx, owner, 'router_count');
}

/** Floating IPs in the subnets go their former way again. If they needed the router, it could never be removed. */
async function rerouted(tx: Transaction, subnetIds: readonly string[]): Promise<Wanted[]> {
  return floatingIpsAsInRows(tx, await store.lockFloatingIpsIn(tx, subnetIds));
}

/** Releases the addresses that the router has in external networks to which it doesn't lead any more. */
export async function releaseOutside(tx: Transaction, routerId: string): Promise<void> {
  const subnetIds = await store.outsideOf(tx, routerId);
  if (subnetIds.length > 0) await addresses.releaseOfRouter(tx, routerId, subnetIds);
}
