import { sql } from 'kysely';
import type { FloatingIpSpec } from '../../../backends/contract/specs.ts';
import { type TaskEnd, taskType } from '../../../convergence/task-kind.ts';
import { amend, usersOf, type Wanted } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import { type QuotaOwner, releaseQuota } from '../../ground/quotas/service.ts';
import * as addresses from '../addresses/in-transaction.ts';
import { insertReservedFor } from '../ports/reserved/in-transaction.ts';
import { changeFloatingIp, deleteFloatingIp, isFree, letGo, noWayOut, settle, wayOutOf } from './store.ts';

interface FloatingIpParts {
  id: string;
  address: string;
  port_id: string | null;
  fixed_address: string | null;
  router_id: string | null;
  tags: Record<string, string>;
}

/** Tasks that take floating IPs from ports that may stay. Their rows say so only when the task ends. */
const UNASSIGNING = ['delete_loadbalancer', 'delete_vm', 'detach_vm_interface'];

/**
 * Returns the specs of floating IPs by ID, from their rows in the transaction. A floating IP whose port is being
 * removed has no target: otherwise the port would wait for it. Nor has one that a task takes from its port.
 */
export async function floatingIpSpecs(tx: Transaction, ids: readonly string[]): Promise<Map<string, FloatingIpSpec>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<FloatingIpParts>`
    select id, address, fixed_address, tags,
      ${wayOutOf('floating_ips.port_id', 'floating_ips.fixed_address')} as router_id, case when not exists (
      select from wants where kind = 'port' and wants.id = port_id and spec is null)
      and not exists (
      select from tasks where tasks.id = floating_ips.task_id and task_type = any(${UNASSIGNING}::text[]))
      then port_id end as port_id
    from floating_ips where id = any(${ids}::uuid[]) order by id`.execute(tx.sql);
  return new Map(rows.map((row) => [row.id, specOf(row)]));
}

/** Wants floating IPs as they are in their rows. */
export async function asInRows(tx: Transaction, ids: readonly string[]): Promise<Wanted[]> {
  return [...(await floatingIpSpecs(tx, ids))].map(([id, spec]) => amend('floating_ip', id, () => spec));
}

/** Removes the ports from the targets of wanted floating IPs. */
export async function awayFrom(tx: Transaction, portIds: readonly string[]): Promise<Wanted[]> {
  if (portIds.length === 0) return [];
  const ports = portIds.map((id) => ({ kind: 'port' as const, id }));
  const users = await usersOf(tx.sql, ports);
  return users
    .filter(({ kind }) => kind === 'floating_ip')
    .map(({ id }) =>
      amend('floating_ip', id, (spec) => {
        if (!spec?.target || !portIds.includes(spec.target.portId)) return spec;
        const { target: _, ...left } = spec;
        return left;
      }),
    );
}

function specOf({ address, port_id, fixed_address, router_id, tags }: FloatingIpParts): FloatingIpSpec {
  return {
    address,
    ...(port_id !== null &&
      fixed_address !== null && {
        target: {
          portId: port_id,
          fixedAddress: fixed_address,
          ...(router_id !== null && { routerId: router_id }),
        },
      }),
    metadata: tags,
  };
}

interface FloatingIpInput extends QuotaOwner {
  floatingIpId: string;
}

/** A floating IP that becomes a reserved port. */
interface FloatingIpConversion extends FloatingIpInput {
  portId: string;
  macAddress: string;
}

/** The state before an update. The update itself is written when it is accepted. */
interface FloatingIpUpdate {
  floatingIpId: string;
  former: { port_id: string | null; fixed_address: string | null; tags: Record<string, string> };
}

export const CREATE_FIP = taskType<FloatingIpInput>('create_fip');
export const UPDATE_FIP = taskType<FloatingIpUpdate>('update_floating_ip');
export const CONVERT_FIP = taskType<FloatingIpConversion>('convert_fip_to_reserved_fixed_ip');
export const DELETE_FIP = taskType<FloatingIpInput>('delete_fip');

export function floatingIpTasks(): TaskEnd[] {
  async function removeRow(tx: Transaction, taskId: string, { floatingIpId, ...owner }: FloatingIpInput) {
    const removed = await letGo(tx, taskId, { portIds: [], doomed: [floatingIpId] });
    if (removed.length === 0) return;
    await addresses.release(tx, [], removed);
    releaseQuota(tx, owner, 'floating_count', removed.length);
  }

  const create: TaskEnd<FloatingIpInput> = {
    ...CREATE_FIP,
    async complete(tx, task, { floatingIpId }) {
      await settle(tx, task.id);
      return { floatingips: [floatingIpId] };
    },
    abandon: (tx, task, input) => removeRow(tx, task.id, input),
  };

  const update: TaskEnd<FloatingIpUpdate> = {
    ...UPDATE_FIP,
    complete: (tx, task) => settle(tx, task.id),
    async abandon(tx, _task, { floatingIpId, former: { tags, ...former } }) {
      const { port_id, fixed_address } = former;
      const back = port_id !== null && fixed_address !== null;
      const free =
        back &&
        (await isFree(tx, floatingIpId, { port_id, fixed_address })) &&
        (await noWayOut(tx, port_id, fixed_address)) === undefined;
      const target = free ? former : { port_id: null, fixed_address: null };
      const change = { ...target, tags: JSON.stringify(tags), task_id: null };
      await changeFloatingIp(tx, floatingIpId, change);
      return asInRows(tx, [floatingIpId]);
    },
  };

  const convert: TaskEnd<FloatingIpConversion> = {
    ...CONVERT_FIP,
    async complete(tx, task, { floatingIpId, portId: id, macAddress, ...owner }) {
      await insertReservedFor(tx, floatingIpId, { id, macAddress, taskId: task.id });
      await addresses.handOverToPort(tx, floatingIpId, id);
      await deleteFloatingIp(tx, floatingIpId);
      releaseQuota(tx, owner, 'floating_count');
      return { ports: [id] };
    },
    async abandon(tx, _task, { floatingIpId, ...owner }) {
      await changeFloatingIp(tx, floatingIpId, { task_id: null });
      releaseQuota(tx, owner, 'reserved_fixed_ip_count');
      // The backend may have removed the floating IP already, to make room for the port.
      return asInRows(tx, [floatingIpId]);
    },
  };

  const remove: TaskEnd<FloatingIpInput> = {
    ...DELETE_FIP,
    removes: true,
    complete: (tx, task, input) => removeRow(tx, task.id, input),
  };

  return [create, update, convert, remove];
}
