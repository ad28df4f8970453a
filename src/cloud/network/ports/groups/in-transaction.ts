import { sql } from 'kysely';
import { belongsTo, isIn, type Place, type Transaction } from '../../../../db/database.ts';
import { ConflictError } from '../../../../lib/errors.ts';
import { refuseHeld } from '../../../../lib/ids.ts';

/* The security groups of ports: finding them, and putting them there. */

/** Returns which of these groups exist in the project and region, and locks them against deletion. */
export async function existingGroups(tx: Transaction, place: Place, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const matching = tx.sql.selectFrom('security_groups').select('id').where(belongsTo(place)).where('id', 'in', ids);
  const rows = await matching.orderBy('id').forKeyShare().execute();
  return new Set(rows.map((row) => row.id));
}

export async function putOnPorts(tx: Transaction, links: { portId: string; groupId: string }[]): Promise<void> {
  if (links.length === 0) return;
  // Two parameters for all rows: the groups of a large cluster's ports would exceed the parameters of a statement.
  await sql`
    insert into port_security_groups (port_id, security_group_id)
    select * from unnest(${links.map(({ portId }) => portId)}::uuid[],
      ${links.map(({ groupId }) => groupId)}::uuid[])
    on conflict do nothing`.execute(tx.sql);
}

async function takeOffPorts(tx: Transaction, links: { portId: string; groupId: string }[]): Promise<void> {
  if (links.length === 0) return;
  const rows = JSON.stringify(links.map(({ portId, groupId }) => ({ port: portId, grp: groupId })));
  await sql`
    delete from port_security_groups as link
    using jsonb_to_recordset(${rows}::jsonb) as given (port uuid, grp uuid)
    where link.port_id = given.port and link.security_group_id = given.grp`.execute(tx.sql);
}

/** Returns the group for ports that name none; undefined if the project has no default group. */
export async function defaultGroup(tx: Transaction, place: Place): Promise<string | undefined> {
  const row = await tx.sql
    .selectFrom('security_groups')
    .select('id')
    .where(isIn(place))
    .where('is_default', '=', true)
    .executeTakeFirst();
  return row?.id;
}

/** Puts exactly these groups on the port. Leaves out groups that were deleted meanwhile. */
export async function replaceGroups(tx: Transaction, portId: string, groupIds: string[]): Promise<void> {
  await tx.sql.deleteFrom('port_security_groups').where('port_id', '=', portId).execute();
  await sql`
    insert into port_security_groups (port_id, security_group_id)
    select ${portId}, id from (
      select id from security_groups where id = any(${groupIds}::uuid[]) order by id for key share
    ) as still_there
    on conflict do nothing`.execute(tx.sql);
}

/** Puts exactly these groups on every port of the pool's nodes. */
export async function replaceGroupsOfPool(tx: Transaction, poolId: string, groupIds: readonly string[]): Promise<void> {
  await sql`
    delete from port_security_groups using ports, instances
    where port_security_groups.port_id = ports.id and ports.instance_id = instances.id
      and instances.pool_id = ${poolId} and not security_group_id = any(${groupIds}::uuid[])`.execute(tx.sql);
  await sql`
    insert into port_security_groups (port_id, security_group_id)
    select ports.id, wanted.id
    from instances join ports on ports.instance_id = instances.id
    cross join unnest(${groupIds}::uuid[]) as wanted (id)
    where instances.pool_id = ${poolId}
    on conflict do nothing`.execute(tx.sql);
}

export async function takeOffAllGroups(tx: Transaction, portIds: readonly string[]): Promise<void> {
  await tx.sql.deleteFrom('port_security_groups').where(sql<boolean>`port_id = any(${portIds}::uuid[])`).execute();
}

/** The same limit as in an update of one port. */
export const MAX_GROUPS_PER_PORT = 10;

/**
 * Puts groups on existing ports, unless they are there already.
 * @throws ConflictError naming a port that is held by a task, has no port security or would have too many groups
 */
export async function addToPorts(tx: Transaction, links: { portId: string; groupId: string }[]): Promise<void> {
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
export async function removeFromPorts(tx: Transaction, links: { portId: string; groupId: string }[]): Promise<void> {
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
