import { type Catalog, priced } from '../catalog/service.ts';

/** Whether the region has something that may have a price. */
export function isOffered(
  { regions, flavor }: Pick<Catalog, 'regions' | 'flavor'>,
  regionId: number,
  item: string,
): boolean {
  const region = regions.get(regionId);
  if (!region) return false;
  const [volume, share, machine] = [priced.volume(''), priced.fileShare(''), priced.flavor('')];
  const has = (offered: readonly string[], prefix: string) => offered.includes(item.slice(prefix.length));
  if (item.startsWith(volume))
    return !region.available_volume_types || has(region.available_volume_types, volume);
  if (item.startsWith(share)) return has(region.file_share_types ?? [], share);
  if (item.startsWith(machine)) return flavor(regionId, item.slice(machine.length)) !== undefined;
  return true;
}
