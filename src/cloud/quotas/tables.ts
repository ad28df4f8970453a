export interface QuotaTables {
  quota_usage: { client_id: number; region_id: number; attribute: string; used: number };
}
