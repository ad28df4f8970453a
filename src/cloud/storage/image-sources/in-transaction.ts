import { belongsTo, type Place, type Transaction } from '../../../db/database.ts';
import { blockerOf } from '../../../lib/ids.ts';
import type { Catalog, Image } from '../../ground/catalog/service.ts';

/** An image from which volumes are created. */
export type ImageSource = Pick<
  Image,
  'id' | 'name' | 'min_disk' | 'min_ram' | 'os_type' | 'architecture' | 'is_baremetal' | 'ssh_key'
> & {
  /** Null when unknown. */
  os_distro: string | null;
  os_version: string | null;
  blocker: string | undefined;
};

const GIB = 2 ** 30;

/**
 * Returns the images of the platform and the project from which volumes can be created, by ID in lower case. They are
 * locked against removal until the transaction ends.
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
  // A shared lock: many volumes may be started from an image at once, but its deletion can't start meanwhile.
  const rows = await tx.sql
    .selectFrom('images')
    .select(['id', 'name', 'min_disk_gib as min_disk', 'os_type', 'os_distro', 'os_version'])
    .select(['architecture', 'is_baremetal', 'ssh_key', 'status', 'task_id', 'size_bytes'])
    .where('id', 'in', others)
    .where(belongsTo(place))
    .orderBy('id')
    .forShare()
    .execute();
  for (const { status, task_id, size_bytes, ...row } of rows) {
    // Nobody says how large a disk a downloaded image needs, but as in Cinder the image itself has to fit on it.
    const min_disk = Math.max(row.min_disk, Math.ceil((size_bytes ?? 0) / GIB));
    found.set(row.id, { ...row, min_disk, min_ram: 0, blocker: blockerOf({ status, task_id }, 'active') });
  }
  return found;
}
