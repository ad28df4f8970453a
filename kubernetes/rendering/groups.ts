import type { ClusterSpec } from '../../src/backends/contract/specs.ts';

/* The groups as a cluster's spec has them: without what is null in the API. */

export interface Oidc {
  client_id?: string;
  groups_claim?: string;
  groups_prefix?: string;
  issuer_url?: string;
  required_claims?: Record<string, string>;
  signing_algs?: string[];
  username_claim?: string;
  username_prefix?: string;
}

export interface Cilium {
  cni_exclusive: boolean;
  encryption: boolean;
  hubble_relay: boolean;
  hubble_ui: boolean;
  lb_acceleration: boolean;
  lb_mode: 'dsr' | 'hybrid' | 'snat';
  mask_size: number;
  mask_size_v6: number;
  routing_mode: 'native' | 'tunnel';
  tunnel: '' | 'geneve' | 'vxlan';
}

export interface Slurm {
  enabled: boolean;
  file_share_id?: string;
  ssh_key_ids?: string[];
  worker_count?: number;
}

export interface DdosProfile {
  enabled: boolean;
  fields?: { base_field: number; field_value?: unknown }[];
  profile_template?: number;
  profile_template_name?: string;
}

export interface Logging {
  enabled: boolean;
  destination_region_id?: number;
  topic_name?: string;
  retention_policy?: { period?: number };
}

export interface Groups {
  add_ons?: { slurm?: Slurm };
  authentication?: { oidc?: Oidc };
  autoscaler_config?: Record<string, string>;
  cni?: { provider: 'calico' | 'cilium'; cilium?: Cilium };
  ddos_profile?: DdosProfile;
  logging?: Logging;
}

export const groupsOf = ({ configuration }: Pick<ClusterSpec, 'configuration'>): Groups => configuration;

/** Returns 33 for `v1.33.7`. */
export function minorOf({ version }: Pick<ClusterSpec, 'version'>): number {
  const minor = /^v1\.(\d+)\./.exec(version)?.[1];
  if (minor === undefined) throw new Error(`${version} is not a version of Kubernetes`);
  return Number(minor);
}
