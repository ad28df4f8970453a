import { sql } from 'kysely';
import type { Transaction } from '../../../../db/database.ts';
import { ConflictError } from '../../../../lib/errors.ts';
import { refuseHeld } from '../../../../lib/held.ts';
import { putOnPorts, takeOffPorts } from '../store.ts';

/** The same limit as in an update of one port. */
export const MAX_GROUPS_PER_PORT = 10;

/**
 * Puts groups on existing ports, unless they are there already.
 * @throws ConflictError naming a port that is held by a task, has no port security or would have too many groups
 */
export async function addToPorts(
  tx: Transaction,
  links: { portId: string; groupId: string }[],
): Promise<void> {
  if (links.length === 0) return;
  const wanted = new Map<string, Set<string>>();
  for (const { portId, groupId } of links) {
    wanted.set(portId, (wanted.get(portId) ?? new Set()).add(groupId));
  }
  const ids = [...wanted.keys()];
  const ports = await lockFree(tx, ids);
  // Reads after locking, so that nobody can add groups any more.
  const present = await tx.sql
    .selectFrom('port_security_groups')
    .select(['port_id', 'security_group_id'])
    .where(sql<boolean>`port_id = any(${ids}::uuid[])`)
    .execute();
  for (const { port_id, security_group_id } of present) wanted.get(port_id)?.add(security_group_id);
  for (const port of ports) {
    if (!port.port_security_enabled) {
      throw new ConflictError(
        `Port ${port.id} has port security disabled, but security groups require it; enable it first`,
      );
    }
    const total = wanted.get(port.id)?.size ?? 0;
    if (total > MAX_GROUPS_PER_PORT) {
      throw new ConflictError(
        `Port ${port.id} would have ${total} security groups, and the maximum is ${MAX_GROUPS_PER_PORT}; remove one first`,
      );
    }
  }
  await putOnPorts(tx, links);
}

/** Takes groups off ports, if they are there. @throws ConflictError naming a port that a task holds */
export async function removeFromPorts(
  tx: Transaction,
  links: { portId: string; groupId: string }[],
): Promise<void> {
  if (links.length === 0) return;
  await lockFree(tx, [...new Set(links.map(({ portId }) => portId))]);
  await takeOffPorts(tx, links);
}

async function lockFree(tx: Transaction, ids: string[]) {
  const ports = await tx.sql
    .selectFrom('ports')
    .select(['id', 'task_id', 'port_security_enabled'])
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  for (const port of ports) refuseHeld(`Port ${port.id}`, port);
  return ports;
}
