import type { ClusterSpec } from '../../src/backends/contract/specs.ts';
import type { Platform } from '../platform.ts';
import { autoscaler } from './autoscaler.ts';
import { cni } from './cilium.ts';
import { groupsOf } from './groups.ts';
import { logging } from './logging.ts';
import { combined, PREFIX, type Rendering, rendering, sorted } from './objects.ts';
import { slurm } from './slurm.ts';

/**
 * Renders the DDoS profile as an annotation of the Service that stands for the cluster's own address, where the
 * platform's DDoS protection reads it. Kubernetes has no object for such a profile. Without the annotation there is no
 * protection.
 */
export function ddos(spec: ClusterSpec): Rendering {
  const profile = groupsOf(spec).ddos_profile;
  const value = profile?.enabled
    ? {
        profile_template: profile.profile_template,
        profile_template_name: profile.profile_template_name,
        fields: profile.fields ?? [],
      }
    : undefined;
  return rendering({
    parts: [
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          name: 'kubernetes',
          namespace: 'default',
          ...(value && { annotations: { [`${PREFIX}/ddos-profile`]: JSON.stringify(sorted(value)) } }),
        },
      },
    ],
  });
}

/** Renders the storage class that claims get which name none, if the platform has one. */
export function storage({ default_storage_class: given }: Platform): Rendering {
  if (!given) return rendering({});
  const { name, provisioner, parameters } = given;
  return rendering({
    objects: [
      {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
        provisioner,
        ...(parameters && { parameters }),
        allowVolumeExpansion: true,
        reclaimPolicy: 'Delete',
        // The volume is made where the pod runs.
        volumeBindingMode: 'WaitForFirstConsumer',
      },
    ],
  });
}

/**
 * Returns everything that a cluster's spec means inside the cluster. The same spec always gives the same objects, with
 * their members in the same order. Authentication is no object: see `authentication.ts`.
 */
export function clusterRendering(spec: ClusterSpec, platform: Platform): Rendering {
  return combined([
    storage(platform),
    cni(spec, platform),
    autoscaler(spec, platform),
    logging(spec, platform),
    slurm(spec, platform),
    ddos(spec),
  ]);
}
