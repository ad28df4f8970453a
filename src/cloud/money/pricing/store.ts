import { sql } from 'kysely';
import { belongsTo, type Place, type Sql } from '../../../db/database.ts';
import type { VolumeType } from '../../../lib/volume-types.ts';

/** Returns whether addresses of the subnet are public; undefined for a subnet that the project can't use. */
export async function subnetToReserve(db: Sql, { projectId, regionId }: Place, id: string) {
  return db
    .selectFrom('subnets')
    .innerJoin('networks', 'networks.id', 'subnets.network_id')
    .select(['external', sql<boolean>`family(cidr) = 4`.as('ipv4')])
    .where('subnets.id', '=', id)
    .where('networks.region_id', '=', regionId)
    .where(({ or, eb }) => or([eb('networks.project_id', '=', projectId), eb('external', '=', true)]))
    .executeTakeFirst();
}

/** Returns how many public IPv4 addresses a port has; undefined for a port that isn't there. */
export async function publicAddressesOfPort(db: Sql, place: Place, id: string): Promise<number | undefined> {
  const port = await db
    .selectFrom('ports')
    .innerJoin('networks', 'networks.id', 'ports.network_id')
    .select(
      sql<number>`(select count(*) from ip_assignments
        where port_id = ports.id and networks.external and family(address) = 4)`.as('count'),
    )
    .where('ports.id', '=', id)
    .where(belongsTo(place, 'ports'))
    .executeTakeFirst();
  return port?.count;
}

export interface PartsOfInstance {
  flavor_id: string;
  volumes: { volume_type: VolumeType; size_gib: number }[];
  public_addresses: number;
  floating_ips: number;
}

export async function partsOfInstance(db: Sql, place: Place, id: string): Promise<PartsOfInstance | undefined> {
  return db
    .selectFrom('instances')
    .select('flavor_id')
    .select(
      sql<PartsOfInstance['volumes']>`coalesce((
        select jsonb_agg(jsonb_build_object('volume_type', volume_type, 'size_gib', size_gib))
        from volume_attachments join volumes on volumes.id = volume_id where instance_id = instances.id
      ), '[]')`.as('volumes'),
    )
    .select(
      sql<number>`(select count(*) from ports join networks on networks.id = ports.network_id
        join ip_assignments on port_id = ports.id
        where instance_id = instances.id and external and family(address) = 4)`.as('public_addresses'),
    )
    .select(
      sql<number>`(select count(*) from ports join floating_ips on floating_ips.port_id = ports.id
        where instance_id = instances.id)`.as('floating_ips'),
    )
    .where('instances.id', '=', id)
    .where(belongsTo(place, 'instances'))
    .executeTakeFirst();
}

export async function snapshotsById(
  db: Sql,
  place: Place,
  ids: readonly string[],
): Promise<Map<string, { sizeGib: number; volumeType: VolumeType }>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('snapshots')
    .select(['id', 'size_gib', 'volume_type'])
    .where('id', 'in', ids)
    .where(belongsTo(place))
    .execute();
  return new Map(rows.map((row) => [row.id, { sizeGib: row.size_gib, volumeType: row.volume_type }]));
}
