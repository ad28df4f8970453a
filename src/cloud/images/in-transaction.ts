import type { Transaction } from '../../db/database.ts';
import { isIn, type Place } from '../../db/place.ts';
import { blockerOf } from '../../lib/held.ts';
import type { Catalog, Image } from '../catalog/service.ts';

/** An image as volumes are made from it. */
export type ImageSource = Pick<
  Image,
  'id' | 'name' | 'min_disk' | 'min_ram' | 'os_type' | 'architecture' | 'is_baremetal' | 'ssh_key'
> & {
  /** Null when nobody knows. */
  os_distro: string | null;
  os_version: string | null;
  blocker: string | undefined;
};

/**
 * The images of the platform and of the place that volumes can be made from, by id in small letters, kept from being
 * removed until the transaction ends.
 */
export async function findSources(
  tx: Transaction,
  catalog: Pick<Catalog, 'image'>,
  place: Place,
  given: readonly string[],
): Promise<Map<string, ImageSource>> {
  const ids = [...new Set(given.map((id) => id.toLowerCase()))];
  const found = new Map<string, ImageSource>();
  for (const id of ids) {
    const image = catalog.image(place.regionId, id);
    if (image) found.set(id, { ...image, blocker: undefined });
  }
  const others = ids.filter((id) => !found.has(id));
  if (others.length === 0) return found;
  // Shared, so that many volumes may begin at once while the image can't begin to be deleted.
  const rows = await tx.sql
    .selectFrom('images')
    .select(['id', 'name', 'min_disk_gib as min_disk', 'os_type', 'os_distro', 'os_version'])
    .select(['architecture', 'is_baremetal', 'ssh_key', 'status', 'task_id'])
    .where('id', 'in', others)
    .where(isIn(place))
    .orderBy('id')
    .forShare()
    .execute();
  for (const { status, task_id, ...row } of rows) {
    found.set(row.id, { ...row, min_ram: 0, blocker: blockerOf({ status, task_id }, 'active') });
  }
  return found;
}
