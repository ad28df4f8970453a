import type { RegionalQuota } from '../../../lib/resources.ts';
import { QuotaLimits } from '../catalog/schema.ts';

/** Quotas of the whole account. The catalogue has no limits for them. */
export const GLOBAL_QUOTAS = { keypair_count: 10_000, project_count: 10_000 };
export type GlobalQuota = keyof typeof GLOBAL_QUOTAS;

/** The region that stands for none. Regions of the catalogue begin with 1. */
export const NO_REGION = 0;

export const REGIONAL_QUOTAS = Object.keys(QuotaLimits.properties) as RegionalQuota[];
export const GLOBAL_NAMES = Object.keys(GLOBAL_QUOTAS) as GlobalQuota[];

/** Quotas of the published contract that nothing here counts. Accounts may ask for more of them, as of others. */
export const UNCOUNTED_REGIONAL = [
  'baremetal_basic_count',
  'baremetal_gpu_a100_count',
  'baremetal_gpu_count',
  'baremetal_gpu_h100_count',
  'baremetal_gpu_h200_count',
  'baremetal_gpu_l40s_count',
  'baremetal_hf_count',
  'baremetal_infrastructure_count',
  'baremetal_network_count',
  'baremetal_storage_count',
  'caas_container_count',
  'caas_cpu_count',
  'caas_gpu_count',
  'caas_ram_size',
  'cpu_count',
  'dbaas_postgres_cluster_count',
  'external_ip_count',
  'faas_cpu_count',
  'faas_function_count',
  'faas_namespace_count',
  'faas_ram_size',
  'gpu_count',
  'gpu_virtual_a100_count',
  'gpu_virtual_h100_count',
  'gpu_virtual_h200_count',
  'gpu_virtual_l40s_count',
  'image_size',
  'ipu_count',
  'ram',
  'registry_count',
  'registry_storage',
  'sfs_size',
  'shared_vm_count',
  'snapshot_schedule_count',
  'volume_size',
  'volume_snapshots_size',
];
export const UNCOUNTED_GLOBAL = [
  'inference_cpu_millicore_count',
  'inference_gpu_a100_count',
  'inference_gpu_h100_count',
  'inference_gpu_l40s_count',
  'inference_instance_count',
  'inference_public_model_api_key_count',
];

/** Quotas that the published answer calls otherwise than the published refusal. */
const PUBLISHED: Partial<Record<string, string>> = { snapshot_count: 'volume_snapshots_count' };

/** Returns the name of a quota in the answers about quotas. */
export const shownName = (quota: string): string => PUBLISHED[quota] ?? quota;
export const limitField = (quota: string): string => `${shownName(quota)}_limit`;
export const usageField = (quota: string): string => `${shownName(quota)}_usage`;
