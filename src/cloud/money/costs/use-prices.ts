import { priced } from '../../ground/catalog/service.ts';
import { type VolumePrice, volumePrice } from '../../ground/prices/formula.ts';
import type { ClientPrices } from '../../ground/prices/service.ts';
import type { UsedType } from './schema.ts';

/** What is used, as it is metered. */
export interface Use {
  type: UsedType;
  sku: string;
  amount: number;
  region_id: number;
}

const ITEMS: Record<UsedType, (sku: string) => string> = {
  baremetal: priced.flavor,
  external_ip: () => priced.publicAddress,
  file_share: priced.fileShare,
  floatingip: () => priced.publicAddress,
  image: () => priced.imageStorage,
  instance: priced.flavor,
  load_balancer: priced.flavor,
  log_index: () => priced.logStorage,
  snapshot: priced.volume,
  volume: priced.volume,
};

/** Returns what the account pays for using it: the same as the previews say. */
export function priceOfUse(prices: ClientPrices, { type, sku, amount, region_id }: Use): VolumePrice {
  return volumePrice(prices.terms, prices.hourPrice(region_id, ITEMS[type](sku)), amount);
}
