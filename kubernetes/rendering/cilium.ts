import type { ClusterSpec } from '../../src/backends/contract/specs.ts';
import type { Platform } from '../platform.ts';
import { type Cilium, groupsOf } from './groups.ts';
import { hubble } from './hubble.ts';
import { combined, hashed, type KubernetesObject, type Rendering, rendering, SYSTEM_NAMESPACE } from './objects.ts';

/**
 * Renders the settings of Cilium, whoever installed it: our keys of its ConfigMap, and a restart of agents and operator
 * when they change. Node masks and the provider can't change in place; the API refuses that. With Calico there is
 * nothing to render, since the API has no settings for it.
 */
export function cni(spec: ClusterSpec, platform: Platform): Rendering {
  const { provider, cilium } = groupsOf(spec).cni ?? {};
  if (provider !== 'cilium' || !cilium) return rendering({});
  const data = ciliumConfig(cilium, spec);
  const annotations = hashed(data);
  return combined([
    rendering({
      objects: [
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'cilium-config', namespace: SYSTEM_NAMESPACE },
          data,
        },
      ],
      parts: [restarted('DaemonSet', 'cilium', annotations), restarted('Deployment', 'cilium-operator', annotations)],
    }),
    hubble(cilium, platform),
  ]);
}

/** Keys and values as in the template cilium-configmap.yaml of Cilium's chart, since 1.14. Every value is a text. */
function ciliumConfig(cilium: Cilium, { pods }: ClusterSpec): Record<string, string> {
  const native = cilium.routing_mode === 'native';
  return {
    'bpf-lb-acceleration': cilium.lb_acceleration ? 'native' : 'disabled',
    // Only Geneve carries the original address through a tunnel.
    'bpf-lb-dsr-dispatch': cilium.tunnel === 'geneve' ? 'geneve' : 'opt',
    'bpf-lb-mode': cilium.lb_mode,
    'cluster-pool-ipv4-cidr': pods.ipv4,
    'cluster-pool-ipv4-mask-size': String(cilium.mask_size),
    ...(pods.ipv6 !== undefined && {
      'cluster-pool-ipv6-cidr': pods.ipv6,
      'cluster-pool-ipv6-mask-size': String(cilium.mask_size_v6),
    }),
    'cni-exclusive': String(cilium.cni_exclusive),
    'enable-hubble': String(cilium.hubble_relay),
    'enable-ipv4': 'true',
    'enable-ipv6': String(pods.ipv6 !== undefined),
    'enable-wireguard': String(cilium.encryption),
    ...(cilium.hubble_relay && { 'hubble-disable-tls': 'true', 'hubble-listen-address': ':4244' }),
    ipam: 'cluster-pool',
    ...(native && {
      'ipv4-native-routing-cidr': pods.ipv4,
      ...(pods.ipv6 !== undefined && { 'ipv6-native-routing-cidr': pods.ipv6 }),
    }),
    // Load balancing by Cilium, on which the three `bpf-lb` keys depend.
    'kube-proxy-replacement': 'true',
    'routing-mode': cilium.routing_mode,
    ...(cilium.tunnel !== '' && { 'tunnel-protocol': cilium.tunnel }),
  };
}

function restarted(kind: string, name: string, annotations: Record<string, string>): KubernetesObject {
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, namespace: SYSTEM_NAMESPACE },
    spec: { template: { metadata: { annotations } } },
  };
}
