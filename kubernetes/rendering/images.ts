import type { Platform } from '../platform.ts';

/** By what they are for. Those of Slurm fit together in this version of Soperator only. */
const IMAGES = {
  'cluster-autoscaler': 'registry.k8s.io/autoscaling/cluster-autoscaler',
  'fluent-bit': 'cr.fluentbit.io/fluent/fluent-bit:4.0.8',
  'hubble-relay': 'quay.io/cilium/hubble-relay:v1.18.2',
  'hubble-ui': 'quay.io/cilium/hubble-ui:v0.13.3',
  'hubble-ui-backend': 'quay.io/cilium/hubble-ui-backend:v0.13.3',
  slurm: 'cr.eu-north1.nebius.cloud/soperator',
} as const;
export type ImageName = keyof typeof IMAGES;

export function imageOf(name: ImageName, platform: Platform, tag?: string): string {
  const chosen = platform.images?.[name];
  return chosen ?? (tag === undefined ? IMAGES[name] : `${IMAGES[name]}:${tag}`);
}
