import { sql } from 'kysely';
import type { Json } from '../../../../backends/contract/backend.ts';
import type { Sql } from '../../../../db/database.ts';

/** What belongs to the infrastructure of an instance: a machine, or the cluster whose node it is. */
interface Measured {
  kind: 'cluster' | 'machine';
  ownerId: string;
  /** What the backend calls it. */
  handle: Json;
  /** Devices of its disks. */
  devices: string[];
}

export async function findMeasured(db: Sql, instanceId: string): Promise<Measured> {
  const { rows } = await sql<Measured>`
    select owner.kind, owner.id as "ownerId", wants.handle,
      array(select device from volume_attachments where instance_id = ${instanceId} order by device) as devices
    from (
      select case when cluster_id is null then 'machine' else 'cluster' end as kind,
        coalesce(cluster_id, instances.id) as id
      from instances left join kubernetes_pools on kubernetes_pools.id = pool_id where instances.id = ${instanceId}
    ) as owner
    left join wants on wants.kind = owner.kind and wants.id = owner.id`.execute(db);
  const [row] = rows;
  return row ?? { kind: 'machine', ownerId: instanceId, handle: null, devices: [] };
}
