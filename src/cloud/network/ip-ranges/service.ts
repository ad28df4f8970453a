import type { Platform } from '../../../platform.ts';
import { rangesOf } from './store.ts';

/** Returns the ranges of the external networks of all regions, each once. */
export const listEgressRanges = (on: Platform): Promise<string[]> =>
  rangesOf(
    on.database.sql,
    [...on.catalog.regions.values()].flatMap(({ external_network_id }) => external_network_id ?? []),
  );
