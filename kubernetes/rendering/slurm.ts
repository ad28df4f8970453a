import type { ClusterSpec } from '../../src/backends/contract/specs.ts';
import type { Platform } from '../platform.ts';
import { groupsOf, type Slurm } from './groups.ts';
import { type KubernetesObject, type ObjectName, onlyIf, type Rendering } from './objects.ts';
import { slurmCluster } from './slurm-cluster.ts';

export const SLURM_NAMESPACE = 'tradewind-slurm';
/** What the cluster keeps on its file share, each in a folder of its own. */
export const FOLDERS = ['controller-spool', 'jail'] as const;

const volume = (folder: string): ObjectName => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  name: `slurm-${folder}`,
});
const claim = (folder: string): ObjectName => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  name: folder,
  namespace: SLURM_NAMESPACE,
});
const CLUSTER = {
  apiVersion: 'slurm.nebius.ai/v1',
  kind: 'SlurmCluster',
  name: 'slurm',
  namespace: SLURM_NAMESPACE,
};
/** Without the namespace: its owner may have put more into it. */
const NAMES = [...FOLDERS.flatMap((folder) => [volume(folder), claim(folder)]), CLUSTER];

/** Renders a cluster of Soperator, the operator that runs Slurm in Kubernetes. The file share and its data stay. */
export function slurm(spec: ClusterSpec, platform: Platform): Rendering {
  const wanted = groupsOf(spec).add_ons?.slurm;
  const place = platform.slurm;
  if (!wanted?.enabled || !place) return onlyIf(false, () => [], NAMES);
  const path = place.path.replace('{id}', wanted.file_share_id ?? '');
  return onlyIf(
    true,
    () => [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SLURM_NAMESPACE } },
      ...FOLDERS.flatMap((folder) => volumeAndClaim(folder, { server: place.server, path: `${path}/${folder}` })),
      slurmCluster(
        CLUSTER,
        {
          workers: wanted.worker_count ?? 1,
          gpus: place.gpus_per_worker,
          publicKeys: publicKeys(wanted, spec),
        },
        platform,
      ),
    ],
    NAMES,
  );
}

function volumeAndClaim(folder: string, nfs: { server: string; path: string }): KubernetesObject[] {
  const shared = {
    accessModes: ['ReadWriteMany'],
    // Without a class nothing provisions another volume for the claim.
    storageClassName: '',
  };
  // The size of a share is no limit here: NFS has no quota that Kubernetes could set.
  const storage = '1Gi';
  return [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `slurm-${folder}` },
      spec: {
        ...shared,
        capacity: { storage },
        persistentVolumeReclaimPolicy: 'Retain',
        claimRef: { namespace: SLURM_NAMESPACE, name: folder },
        nfs,
      },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: folder, namespace: SLURM_NAMESPACE },
      spec: { ...shared, resources: { requests: { storage } }, volumeName: `slurm-${folder}` },
    },
  ];
}

const publicKeys = ({ ssh_key_ids = [] }: Slurm, { slurmPublicKeys }: ClusterSpec): string[] =>
  ssh_key_ids.flatMap((id) => slurmPublicKeys[id] ?? []).sort();
