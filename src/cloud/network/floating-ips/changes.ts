import type { PortSpec } from '../../../backends/contract/specs.ts';
import { make, remove } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import { ConflictError, InvalidError } from '../../../lib/errors.ts';
import { newId, newTaskId, refuseHeld } from '../../../lib/ids.ts';
import { patchedTags, sameTags, type TagsPatch } from '../../../lib/tags.ts';
import type { Platform, Scope } from '../../../platform.ts';
import type { TagHolder } from '../../ground/metadata/service.ts';
import { quotaOwner, takeQuota } from '../../ground/quotas/service.ts';
import { beginTask, type TaskAnyway, unchangedTask, wantChecked } from '../../ground/tasks/service.ts';
import { originOf } from '../addresses/in-transaction.ts';
import { type FloatingTarget, lockTarget } from '../ports/in-transaction.ts';
import { newMacAddress } from '../ports/reserved/in-transaction.ts';
import type { UpdateFloatingIp } from './schema.ts';
import { getFloatingIp, inserted, lockFree, refuseLeading, refuseUnfit, wantedAddress } from './service.ts';
import * as store from './store.ts';
import { asInRows, CONVERT_FIP, UPDATE_FIP } from './tasks.ts';

async function changeTags(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  id: string,
  plan: (tags: Record<string, string>) => Record<string, string>,
): Promise<void> {
  const floating = await lockFree(tx, scope, id);
  const tags = JSON.stringify(plan(floating.tags));
  await store.changeFloatingIp(tx, floating.id, { tags });
  await wantChecked(on, tx, scope, await asInRows(tx, [floating.id]));
}

/** Changes tags at once. @throws NotFoundError, InvalidError, ConflictError while a task holds the floating IP */
export const updateFloatingIpTags = (on: Platform, scope: Scope, id: string, tags: TagsPatch | undefined) =>
  on.database.accept((tx) => changeTags(on, tx, scope, id, (current) => patchedTags(current, tags)));

/**
 * Assigns the floating IP elsewhere or unassigns it, and changes its tags. Returns the task. If nothing changes, it is
 * undefined, or with `taskAnyway` one that is FINISHED. @throws NotFoundError, InvalidError, ConflictError when it is held or the port's address has a floating
 * IP
 */
export async function updateFloatingIp(
  on: Platform,
  scope: Scope,
  id: string,
  change: UpdateFloatingIp,
  options: TaskAnyway,
): Promise<string | undefined> {
  const known = await getFloatingIp(on, scope, id);
  const portId = wantedPort(change, known.port_id);
  return on.database.accept(async (tx) => {
    const target = portId ? await lockTarget(tx, scope, portId) : undefined;
    const floating = await lockFree(tx, scope, id);
    if (floating.port_id !== known.port_id) {
      throw new ConflictError(`Floating IP ${floating.id} was reassigned in the meantime; try again`);
    }
    const to = { target, address: change.fixed_ip_address };
    const link = await wantedLink(tx, scope, floating, portId, to);
    const tags = patchedTags(floating.tags, change.tags);
    const data = { floating_ip_id: floating.id, ...change };
    if (leads(floating, link) && sameTags(tags, floating.tags)) {
      return unchangedTask(on, tx, scope, { type: UPDATE_FIP.type, data }, options);
    }
    const taskId = newTaskId();
    const written = { ...link, tags: JSON.stringify(tags), task_id: taskId };
    await inserted(store.changeFloatingIp(tx, floating.id, written));
    const { port_id, fixed_address } = floating;
    const former = { port_id, fixed_address, tags: floating.tags };
    return beginTask(on, tx, scope, {
      id: taskId,
      task: UPDATE_FIP,
      data,
      input: { floatingIpId: floating.id, former },
      wants: await asInRows(tx, [floating.id]),
    });
  });
}

/**
 * Returns the task that turns it into a reserved fixed IP with the same address.
 * @throws NotFoundError, ConflictError while it is assigned or a task holds it, QuotaExceededError
 */
export const convertFloatingIp = (on: Platform, scope: Scope, id: string): Promise<string> =>
  on.database.accept(async (tx) => {
    const floating = await lockFree(tx, scope, id);
    refuseLeading(floating);
    const [taskId, portId] = [newTaskId(), newId()];
    const { networkId, subnetId } = await originOf(tx, floating.id);
    const macAddress = await newMacAddress(tx);
    const port: PortSpec = {
      networkId,
      addresses: { [floating.address]: { subnetId } },
      macAddress,
      portSecurity: true,
      groups: {},
      addressPairs: [],
      reserved: true,
      formerFloatingIpId: floating.id,
      metadata: {},
    };
    await store.hold(tx, [floating.id], taskId);
    await beginTask(on, tx, scope, {
      id: taskId,
      task: CONVERT_FIP,
      data: { floating_ip_id: floating.id },
      input: { floatingIpId: floating.id, portId, macAddress, ...quotaOwner(scope) },
      wants: [remove('floating_ip', floating.id), make('port', portId, port)],
    });
    takeQuota(tx, scope, 'reserved_fixed_ip_count');
    return taskId;
  });

export const floatingIpTags: TagHolder = {
  read: getFloatingIp,
  change: changeTags,
};

/** Returns the wanted port: null for none, undefined to keep the current one. @throws InvalidError */
function wantedPort(change: UpdateFloatingIp, current: string | null): string | null | undefined {
  const { port_id: portId, fixed_ip_address: address } = change;
  if ((address ?? undefined) === undefined) return portId?.toLowerCase() ?? portId;
  if (portId === null) {
    throw new InvalidError({ fixed_ip_address: ['Requires a port_id; leave it out when port_id is null.'] });
  }
  const port = portId?.toLowerCase() ?? current;
  if (port === null) throw new InvalidError({ port_id: ['Is required with fixed_ip_address.'] });
  return port;
}

type Link = Pick<store.FloatingIpRow, 'port_id' | 'fixed_address'>;

/** @throws InvalidError, ConflictError when the port is held or its address can't get a floating IP */
async function wantedLink(
  tx: Transaction,
  scope: Scope,
  floating: store.FloatingIpRow,
  portId: string | null | undefined,
  { target, address = null }: { target: FloatingTarget | undefined; address: string | null | undefined },
): Promise<Link> {
  if (portId === undefined) return { port_id: floating.port_id, fixed_address: floating.fixed_address };
  if (portId === null) return { port_id: null, fixed_address: null };
  const wish = { port_id: portId, fixed_ip_address: address };
  const link = { port_id: portId, fixed_address: await wantedAddress(tx, target, wish, floating) };
  if (leads(floating, link)) return link;
  if (target) refuseHeld(`Port ${portId}`, target);
  await refuseUnfit(tx, scope, portId, link.fixed_address);
  return link;
}

function leads(floating: Link, link: Link): boolean {
  return floating.port_id === link.port_id && floating.fixed_address === link.fixed_address;
}
