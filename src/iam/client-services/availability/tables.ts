export interface ProductAvailabilityTables {
  /** What a reseller decided for those of its clients of whom it decided nothing. Without a row: available. */
  product_defaults: { reseller_id: number; product: 'CLOUD' | 'STREAMING'; available: boolean };
  /** What a reseller decided for one client. */
  client_products: { client_id: number; product: 'CLOUD' | 'STREAMING'; available: boolean };
}
