import type { GeneratedAlways, JSONColumnType } from 'kysely';
import type { CurrencyCode } from '../../catalog/schema.ts';
import type { ListScope } from '../../dated-lists/schema.ts';

/** What an item costs, before discount and tax; of what has a size, one GiB. */
export interface ListedPrice {
  /** As in the price book: `volume_types.standard`. */
  item: string;
  /** Without it, in all regions. */
  region_id?: number;
  /** Without it, that of the list. */
  currency?: CurrencyCode;
  /** One of the two. A month has 720 hours. */
  per_hour?: number;
  per_month?: number;
}

/** What accounts pay. What a list leaves out is as in the wider scope, and at last as in the catalogue. */
export interface ListTerms {
  currency?: CurrencyCode;
  discount_percent?: number;
  tax_percent?: number;
  visible?: boolean;
  /** A time. */
  trial_until?: string;
  prices?: ListedPrice[];
}

export interface PriceListTables {
  /** The last one of a scope that has begun is in force. None is ever changed. */
  price_lists: {
    id: GeneratedAlways<number>;
    scope: ListScope;
    reseller_id: number | null;
    client_id: number | null;
    /** A full second. */
    valid_from: Date;
    terms: JSONColumnType<ListTerms>;
    /** The user who made it. */
    created_by: number;
    created_at: Date;
  };
}
