import type { CatalogContent, CurrencyCode, Image, VolumeTypeName } from './schema.ts';

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

/**
 * What things cost for one hour, before discount and tax, as decimal texts; undefined where the book has no price. What
 * has a size costs so much for one GiB.
 */
export interface PriceBook {
  volumePrice(regionId: number, typeName: VolumeTypeName, currency: CurrencyCode): string | undefined;
  /** Price of a machine, or of the use of an operating system. */
  flavorPrice(regionId: number, flavorId: string, currency: CurrencyCode): string | undefined;
  imagePrice(regionId: number, osType: Image['os_type'], currency: CurrencyCode): string | undefined;
  /** Price of a public IPv4 address. */
  publicAddressPrice(regionId: number, currency: CurrencyCode): string | undefined;
  fileSharePrice(regionId: number, typeName: string, currency: CurrencyCode): string | undefined;
  /** Price of keeping images that projects made. */
  imageStoragePrice(regionId: number, currency: CurrencyCode): string | undefined;
  /** Price of keeping logs. */
  logStoragePrice(regionId: number, currency: CurrencyCode): string | undefined;
  /** Price of a DDoS profile. */
  ddosProtectionPrice(regionId: number, currency: CurrencyCode): string | undefined;
  clientTerms(clientId: number): PriceTerms;
}

type Content = CatalogContent['price-book.yaml'];

/** Builds the look-ups for checked content. */
export function priceBookOf({ prices, default_terms: defaultTerms, clients }: Content): PriceBook {
  const lists = new Map(prices.map((list) => [`${list.region_id} ${list.currency}`, list]));
  const flavors = new Map([...lists].map(([key, list]) => [key, new Map(Object.entries(list.flavors))]));
  const usual = termsOf(defaultTerms);
  const terms = new Map(
    clients.map(({ client_id: id, ...own }) => [id, termsOf({ ...defaultTerms, ...own })]),
  );
  const list = (regionId: number, currency: CurrencyCode) => lists.get(`${regionId} ${currency}`);

  return {
    volumePrice: (regionId, typeName, currency) => list(regionId, currency)?.volume_types[typeName],
    flavorPrice: (regionId, flavorId, currency) => flavors.get(`${regionId} ${currency}`)?.get(flavorId),
    imagePrice: (regionId, osType, currency) => list(regionId, currency)?.images[osType],
    publicAddressPrice: (regionId, currency) => list(regionId, currency)?.public_ipv4,
    fileSharePrice(regionId, typeName, currency) {
      const types = list(regionId, currency)?.file_share_types;
      return typeName === 'standard' || typeName === 'vast' ? types?.[typeName] : undefined;
    },
    imageStoragePrice: (regionId, currency) => list(regionId, currency)?.image_storage,
    logStoragePrice: (regionId, currency) => list(regionId, currency)?.log_storage,
    ddosProtectionPrice: (regionId, currency) => list(regionId, currency)?.ddos_protection,
    clientTerms: (clientId) => terms.get(clientId) ?? usual,
  };
}

function termsOf({ tax_percent: taxPercent, trial = false, ...rest }: Content['default_terms']): PriceTerms {
  return Object.freeze({ ...rest, taxPercent, trial });
}
