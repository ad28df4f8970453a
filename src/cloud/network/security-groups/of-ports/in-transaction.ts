import { sql } from 'kysely';
import type { Transaction } from '../../../../db/database.ts';
import type { Place } from '../../../../db/place.ts';
import { groupsIn } from '../store.ts';

/** Finding groups for new ports, and putting them there. */
export { existingGroups as existing, putOnPorts as put } from '../store.ts';

/** Returns the group for ports that name none; undefined if the project has no default group. */
export async function defaultGroup(tx: Transaction, place: Place): Promise<string | undefined> {
  const row = await groupsIn(tx.sql, place).select('id').where('is_default', '=', true).executeTakeFirst();
  return row?.id;
}

/** Puts exactly these groups on the port. Leaves out groups that were deleted meanwhile. */
export async function replace(tx: Transaction, portId: string, groupIds: string[]): Promise<void> {
  await tx.sql.deleteFrom('port_security_groups').where('port_id', '=', portId).execute();
  await sql`
    insert into port_security_groups (port_id, security_group_id)
    select ${portId}, id from (
      select id from security_groups where id = any(${groupIds}::uuid[]) order by id for key share
    ) as still_there
    on conflict do nothing`.execute(tx.sql);
}

/** Puts exactly these groups on every port of the pool's nodes. */
export async function replaceOfPool(
  tx: Transaction,
  poolId: string,
  groupIds: readonly string[],
): Promise<void> {
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

/** Takes all groups off the ports. */
export async function takeAll(tx: Transaction, portIds: readonly string[]): Promise<void> {
  await tx.sql
    .deleteFrom('port_security_groups')
    .where(sql<boolean>`port_id = any(${portIds}::uuid[])`)
    .execute();
}
