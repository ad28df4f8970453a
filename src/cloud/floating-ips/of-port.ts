import { sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';

/**
 * The address of a port in the external network becomes a floating IP without ever being free. The port is then without
 * an address, and its removal the caller's affair.
 */
export async function floatingIpOfPort(
  tx: Transaction,
  { id, portId, taskId }: { id: string; portId: string; taskId: string },
  now: Date,
): Promise<void> {
  await sql`
    insert into floating_ips (id, project_id, region_id, address, tags, creator_task_id, created_at, updated_at)
    select ${id}::uuid, project_id, region_id, address, '{}', ${taskId}::uuid, ${now}::timestamptz, ${now}::timestamptz
    from ports join ip_assignments on port_id = ports.id where ports.id = ${portId}`.execute(tx.sql);
  await sql`
    update ip_assignments set port_id = null, floating_ip_id = ${id} where port_id = ${portId}`.execute(
    tx.sql,
  );
}
