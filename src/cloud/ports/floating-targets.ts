import { sql } from 'kysely';
import type { Transaction } from '../../db/database.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Target } from '../floating-ips/target.ts';
import { refuseNode } from '../instances/nodes/refuse-node.ts';
import { isIn, type Place } from '../projects/place.ts';

/**
 * The port that a floating IP is to lead to, kept from changing until the transaction ends. To be called before floating
 * IPs are locked. @throws ConflictError for a port of a cluster's node
 */
export async function lockTarget(tx: Transaction, place: Place, portId: string): Promise<Target | undefined> {
  if (!isUuid(portId)) return undefined;
  const port = await tx.sql
    .selectFrom('ports')
    .select(['id', 'network_id', 'task_id', 'instance_id'])
    .select((one) =>
      one.selectFrom('instances').select('pool_id').whereRef('id', '=', 'instance_id').as('pool_id'),
    )
    .where('id', '=', portId)
    .where(isIn(place))
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!port) return undefined;
  if (port.instance_id !== null) await refuseNode(tx, { id: port.instance_id, pool_id: port.pool_id });
  const { external, addresses } = await tx.sql
    .selectFrom('networks')
    .select([
      'external',
      sql<string[]>`array(select host(address) from ip_assignments
        where port_id = ${port.id} order by address)`.as('addresses'),
    ])
    .where('id', '=', port.network_id)
    .executeTakeFirstOrThrow();
  return { id: port.id, task_id: port.task_id, external, addresses };
}
