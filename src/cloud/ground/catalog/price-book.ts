import type { CatalogContent, CurrencyCode, Image } from './schema.ts';

/** What a client pays in addition to the price book. The rates are decimal texts. */
export interface PriceTerms {
  currency: CurrencyCode;
  /** Percentage: '17' adds 17 %. */
  taxPercent: string;
  /** Fraction: '0.16' takes off 16 %. */
  discount: string;
  visibility: 'show' | 'hide';
  /** Lists of flavors and images show prices of 0. */
  trial: boolean;
}

/** Names of what has a price: as in `price-book.yaml`, joined by a point where there are several. */
export const priced = {
  volume: (typeName: string) => `volume_types.${typeName}`,
  fileShare: (typeName: string) => `file_share_types.${typeName}`,
  flavor: (flavorId: string) => `flavors.${flavorId}`,
  /** The use of an operating system. */
  image: (osType: Image['os_type']) => `images.${osType}`,
  publicAddress: 'public_ipv4',
  /** Keeping images that projects made. */
  imageStorage: 'image_storage',
  logStorage: 'log_storage',
  ddosProtection: 'ddos_protection',
};

export interface PriceBook {
  /**
   * Returns what an item costs for one hour, before discount and tax, as a decimal text; undefined where the book has no
   * price. What has a size costs so much for one GiB.
   */
  hourPrice(regionId: number, item: string, currency: CurrencyCode): string | undefined;
  /** Returns the regions and names of everything that has a price in the currency. */
  pricedItems(currency: CurrencyCode): readonly { regionId: number; item: string }[];
  clientTerms(clientId: number): PriceTerms;
}

type Content = CatalogContent['price-book.yaml'];

/** Builds the look-ups for checked content. */
export function priceBookOf({ prices, default_terms: defaultTerms, clients }: Content): PriceBook {
  const lists = new Map(prices.map((list) => [`${list.region_id} ${list.currency}`, hourPrices(list)]));
  const usual = termsOf(defaultTerms);
  const terms = new Map(
    clients.map(({ client_id: id, ...own }) => [id, termsOf({ ...defaultTerms, ...own })]),
  );
  return {
    hourPrice: (regionId, item, currency) => lists.get(`${regionId} ${currency}`)?.get(item),
    pricedItems: (currency) =>
      prices
        .filter((list) => list.currency === currency)
        .flatMap(({ region_id: regionId }) =>
          [...(lists.get(`${regionId} ${currency}`)?.keys() ?? [])].map((item) => ({ regionId, item })),
        ),
    clientTerms: (clientId) => terms.get(clientId) ?? usual,
  };
}

/** Returns the prices of one region and currency by item. */
function hourPrices({ region_id: _region, currency: _currency, ...list }: Content['prices'][number]) {
  return new Map(
    Object.entries(list).flatMap(([group, price]): [string, string][] =>
      typeof price === 'string'
        ? [[group, price]]
        : Object.entries(price).map(([name, one]) => [`${group}.${name}`, one]),
    ),
  );
}

function termsOf({ tax_percent: taxPercent, trial = false, ...rest }: Content['default_terms']): PriceTerms {
  return Object.freeze({ ...rest, taxPercent, trial });
}
