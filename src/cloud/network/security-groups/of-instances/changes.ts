import type { Transaction } from '../../../../db/database.ts';
import { type FieldProblem, InvalidError, NotFoundError } from '../../../../lib/errors.ts';
import { isUuid } from '../../../../lib/ids.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { wantChecked } from '../../../ground/tasks/service.ts';
import { addToPorts, removeFromPorts } from '../../ports/groups/in-transaction.ts';
import { ofInstance, portsOf } from '../../ports/in-transaction.ts';
import { asInRows } from '../../ports/tasks.ts';
import * as store from '../store.ts';
import type { AssignGroups } from './schema.ts';

interface NamedGroup {
  id: string;
  name: string;
}

/** Groups for one port, or for all ports. */
interface Wish {
  portId: string | null;
  names: { name: string; field: string }[];
  field: string;
}

/** Returns the groups on any port of the instance, by name. @throws NotFoundError */
export async function groupsOfInstance(on: Platform, scope: Scope, instanceId: string): Promise<NamedGroup[]> {
  const ports = await ofInstance(on.database.sql, scope, instanceId);
  const groups = new Map(ports.flatMap((port) => port.security_groups).map((one) => [one.id, one]));
  return [...groups.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Puts groups on ports of the instance if not there yet. @throws NotFoundError, InvalidError, ConflictError */
export const assignSecurityGroup = (on: Platform, scope: Scope, instanceId: string, request: AssignGroups) =>
  change(on, scope, instanceId, request, addToPorts);

/** Takes groups off ports of the instance, if they are there. @throws NotFoundError, InvalidError, ConflictError */
export const unassignSecurityGroup = (on: Platform, scope: Scope, instanceId: string, request: AssignGroups) =>
  change(on, scope, instanceId, request, removeFromPorts);

async function change(on: Platform, scope: Scope, instanceId: string, request: AssignGroups, work: typeof addToPorts) {
  await on.database.accept(async (tx) => {
    const wanted = await links(tx, scope, instanceId, request);
    await work(tx, wanted);
    const portIds = new Set(wanted.map(({ portId }) => portId));
    await wantChecked(on, tx, scope, await asInRows(tx, [...portIds]));
  });
}

/** Returns each pair of a port and a group that the request names for it, once. */
async function links(tx: Transaction, scope: Scope, instanceId: string, request: AssignGroups) {
  const ports = isUuid(instanceId) ? (await portsOf(tx, scope, [instanceId])).get(instanceId) : undefined;
  if (!ports) throw new NotFoundError('Instance', instanceId);
  const wishes = wishesOf(request);
  const names = [...new Set(wishes.flatMap((wish) => wish.names.map(({ name }) => name)))];
  const groups = await store.groupIdsByName(tx, scope, names);
  refuseUnknown(wishes, new Set(ports), groups, instanceId);
  const found = wishes.flatMap((wish) => {
    const portIds = wish.portId === null ? ports : [wish.portId.toLowerCase()];
    const groupIds = wish.names.flatMap(({ name }) => groups.get(name) ?? []);
    return portIds.flatMap((portId) => groupIds.map((groupId) => ({ portId, groupId })));
  });
  const unique = new Map(found.map((link) => [`${link.portId} ${link.groupId}`, link]));
  // Always in the same order, so that two requests never wait for each other.
  return [...unique].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, link]) => link);
}

/** @throws InvalidError unless exactly one of the two forms is used */
function wishesOf({ name, ports_security_group_names: ports }: AssignGroups): Wish[] {
  if ((name === undefined) === (ports === undefined)) {
    const message = 'Send either name, for all ports, or ports_security_group_names, for single ports.';
    throw new InvalidError({ name: [message] });
  }
  if (name !== undefined) return [{ portId: null, names: [{ name, field: 'name' }], field: 'name' }];
  return (ports ?? []).map((port, index) => {
    const field = `ports_security_group_names.${index}`;
    return {
      portId: port.port_id,
      field: `${field}.port_id`,
      names: port.security_group_names.map((one, at) => ({
        name: one,
        field: `${field}.security_group_names.${at}`,
      })),
    };
  });
}

function refuseUnknown(wishes: Wish[], ports: Set<string>, groups: Map<string, string>, instanceId: string): void {
  const problems = wishes.flatMap(({ portId, names, field }): FieldProblem[] => [
    ...(portId === null || ports.has(portId.toLowerCase())
      ? []
      : [{ field, message: `Instance ${instanceId} has no port ${portId}.` }]),
    ...names
      .filter(({ name }) => !groups.has(name))
      .map((one) => ({
        field: one.field,
        message: `No security group named ${one.name} in this project and region.`,
      })),
  ]);
  if (problems.length > 0) throw new InvalidError(problems);
}
