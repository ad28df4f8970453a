import type { Cilium, ClusterConfiguration, Oidc, Slurm } from '../../../../db/json-columns.ts';
import type { LogForwarding } from '../../../../lib/log-forwarding.ts';

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

export type Logging = LogForwarding;

export type GroupName = keyof ClusterConfiguration;

export const GROUP_NAMES: readonly GroupName[] = [
  'add_ons',
  'authentication',
  'autoscaler_config',
  'cni',
  'ddos_profile',
  'logging',
];

export const SLURM_OFF: Slurm = { enabled: false, file_share_id: null, ssh_key_ids: null, worker_count: null };

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
