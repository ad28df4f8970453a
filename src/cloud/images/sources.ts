import type { Catalog } from '../catalog/catalog.ts';
import { isIn } from '../projects/place.ts';
import { blockerOf } from '../tasks/held.ts';
import type { ImageSource, ImageSources } from '../volumes/sources.ts';

/** What volumes can be made from: images of the platform and those of the project. */
export function imageSources({ catalog }: { catalog: Catalog }): ImageSources {
  return {
    async find(tx, place, given) {
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
    },
  };
}
