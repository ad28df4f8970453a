import { want } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import { ConflictError, type FieldProblem, InvalidError } from '../../../lib/errors.ts';
import { foundById, refuseHeld } from '../../../lib/ids.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { refuseNode } from '../../ground/hosts/in-transaction.ts';
import { wantChecked } from '../../ground/tasks/service.ts';
import { addPairs, changeReserved, removePairs } from '../ports/reserved/in-transaction.ts';
import { MAX_PAIRS } from '../ports/schema.ts';
import { asInRows, withoutPairs } from '../ports/tasks.ts';
import { findReserved, lockReservedPort, type PlainReserved } from './store.ts';
import * as members from './vip-store.ts';

const SHOWN_IN_MESSAGE = 10;

/** @throws NotFoundError, ConflictError if an instance has it, a task holds it, or it is switched off while shared */
export const switchVip = (on: Platform, scope: Scope, id: string, isVip: boolean): Promise<void> =>
  on.database.accept(async (tx) => {
    const port = await lockFree(tx, scope, id);
    if (port.is_vip === isVip) return;
    if (port.instance_id !== null) {
      throw new ConflictError(
        `Reserved fixed IP ${port.id} is attached to instance ${port.instance_id}; detach it there first`,
      );
    }
    if (port.load_balancer_id !== null) {
      throw new ConflictError(
        `Reserved fixed IP ${port.id} is the virtual address of load balancer ${port.load_balancer_id}; delete that one first`,
      );
    }
    if (!isVip) {
      await refuseShared(tx, await vipOf(tx, port));
      // Also covers ports that no instance has now: they would share it later.
      await disconnectAll(tx, port);
    }
    // A virtual address shares no other: that one would not find it when it goes.
    const pairs = isVip && { allowed_address_pairs: '[]' };
    await changeReserved(tx, port.id, { is_vip: isVip, ...pairs, updated_at: tx.now });
    if (isVip) await wantChecked(on, tx, scope, await asInRows(tx, [port.id]));
  });

/** Lists the instances' ports that share it; none if it isn't a VIP. @throws NotFoundError */
export const listConnectedPorts = (on: Platform, scope: Scope, id: string): Promise<members.DeviceRow[]> =>
  devices(on, scope, id, (vip) => members.connectedDevices(on.database.sql, vip));

/** Lists the instances' ports that could share it; none if it isn't a VIP. @throws NotFoundError */
export const listAvailablePorts = (on: Platform, scope: Scope, id: string): Promise<members.DeviceRow[]> =>
  devices(on, scope, id, (vip) => members.availableDevices(on.database.sql, vip, MAX_PAIRS));

/**
 * Lets ports share it, in addition to the current ones or instead of them.
 * @throws NotFoundError, InvalidError, ConflictError if it isn't a VIP, and for a port that can't share it now
 */
export const connectPorts = (
  on: Platform,
  scope: Scope,
  id: string,
  portIds: string[],
  how: 'add' | 'replace',
): Promise<void> =>
  on.database.accept(async (tx) => {
    const port = await lockFree(tx, scope, id);
    if (!port.is_vip) {
      throw new ConflictError(`Reserved fixed IP ${port.id} is not a VIP; set its is_vip to true first`);
    }
    const vip = await vipOf(tx, port);
    const wanted = portIds.map((one) => one.toLowerCase());
    const locked = await members.lockMembers(tx, vip, wanted, how === 'replace');
    refuseUnfit(vip, wanted, locked);
    const isWanted = ({ id: one }: members.Member) => wanted.includes(one);
    const joining = locked.filter((one) => isWanted(one) && missing(vip, one).length > 0);
    const leaving = locked.filter((one) => !isWanted(one));
    for (const one of [...joining, ...leaving]) refuseHeld(`Port ${one.id}`, one);
    for (const one of joining) await refuseUnable(tx, vip, one);
    await addPairs(tx, vip.addresses, idsOf(joining));
    await removePairs(tx, vip.addresses, idsOf(leaving));
    await wantChecked(on, tx, scope, await asInRows(tx, idsOf([...joining, ...leaving])));
  });

async function devices(
  on: Platform,
  scope: Scope,
  id: string,
  find: (vip: members.Vip) => Promise<members.DeviceRow[]>,
): Promise<members.DeviceRow[]> {
  const row = await foundById('Reserved fixed IP', id, () => findReserved(on.database.sql, scope, id));
  return row.is_vip ? find({ ...row, addresses: row.addresses.map(({ address }) => address) }) : [];
}

/** Ends the sharing by all ports. The VIP must be locked and protected from new sharing. */
export async function disconnectAll(tx: Transaction, port: PlainReserved): Promise<void> {
  const vip = await vipOf(tx, port);
  const sharing = await members.lockMembers(tx, vip, [], true);
  await removePairs(tx, vip.addresses, idsOf(sharing));
  // A task may hold one of the ports, and its change is in no row yet.
  await want(tx, null, withoutPairs(idsOf(sharing), vip.addresses));
}

async function lockFree(tx: Transaction, scope: Scope, id: string): Promise<PlainReserved> {
  const port = await foundById('Reserved fixed IP', id, () => lockReservedPort(tx, scope, id));
  tx.about({ type: 'port', ...port });
  refuseHeld(`Reserved fixed IP ${port.id}`, port);
  return port;
}

async function vipOf(tx: Transaction, port: PlainReserved): Promise<members.Vip> {
  return { ...port, addresses: await members.addressesOf(tx.sql, port.id) };
}

async function refuseShared(tx: Transaction, vip: members.Vip): Promise<void> {
  const sharing = await members.connectedDevices(tx.sql, vip);
  if (sharing.length === 0) return;
  const named = sharing
    .slice(0, SHOWN_IN_MESSAGE)
    .map((one) => `port ${one.port_id} of instance ${one.instance_name} (${one.instance_id})`);
  throw new ConflictError(`Reserved fixed IP ${vip.id} is shared by ${named.join(', ')}; disconnect these ports first`);
}

/** @throws InvalidError for ports that don't belong to an instance in the network */
function refuseUnfit(vip: members.Vip, wanted: string[], locked: members.Member[]): void {
  const problems = wanted.flatMap((id, index): FieldProblem[] => {
    const field = `port_ids.${index}`;
    const one = locked.find((member) => member.id === id);
    if (!one) return [{ field, message: `No instance port ${id} in this project and region.` }];
    if (one.instance_id === null) return [{ field, message: `Port ${id} doesn't belong to an instance.` }];
    return one.network_id === vip.network_id
      ? []
      : [
          {
            field,
            message: `Port ${id} is in network ${one.network_id}, but the VIP is in network ${vip.network_id}.`,
          },
        ];
  });
  if (problems.length > 0) throw new InvalidError(problems);
}

/** @throws ConflictError for a port of a node, without port security, or with the most pairs already */
async function refuseUnable(tx: Transaction, vip: members.Vip, one: members.Member): Promise<void> {
  await refuseNode(tx, { id: one.instance_id ?? '', pool_id: one.pool_id });
  if (!one.port_security_enabled) {
    throw new ConflictError(`Port ${one.id} has port security disabled and can use any address; leave it out`);
  }
  if (one.allowed_address_pairs.length + missing(vip, one).length > MAX_PAIRS) {
    throw new ConflictError(`Port ${one.id} can have at most ${MAX_PAIRS} allowed address pairs; remove one first`);
  }
}

function missing({ addresses }: members.Vip, one: members.Member): string[] {
  // A pair with another hardware address doesn't allow the port to send from its own.
  const own = one.allowed_address_pairs.filter((pair) => pair.mac_address === undefined);
  return addresses.filter((address) => own.every((pair) => pair.ip_address !== address));
}

const idsOf = (list: members.Member[]) => list.map(({ id }) => id);
