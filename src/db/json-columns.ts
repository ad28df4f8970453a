/* What JSON columns hold, for `tables.ts` and for the features that read and write them. */
import type { DdosProfile } from '../lib/ddos-profile.ts';
import type { LogForwarding } from '../lib/log-forwarding.ts';

/** The request for a task, as stored and shown. Options that weren't given are left out. */
export interface TaskData {
  task_name: 'transcription' | 'content-moderation';
  client_id: number;
  url: string;
  category?: 'nsfw' | 'hard_nudity' | 'soft_nudity' | 'sport';
  audio_language?: string;
  subtitles_language?: string;
  stop_objects?: string;
  client_user_id?: string;
  client_entity_data?: string;
}

/** What an instance keeps of its flavor: the values from when it got the flavor. */
export interface KeptFlavor {
  flavor_id: string;
  vcpus: number;
  ram: number;
  architecture: 'aarch64' | 'x86_64';
  os_type: 'linux' | 'windows';
  hardware_description: Record<string, string>;
  resource_class: string | null;
}

/** Slurm's settings. The last three fields are null while it is off. */
export interface Slurm {
  enabled: boolean;
  file_share_id: string | null;
  ssh_key_ids: string[] | null;
  worker_count: number | null;
}

type SigningAlgorithm = 'ES256' | 'ES384' | 'ES512' | 'PS256' | 'PS384' | 'PS512' | 'RS256' | 'RS384' | 'RS512';

export interface Oidc {
  client_id: string | null;
  groups_claim: string | null;
  groups_prefix: string | null;
  issuer_url: string | null;
  required_claims: Record<string, string> | null;
  signing_algs: SigningAlgorithm[] | null;
  username_claim: string | null;
  username_prefix: string | null;
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

/** `cilium` is an object if the provider is `cilium`, and null otherwise. */
export interface Cni {
  provider: 'calico' | 'cilium';
  cilium: Cilium | null;
}

/** The configuration of a cluster, as it is stored and as answers show it. */
export interface ClusterConfiguration {
  add_ons: { slurm: Slurm };
  authentication: { oidc: Oidc | null } | null;
  /** Overrides only. Null means the same as an empty map. */
  autoscaler_config: Record<string, string> | null;
  cni: Cni | null;
  ddos_profile: DdosProfile | null;
  logging: LogForwarding | null;
}

export interface KeptLbFlavor {
  flavor_id: string;
  vcpus: number;
  ram: number;
}

export interface SessionPersistence {
  type: 'APP_COOKIE' | 'HTTP_COOKIE' | 'SOURCE_IP';
  cookie_name: string | null;
  persistence_granularity: string | null;
  persistence_timeout: number | null;
}

export interface HealthMonitor {
  id: string;
  type: 'HTTP' | 'HTTPS' | 'K8S' | 'PING' | 'TCP' | 'TLS-HELLO' | 'UDP-CONNECT';
  admin_state_up: boolean;
  delay: number;
  timeout: number;
  max_retries: number;
  max_retries_down: number;
  http_method: 'CONNECT' | 'DELETE' | 'GET' | 'HEAD' | 'OPTIONS' | 'PATCH' | 'POST' | 'PUT' | 'TRACE' | null;
  http_version: '1.0' | '1.1' | null;
  url_path: string | null;
  expected_codes: string | null;
  domain_name: string | null;
}

export interface ListenerUser {
  username: string;
  encrypted_password: string;
}

/** An address from which a port may send besides its own. By default, its packets have the port's hardware address. */
export interface AddressPair {
  ip_address: string;
  mac_address?: string;
}

export interface StaticRoute {
  destination: string;
  nexthop: string;
}

/** By the names of the answer: `vm_count_limit`. */
export type LimitFields = Record<string, number>;

/** As a client sends it. */
export interface RequestedLimits {
  global_limits?: LimitFields;
  regional_limits?: ({ region_id: number } & LimitFields)[];
}

/** By name for all regions, or by region and name: `1 vm_count`. */
export type ListedLimits = Record<string, number>;

type Currency = 'AZN' | 'EUR' | 'USD';

/** What an item costs, before discount and tax; of what has a size, one GiB. */
export interface ListedPrice {
  /** As in the price book: `volume_types.standard`. */
  item: string;
  /** Without it, in all regions. */
  region_id?: number;
  /** Without it, that of the list. */
  currency?: Currency;
  /** One of them; `per_gb` for traffic. A month has 720 hours. */
  per_hour?: number;
  per_month?: number;
  per_gb?: number;
}

/** What accounts pay. What a list leaves out is as in the wider scope, and at last as in the catalogue. */
export interface ListTerms {
  currency?: Currency;
  discount_percent?: number;
  tax_percent?: number;
  visible?: boolean;
  /** A time. */
  trial_until?: string;
  prices?: ListedPrice[];
  /** Of wholesale: how much of it lists of the reseller have to ask for at least. */
  floor_percent?: number;
}

/** Who is on an invoice, whichever side. Countries are ISO 3166-1 codes. */
export interface BillingParty {
  company: string;
  address: string;
  country: string;
  vat_id?: string;
}

/** Whom VAT goes by: what the other side has confirmed of a party. Changes by the party itself leave the VAT ID out. */
interface Taxed {
  vat?: { country: string; vat_id?: string };
}

export interface BillingProfile extends BillingParty, Taxed {
  email?: string;
}

/** Amounts are decimal texts. */
export interface TaxSum {
  tax_percent: string;
  reverse_charge: boolean;
  net: string;
  vat: string;
  gross: string;
}

export interface CreditedLine {
  line: number;
  amount: string;
}

export interface IssuerSettings extends BillingParty, Taxed {
  /** Percentages by country. */
  vat_rates: { country: string; percent: number }[];
  /** Whether companies in other countries owe the tax themselves. */
  reverse_charge: boolean;
  /** What numbers of invoices begin with. */
  invoice_prefix: string;
  /** Where the reseller gets the platform's invoices. */
  email?: string;
}

/** What the reports show of a resource besides its name and tags, by its type. */
export interface UsedDetails {
  ip_address?: string;
  port_id?: string;
  subnet_id?: string;
  network_id?: string;
  attached_to_vm?: string | null;
  source_volume_uuid?: string;
  /** In bytes; null if unknown. */
  size?: number | null;
}

/** What is said of one kind of thing, or of one project: how much of it is left. */
export interface DeletionStep {
  kind: string;
  /** The ID of the project, or of the account. */
  id: string;
  state: 'waiting' | 'doing' | 'removed';
  doing: string | null;
}
