import type { DdosProfile } from '../../../../lib/ddos-profile.ts';
import type { LogForwarding } from '../../../../lib/log-forwarding.ts';
import type { CNI_PROVIDERS, LB_MODES, ROUTING_MODES, SIGNING_ALGORITHMS, TUNNELS } from './schema.ts';

/** Slurm's settings. The last three fields are null while it is off. */
export interface Slurm {
  enabled: boolean;
  file_share_id: string | null;
  ssh_key_ids: string[] | null;
  worker_count: number | null;
}

export const NO_OIDC: Oidc = {
  client_id: null,
  groups_claim: null,
  groups_prefix: null,
  issuer_url: null,
  required_claims: null,
  signing_algs: null,
  username_claim: null,
  username_prefix: null,
};

export interface Oidc {
  client_id: string | null;
  groups_claim: string | null;
  groups_prefix: string | null;
  issuer_url: string | null;
  required_claims: Record<string, string> | null;
  signing_algs: (typeof SIGNING_ALGORITHMS)[number][] | null;
  username_claim: string | null;
  username_prefix: string | null;
}

export interface Cilium {
  cni_exclusive: boolean;
  encryption: boolean;
  hubble_relay: boolean;
  hubble_ui: boolean;
  lb_acceleration: boolean;
  lb_mode: (typeof LB_MODES)[number];
  mask_size: number;
  mask_size_v6: number;
  routing_mode: (typeof ROUTING_MODES)[number];
  tunnel: (typeof TUNNELS)[number];
}

/** `cilium` is an object if the provider is `cilium`, and null otherwise. */
export interface Cni {
  provider: (typeof CNI_PROVIDERS)[number];
  cilium: Cilium | null;
}

export type Logging = LogForwarding;

/** The configuration of a cluster, as it is stored and as answers show it. */
export interface ClusterConfiguration {
  add_ons: { slurm: Slurm };
  authentication: { oidc: Oidc | null } | null;
  /** Overrides only. Null means the same as an empty map. */
  autoscaler_config: Record<string, string> | null;
  cni: Cni | null;
  ddos_profile: DdosProfile | null;
  logging: Logging | null;
}

export type GroupName = keyof ClusterConfiguration;

export const GROUP_NAMES: readonly GroupName[] = [
  'add_ons',
  'authentication',
  'autoscaler_config',
  'cni',
  'ddos_profile',
  'logging',
];

export const SLURM_OFF: Slurm = {
  enabled: false,
  file_share_id: null,
  ssh_key_ids: null,
  worker_count: null,
};

export const CILIUM_DEFAULTS: Cilium = {
  cni_exclusive: true,
  encryption: false,
  hubble_relay: false,
  hubble_ui: false,
  lb_acceleration: false,
  lb_mode: 'snat',
  mask_size: 24,
  mask_size_v6: 120,
  routing_mode: 'tunnel',
  tunnel: 'geneve',
};

/** The configuration of a cluster for which the client chose nothing. */
export const DEFAULT_CONFIGURATION: ClusterConfiguration = {
  add_ons: { slurm: SLURM_OFF },
  authentication: { oidc: null },
  autoscaler_config: {},
  cni: { provider: 'calico', cilium: null },
  ddos_profile: null,
  logging: null,
};
