import { sql } from 'kysely';
import type { ClusterNodeSpec } from '../../../../backends/contract/specs.ts';
import type { Transaction } from '../../../../db/database.ts';
import { portSpecs } from '../../../network/ports/tasks.ts';

interface NodeParts {
  id: string;
  pool_id: string;
  name: string;
  port_ids: string[];
  boot_volume_id: string | null;
}

/** Returns the specs of pools' nodes by pool and ID, from their rows in the transaction. Leaves out doomed nodes. */
export async function nodeSpecs(
  tx: Transaction,
  poolIds: readonly string[],
): Promise<Map<string, Record<string, ClusterNodeSpec>>> {
  const { rows } = await sql<NodeParts>`
    select id, pool_id, name,
      array(select ports.id::text from ports where instance_id = instances.id order by position) as port_ids,
      (select volume_id from volume_attachments where instance_id = instances.id and boot_index = 0) as boot_volume_id
    from instances where pool_id = any(${poolIds}::uuid[]) and task_state is distinct from 'deleting'
    order by id`.execute(tx.sql);
  const ports = await portSpecs(
    tx,
    rows.flatMap(({ port_ids }) => port_ids),
  );
  const pools = new Map<string, Record<string, ClusterNodeSpec>>();
  for (const { id, pool_id, name, port_ids, boot_volume_id } of rows) {
    const own = port_ids.flatMap((portId, position) => {
      const port = ports.get(portId);
      return port ? [[portId, { ...port, position }] as const] : [];
    });
    const node = {
      name,
      ...(boot_volume_id !== null && { bootVolumeId: boot_volume_id }),
      ports: Object.fromEntries(own),
    };
    pools.set(pool_id, { ...pools.get(pool_id), [id]: node });
  }
  return pools;
}
