import type { Platform, Scope } from '../../../platform.ts';
import { knownSshKeys } from '../../compute/ssh-keys/service.ts';
import type { Catalog } from '../../ground/catalog/service.ts';
import { fileSharesForSlurm } from '../../storage/file-shares/service.ts';
import type { SlurmContext } from './configuration/slurm.ts';
import type { ConfigurationContext } from './configuration/validate.ts';
import type { ClusterUpdate } from './schema.ts';

/** Collects what the rules of the six groups need to know about a cluster and its region. */
export function configurationContext(
  catalog: Catalog,
  { region }: Scope,
  cluster: {
    name: string;
    pods_ip_pool: string;
    pods_ipv6_pool: string | null;
    slurm: SlurmContext | undefined;
  },
): ConfigurationContext {
  return {
    clusterName: cluster.name,
    ddosTemplates: catalog.ddosTemplates(region.id),
    destinationRegionIds: catalog.loggingDestinations(region.id).map((destination) => destination.region_id),
    podsIpPool: cluster.pods_ip_pool,
    podsIpv6Pool: cluster.pods_ipv6_pool,
    ...(cluster.slurm && { slurm: cluster.slurm }),
  };
}

/**
 * Returns the file share and the keys that a request to enable Slurm names. Call it before the transaction begins,
 * which would hold its connection meanwhile.
 */
export async function slurmReferences(
  on: Platform,
  scope: Scope,
  addOns: ClusterUpdate['add_ons'],
): Promise<Pick<SlurmContext, 'fileShare' | 'knownSshKeyIds'> | undefined> {
  const slurm = addOns?.slurm;
  if (!slurm?.enabled) return undefined;
  const { file_share_id: shareId, ssh_key_ids: keyIds = [] } = slurm;
  return {
    fileShare: shareId === undefined ? undefined : await fileSharesForSlurm(on, scope, shareId),
    knownSshKeyIds: keyIds.length === 0 ? new Set() : await knownSshKeys(on, scope, keyIds),
  };
}
