import type { Transaction } from '../../../db/database.ts';
import type { ClusterConfiguration } from '../../../db/json-columns.ts';
import { type FieldProblem, InvalidError } from '../../../lib/errors.ts';
import type { Platform, Scope } from '../../../platform.ts';
import * as sshKeys from '../../compute/ssh-keys/service.ts';
import type { Catalog } from '../../ground/catalog/service.ts';
import { fileSharesForSlurm, keepForSlurm } from '../../storage/file-shares/service.ts';
import type { SlurmContext } from './configuration/slurm.ts';
import type { ConfigurationContext } from './configuration/validate.ts';
import { haveGpu } from './pools.ts';
import type { ClusterUpdate } from './schema.ts';

/** Collects what the rules of the six groups need to know about a cluster and its region. */
export function configurationContext(
  catalog: Catalog,
  { region }: Scope,
  cluster: {
    name: string;
    version: string;
    pods_ip_pool: string;
    pods_ipv6_pool: string | null;
    vast_nfs_enabled: boolean;
    pools: readonly { flavor_id: string }[];
  },
  slurm: SlurmReferences | undefined,
): ConfigurationContext {
  return {
    clusterName: cluster.name,
    ddosTemplates: catalog.ddosTemplates(region.id),
    destinationRegionIds: catalog.loggingDestinations(region.id).map((destination) => destination.region_id),
    podsIpPool: cluster.pods_ip_pool,
    podsIpv6Pool: cluster.pods_ipv6_pool,
    ...(slurm && {
      slurm: {
        ...slurm,
        kubernetesVersion: cluster.version,
        vastNfsEnabled: cluster.vast_nfs_enabled,
        hasGpuPool: haveGpu(cluster.pools),
      },
    }),
  };
}

/** The file share and the keys that a request to enable Slurm names. */
type SlurmReferences = Pick<SlurmContext, 'fileShare' | 'knownSshKeyIds'>;

/**
 * Returns the file share and the keys that a request to enable Slurm names. Call it before the transaction begins,
 * which would hold its connection meanwhile.
 */
export async function slurmReferences(
  on: Platform,
  scope: Scope,
  addOns: ClusterUpdate['add_ons'],
): Promise<SlurmReferences | undefined> {
  const slurm = addOns?.slurm;
  if (!slurm?.enabled) return undefined;
  const { file_share_id: shareId, ssh_key_ids: keyIds = [] } = slurm;
  return {
    fileShare: shareId === undefined ? undefined : await fileSharesForSlurm(on, scope, shareId),
    knownSshKeyIds: keyIds.length === 0 ? new Set() : await sshKeys.knownSshKeys(on, scope, keyIds),
  };
}

/**
 * Locks keys that a cluster is about to use against deletion: they may have been deleted since they were checked.
 * @throws InvalidError
 */
export async function keepKeys(
  tx: Transaction,
  scope: Scope,
  { keypair, slurmKeyIds }: { keypair?: string; slurmKeyIds: readonly string[] },
): Promise<void> {
  const ids = slurmKeyIds.map((id) => id.toLowerCase());
  const names = keypair === undefined ? [] : [keypair];
  if (ids.length === 0 && names.length === 0) return;
  const kept = await sshKeys.keep(tx, scope, { names, ids });
  const problems: FieldProblem[] = [
    ...names
      .filter((name) => !kept.some((key) => key.name === name))
      .map((name) => ({ field: 'keypair', message: `SSH key ${name} was deleted. Choose another one.` })),
    ...ids.flatMap((id, index) =>
      kept.some((key) => key.id === id)
        ? []
        : [
            {
              field: `add_ons.slurm.ssh_key_ids.${index}`,
              message: `SSH key ${id} was deleted. Leave it out.`,
            },
          ],
    ),
  ];
  if (problems.length > 0) throw new InvalidError(problems);
}

/** Locks the file share: it may be changing or on its way out since it was checked. */
export async function keepShare(tx: Transaction, scope: Scope, { add_ons }: ClusterConfiguration): Promise<void> {
  const id = add_ons.slurm.file_share_id;
  if (id === null || (await keepForSlurm(tx, scope, id))) return;
  throw new InvalidError({
    'add_ons.slurm.file_share_id': [`File share ${id} is being changed or deleted. Choose another one.`],
  });
}

/** Returns the keys that are new. The cluster itself protects the keys that stay. */
export function addedKeys(current: ClusterConfiguration, wanted: ClusterConfiguration): string[] {
  const standing = new Set(current.add_ons.slurm.ssh_key_ids?.map((id) => id.toLowerCase()));
  return wanted.add_ons.slurm.ssh_key_ids?.filter((id) => !standing.has(id.toLowerCase())) ?? [];
}
