import type { Database } from '../../../db/database.ts';
import type { Catalog } from '../../ground/catalog/service.ts';
import { rangesOf } from './store.ts';

export interface IpRanges {
  /** Returns the ranges of the external networks of all regions, each once. */
  egress(): Promise<string[]>;
}

export function createIpRanges({ database, catalog }: { database: Database; catalog: Catalog }): IpRanges {
  return {
    egress: () =>
      rangesOf(
        database.sql,
        [...catalog.regions.values()].flatMap(({ external_network_id }) => external_network_id ?? []),
      ),
  };
}
