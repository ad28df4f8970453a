import type { Platform } from '../platform.ts';
import { type Rendering, rendering } from './objects.ts';

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
