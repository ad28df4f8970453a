import { QuotaLimits } from '../catalog/schema.ts';

export type RegionalQuota = keyof QuotaLimits;

/** Quotas of the whole account. The catalogue has no limits for them. */
export const GLOBAL_QUOTAS = { keypair_count: 10_000, project_count: 10_000 };
export type GlobalQuota = keyof typeof GLOBAL_QUOTAS;

/** The region that stands for none. Regions of the catalogue begin with 1. */
export const NO_REGION = 0;

export const REGIONAL_QUOTAS = Object.keys(QuotaLimits.properties) as RegionalQuota[];
export const GLOBAL_NAMES = Object.keys(GLOBAL_QUOTAS) as GlobalQuota[];

/** Quotas that the published answer calls otherwise than the published refusal. */
const PUBLISHED: Partial<Record<string, string>> = { snapshot_count: 'volume_snapshots_count' };

/** Returns the name of a quota in the answers about quotas. */
export const shownName = (quota: string): string => PUBLISHED[quota] ?? quota;
export const limitField = (quota: string): string => `${shownName(quota)}_limit`;
export const usageField = (quota: string): string => `${shownName(quota)}_usage`;
