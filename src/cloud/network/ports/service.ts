import { amend, wantedOf } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import { canonicalAddress } from '../../../lib/cidr.ts';
import { ConflictError, type FieldProblem, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { foundById, isUuid, newTaskId, refuseHeld } from '../../../lib/ids.ts';
import type { Page } from '../../../lib/page.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { refuseNode } from '../../ground/hosts/in-transaction.ts';
import { beginTask, wantChecked } from '../../ground/tasks/service.ts';
import * as addresses from '../addresses/in-transaction.ts';
import { isOutside } from '../addresses/in-transaction.ts';
import * as portGroups from './groups/in-transaction.ts';
import { takeOffAllGroups } from './groups/in-transaction.ts';
import { ofInstance } from './in-transaction.ts';
import { type InterfaceRow, interfaceOf } from './interfaces/in-transaction.ts';
import * as rows from './port-rows.ts';
import type { PortListQuery } from './schema.ts';
import { asInRows, changedPort, portSpecs, type UPDATE_PORT } from './tasks.ts';
import { type PortChange, wantedPort } from './wanted-port.ts';

/** @throws NotFoundError, ConflictError for a port of a node or a router */
async function lockOwn(tx: Transaction, scope: Scope, id: string): Promise<rows.PortRow> {
  const locked = isUuid(id) && (await rows.lockPort(tx, id, scope));
  const port = isUuid(id) ? await rows.findPort(tx.sql, scope, id) : undefined;
  if (port && port.router_id !== null) {
    throw new ConflictError(`Port ${port.id} is an interface of router ${port.router_id}; change the router`);
  }
  if (!locked || !port) throw new NotFoundError('Port', id);
  tx.about({ ...port, type: 'port' });
  if (port.instance_id !== null) {
    await refuseNode(tx, { id: port.instance_id, pool_id: port.pool_id });
  }
  return port;
}

/**
 * Others share the external network, so the addresses of its ports are always checked.
 * @throws ConflictError for a port there
 */
async function refuseOutside(tx: Transaction, port: rows.PortRow): Promise<void> {
  if (!(await isOutside(tx, port.network_id))) return;
  throw new ConflictError(`Port ${port.id} is in the external network, where port security can't be disabled`);
}

/** @throws InvalidError for an invalid address */
export async function listPorts(on: Platform, scope: Scope, query: PortListQuery): Promise<Page<rows.PortRow>> {
  const wanted = query.ip_addresses?.map((text) => canonicalAddress(text)?.address);
  const problems = (wanted ?? []).flatMap((address, index): FieldProblem[] =>
    address === undefined
      ? [{ field: `ip_addresses.${index}`, message: 'Must be an IP address such as 10.0.0.5.' }]
      : [],
  );
  if (problems.length > 0) throw new InvalidError(problems);
  return rows.listPorts(on.database.sql, scope, {
    ...query,
    ...(wanted && { ip_addresses: wanted.filter((address) => address !== undefined) }),
  });
}

/** @throws NotFoundError */
export const getPort = (on: Platform, scope: Scope, id: string): Promise<rows.PortRow> =>
  foundById('Port', id, () => rows.findPort(on.database.sql, scope, id));

/** Lists the ports in the order of the instance's interfaces. @throws NotFoundError */
export const portsOfInstance = (on: Platform, scope: Scope, instanceId: string): ReturnType<typeof ofInstance> =>
  ofInstance(on.database.sql, scope, instanceId);

/**
 * Returns the ID of the task that changes the port. New addresses are taken at once; the rest changes when the task
 * ends.
 * @throws NotFoundError, InvalidError, ConflictError for a port of a node or a router, while a task holds it or when an address is
 * taken
 */
export const updatePort = (
  on: Platform,
  scope: Scope,
  id: string,
  change: PortChange,
  task: typeof UPDATE_PORT,
): Promise<string> =>
  on.database.accept(async (tx) => {
    const port = await lockOwn(tx, scope, id);
    refuseHeld(`Port ${port.id}`, port);
    const wanted = wantedPort(port, change);
    if (port.port_security_enabled && !wanted.portSecurityEnabled) await refuseOutside(tx, port);
    if (port.is_vip && wanted.added.length + wanted.dropped.length > 0) {
      throw new ConflictError(
        `Port ${port.id} is a virtual IP (VIP) that other ports may share; set its is_vip to false first`,
      );
    }
    const groups = await portGroups.existingGroups(tx, scope, wanted.groupIds ?? []);
    const unknown = (change.security_group_ids ?? []).flatMap((group, index): FieldProblem[] =>
      groups.has(group.toLowerCase())
        ? []
        : [
            {
              field: `security_group_ids.${index}`,
              message: `No security group ${group} in this project and region.`,
            },
          ],
    );
    if (unknown.length > 0) throw new InvalidError(unknown);
    await rows.refuseLosing(
      tx,
      port.id,
      wanted.dropped.map(({ address }) => address),
    );
    if (wanted.added.length > 0) {
      const wishes = wanted.added.map(({ subnetId, address, field }) => ({
        holder: { port: port.id },
        field,
        from: { kind: 'subnet' as const, networkId: port.network_id, subnetId, address },
      }));
      await addresses.take(tx, scope, wishes);
    }
    const taskId = newTaskId();
    await rows.changePort(tx, port.id, { task_id: taskId });
    const spec = (await portSpecs(tx, [port.id])).get(port.id);
    return beginTask(on, tx, scope, {
      id: taskId,
      task,
      data: { port_id: port.id, ...change },
      input: { portId: port.id, ...wanted },
      wants: [amend('port', port.id, () => spec && changedPort(spec, wanted))],
    });
  });

/**
 * Switches port security on or off at once, unless it is so and stays so. Switching it off also removes the security groups.
 * @throws NotFoundError, ConflictError while a task holds it; when switched off also with address pairs or in the
 * external network
 */
export const securePort = (on: Platform, scope: Scope, id: string, enabled: boolean): Promise<InterfaceRow> =>
  on.database.accept(async (tx) => {
    const port = await lockOwn(tx, scope, id);
    const stays = (await wantedOf(tx, 'port', port.id))?.portSecurity ?? port.port_security_enabled;
    if (port.port_security_enabled === enabled && stays === enabled) return interfaceOf(tx, port.id);
    refuseHeld(`Port ${port.id}`, port);
    if (!enabled) {
      await refuseOutside(tx, port);
      if (port.allowed_address_pairs.length > 0) {
        throw new ConflictError(`Port ${port.id} has allowed address pairs; remove them first`);
      }
      // In Neutron, ports without port security have no groups. This operation has no body in which to say so:
      // clients of the contract call it with groups set and expect it to work. PATCH has a field for groups and
      // expects it to be empty.
      await takeOffAllGroups(tx, [port.id]);
    }
    const change = { port_security_enabled: enabled, updated_at: tx.now };
    await rows.changePort(tx, port.id, change);
    await wantChecked(on, tx, scope, await asInRows(tx, [port.id]));
    return interfaceOf(tx, port.id);
  });
