import { VOLUME_TYPES } from '../../lib/volume-types.ts';
import type { PriceBook } from '../catalog/service.ts';
import type { UsedType } from '../costs/tables.ts';
import { type VolumePrice, volumePrice } from './formula.ts';

/** What is used, as it is metered. */
export interface Use {
  type: UsedType;
  sku: string;
  amount: number;
  region_id: number;
}

/** Returns what the client pays for using it by a price book: the same as the previews say. */
export function priceOfUse(book: PriceBook, clientId: number, use: Use): VolumePrice {
  const terms = book.clientTerms(clientId);
  const { sku, amount, region_id: region } = use;
  const { currency } = terms;
  const units: Record<UsedType, () => string | undefined> = {
    baremetal: () => book.flavorPrice(region, sku, currency),
    external_ip: () => book.publicAddressPrice(region, currency),
    file_share: () => book.fileSharePrice(region, sku, currency),
    floatingip: () => book.publicAddressPrice(region, currency),
    image: () => book.imageStoragePrice(region, currency),
    instance: () => book.flavorPrice(region, sku, currency),
    load_balancer: () => book.flavorPrice(region, sku, currency),
    log_index: () => book.logStoragePrice(region, currency),
    snapshot: () => ofVolumes(book, use, currency),
    volume: () => ofVolumes(book, use, currency),
  };
  return volumePrice(terms, units[use.type](), amount);
}

function ofVolumes(book: PriceBook, { sku, region_id }: Use, currency: 'AZN' | 'EUR' | 'USD') {
  const type = VOLUME_TYPES.find((known) => known === sku);
  return type && book.volumePrice(region_id, type, currency);
}
