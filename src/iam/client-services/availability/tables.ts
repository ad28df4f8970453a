export interface ProductAvailabilityTables {
  /** What a reseller decided for all its clients but those in the next table. Without a row: available. */
  product_defaults: { reseller_id: number; product: 'CLOUD' | 'STREAMING'; available: boolean };
  /** What a reseller decided for one client. */
  client_products: { client_id: number; product: 'CLOUD' | 'STREAMING'; available: boolean };
}
