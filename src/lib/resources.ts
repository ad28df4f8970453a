import type { ActionType, ApiGroup } from './published-names.ts';

/*
 * Each kind of resource has one card. To add a kind, add a card. These lists derive from the cards: the log of user
 * actions, events, versions, quotas, what projects keep, deletions, tags. Cards are data; the feature has the behaviour.
 */

/** The rows of a project that a deletion of the project removes one by one. All texts are SQL. */
interface Removal {
  /** Kinds of a higher stage wait for those of lower ones, which use them. */
  stage: number;
  /** What deletions call the kind, if not by the word of its events. */
  as?: string;
  /** The rows, if not those of the card's table. */
  from?: string;
  /** What its use case knows it by; `id` by default. */
  key?: string;
  /** Those of the rows that are kept in the project and not deleted with something else; all by default. */
  own?: string;
  /** Whether a task holds it, whose end changes or deletes it; `task_id is not null` by default. */
  held?: string;
  region?: string;
  /** The user who alone may delete it. */
  user?: string;
}

interface Quota {
  /** As published. */
  name: string;
  /** What the shipped catalogue allows an account in a region. */
  standard: number;
  /** SQL: the rows it counts, with `project_id` and `region_id`, if not the kept rows of the card's table. */
  counts?: string;
}

export interface Card {
  /** One of it, as sentences have it, and several. */
  one: string;
  many: string;
  /** Its rows, if it has a table of its own. */
  table?: string;
  /** Whether the rows have revisions, so that changes can be asked for with `If-Match`. */
  revised?: boolean;
  /** Its word in the types and subjects of events. */
  word: string;
  /** The parts of paths after the version that lead to it. */
  paths?: readonly string[];
  /** The parts of paths below another kind's that lead to it; with that kind's part where several have the word. */
  below?: readonly string[];
  params?: readonly string[];
  /** What the last part of a path does, where it differs from other kinds. `group`: of the log, if it isn't the kind's own. */
  actions?: Readonly<Record<string, { type: ActionType; group?: ApiGroup }>>;
  /** The verbs of events that no request causes, each with what causes it. */
  tells?: Readonly<Record<string, string>>;
  /** Whether only administrators of an account are told of it. */
  administrative?: boolean;
  quota?: Quota;
  /**
   * Projects keep it: one that still has some is not deleted without its contents. `own` is SQL for the rows that aren't
   * there from the beginning. `anywhere` is true for rows without a region.
   */
  kept?: { own?: string; from?: string; region?: string; anywhere?: boolean };
  removal?: Removal;
  /** Whether it has tags with paths of their own, and the group of those in the API document if that is not `many`. */
  tags?: { group?: string };
}

const card = <const C extends Card>(one: C): C => one;

const OWN_SUBNETS = 'subnets join networks on networks.id = network_id';

/** Every kind of resource, by its name in the published log of user actions. Documents list quotas in this order. */
const CARDS = {
  k8s_cluster: card({
    one: 'a cluster',
    many: 'Kubernetes clusters',
    table: 'kubernetes_clusters',
    revised: true,
    word: 'cluster',
    paths: ['k8s'],
    params: ['cluster_name'],
    quota: { name: 'cluster_count', standard: 100 },
    kept: {},
    removal: { stage: 1, key: 'name' },
  }),
  k8s_pool: card({
    one: 'a pool',
    many: 'pools of clusters',
    word: 'cluster_pool',
    below: ['pools'],
    params: ['pool_name'],
  }),
  securitygroup: card({
    one: 'a security group',
    many: 'security groups',
    table: 'security_groups',
    revised: true,
    word: 'security_group',
    paths: ['securitygroups', 'security_groups'],
    params: ['group_id'],
    quota: { name: 'firewall_count', standard: 10_000 },
    kept: { own: 'not is_default' },
    removal: { stage: 6, own: 'cluster_id is null', held: 'false' },
    tags: {},
  }),
  securitygrouprule: card({
    one: 'a rule',
    many: 'security group rules',
    table: 'security_group_rules',
    word: 'security_group_rule',
    paths: ['securitygrouprules'],
    below: ['rules'],
    params: ['rule_id'],
    removal: {
      stage: 5,
      from: 'security_group_rules join security_groups on security_groups.id = security_group_id',
      key: 'security_group_rules.id',
      // Groups that name each other could not go.
      own: 'remote_group_id <> security_group_id and cluster_id is null',
      held: 'false',
    },
  }),
  image: card({
    one: 'an image',
    many: 'images',
    table: 'images',
    revised: true,
    word: 'image',
    paths: ['images'],
    params: ['image_id'],
    quota: { name: 'image_count', standard: 1_000 },
    kept: {},
    removal: { stage: 5 },
    tags: {},
  }),
  floating_ip: card({
    one: 'a floating IP',
    many: 'floating IPs',
    table: 'floating_ips',
    revised: true,
    word: 'floating_ip',
    paths: ['floatingips'],
    params: ['floating_ip_id'],
    quota: { name: 'floating_count', standard: 1_000 },
    kept: {},
    removal: { stage: 3 },
    tags: {},
  }),
  laas: card({
    one: 'logging',
    many: 'logging',
    table: 'logging_services',
    word: 'logging',
    paths: ['laas'],
    kept: {},
    removal: { stage: 3, key: 'namespace', held: 'false' },
  }),
  laas_topic: card({
    one: 'a log topic',
    many: 'log topics',
    table: 'logging_topics',
    word: 'log_topic',
    below: ['topics'],
    params: ['topic_name'],
    quota: { name: 'laas_topic_count', standard: 1_000 },
    removal: { stage: 2, key: 'name', held: 'false' },
  }),
  loadbalancer: card({
    one: 'a load balancer',
    many: 'load balancers',
    table: 'load_balancers',
    revised: true,
    word: 'load_balancer',
    paths: ['loadbalancers'],
    params: ['load_balancer_id'],
    quota: { name: 'loadbalancer_count', standard: 1_000 },
    kept: {},
    removal: { stage: 2 },
    tags: {},
  }),
  lblistener: card({
    one: 'a listener',
    many: 'listeners',
    table: 'lb_listeners',
    revised: true,
    word: 'listener',
    paths: ['lblisteners'],
    params: ['listener_id'],
  }),
  lbpool: card({
    one: 'a pool',
    many: 'pools of load balancers',
    table: 'lb_pools',
    revised: true,
    word: 'load_balancer_pool',
    paths: ['lbpools'],
    params: ['pool_id'],
  }),
  lbpool_member: card({
    one: 'a member',
    many: 'members of pools',
    table: 'lb_members',
    revised: true,
    word: 'load_balancer_member',
    below: ['member', 'members'],
    params: ['member_id'],
  }),
  lb_health_monitor: card({
    one: 'a health monitor',
    many: 'health monitors',
    word: 'health_monitor',
    below: ['healthmonitor'],
  }),
  lb_l7policy: card({
    one: 'an L7 policy',
    many: 'L7 policies',
    table: 'lb_l7_policies',
    revised: true,
    word: 'l7_policy',
    paths: ['l7policies'],
    params: ['l7policy_id'],
  }),
  lb_l7rule: card({
    one: 'an L7 rule',
    many: 'L7 rules',
    table: 'lb_l7_rules',
    revised: true,
    word: 'l7_rule',
    below: ['l7policies/rules'],
    params: ['l7rule_id'],
  }),
  network: card({
    one: 'a network',
    many: 'networks',
    table: 'networks',
    revised: true,
    word: 'network',
    paths: ['networks'],
    params: ['network_id'],
    quota: { name: 'network_count', standard: 1_000, counts: 'networks where creator_task_id is not null' },
    kept: { own: 'not is_default' },
    removal: { stage: 5 },
    tags: {},
  }),
  port: card({
    one: 'a port',
    many: 'ports',
    table: 'ports',
    revised: true,
    word: 'port',
    paths: ['ports'],
    params: ['port_id'],
    quota: { name: 'reserved_fixed_ip_count', standard: 1_000, counts: 'ports where reserved' },
    kept: {},
    removal: { stage: 4, as: 'reserved_fixed_ip', own: 'reserved' },
  }),
  router: card({
    one: 'a router',
    many: 'routers',
    table: 'routers',
    revised: true,
    word: 'router',
    paths: ['routers'],
    params: ['router_id'],
    quota: { name: 'router_count', standard: 1_000 },
    kept: {},
    removal: { stage: 4 },
  }),
  secret: card({
    one: 'a secret',
    many: 'secrets',
    table: 'secrets',
    word: 'secret',
    paths: ['secrets'],
    params: ['secret_id'],
    quota: { name: 'secret_count', standard: 1_000 },
    kept: {},
    removal: { stage: 6 },
  }),
  servergroup: card({
    one: 'a placement group',
    many: 'placement groups',
    table: 'server_groups',
    word: 'placement_group',
    paths: ['servergroups'],
    params: ['servergroup_id'],
    quota: { name: 'servergroup_count', standard: 1_000 },
    kept: {},
    removal: { stage: 6, own: 'pool_id is null' },
  }),
  file_shares: card({
    one: 'a file share',
    many: 'file shares',
    table: 'file_shares',
    revised: true,
    word: 'file_share',
    paths: ['file_shares'],
    params: ['file_share_id'],
    quota: { name: 'sfs_count', standard: 1_000 },
    kept: {},
    removal: { stage: 3 },
    tags: {},
  }),
  snapshot: card({
    one: 'a snapshot',
    many: 'snapshots',
    table: 'snapshots',
    revised: true,
    word: 'snapshot',
    paths: ['snapshots'],
    params: ['snapshot_id'],
    quota: { name: 'snapshot_count', standard: 1_000 },
    kept: {},
    removal: { stage: 3 },
  }),
  subnet: card({
    one: 'a subnet',
    many: 'subnets',
    table: 'subnets',
    revised: true,
    word: 'subnet',
    paths: ['subnets'],
    params: ['subnet_id'],
    quota: {
      name: 'subnet_count',
      standard: 1_000,
      counts: `(select project_id, region_id from ${OWN_SUBNETS} where subnets.creator_task_id is not null) as own`,
    },
    // Those of other networks are deleted with them.
    kept: {
      from: OWN_SUBNETS,
      own: 'networks.is_default and subnets.creator_task_id is not null',
    },
    removal: { stage: 5, key: 'subnets.id', held: 'subnets.task_id is not null' },
    tags: { group: 'Networks' },
  }),
  lifecycle_policy: card({
    one: 'a snapshot policy',
    many: 'snapshot policies',
    table: 'lifecycle_policies',
    revised: true,
    word: 'snapshot_policy',
    paths: ['lifecycle_policy'],
    params: ['policy_id'],
    actions: {
      add_schedules: { type: 'update' },
      remove_schedules: { type: 'update' },
      add_volumes_to_policy: { type: 'attach', group: 'lifecycle_policy_volume_member' },
      remove_volumes_from_policy: { type: 'detach', group: 'lifecycle_policy_volume_member' },
    },
    tells: { snapshot_missed: 'a snapshot schedule' },
  }),
  snapshot_schedule: card({
    one: 'a snapshot schedule',
    many: 'snapshot schedules',
    table: 'snapshot_schedules',
    revised: true,
    word: 'snapshot_schedule',
    paths: ['schedule'],
    params: ['schedule_id'],
  }),
  instance: card({
    one: 'an instance',
    many: 'instances',
    table: 'instances',
    revised: true,
    word: 'instance',
    paths: ['instances'],
    params: ['instance_id'],
    tells: {
      crashed: 'a machine that crashed',
      host_lost: 'a machine whose host does not answer',
      recovered: 'a machine that runs again by itself',
      shut_down: 'a machine that its guest switched off',
      started: 'its account being resumed',
      stopped: 'its account being suspended',
    },
    quota: { name: 'vm_count', standard: 1_000 },
    kept: {},
    removal: { stage: 2, own: 'pool_id is null' },
    tags: {},
  }),
  volume: card({
    one: 'a volume',
    many: 'volumes',
    table: 'volumes',
    revised: true,
    word: 'volume',
    paths: ['volumes'],
    params: ['volume_id'],
    quota: { name: 'volume_count', standard: 1_000 },
    kept: {},
    removal: { stage: 4 },
    tags: {},
  }),
  ddos_profile: card({
    one: 'a DDoS profile',
    many: 'DDoS profiles',
    table: 'ddos_profiles',
    word: 'ddos_profile',
    paths: ['ddos'],
    params: ['profile_id'],
    kept: {},
    removal: { stage: 1 },
  }),
  ssh_key: card({
    one: 'an SSH key',
    many: 'SSH keys',
    table: 'ssh_keys',
    revised: true,
    word: 'ssh_key',
    paths: ['ssh_keys', 'keypairs'],
    params: ['ssh_key_id', 'keypair_id'],
    kept: { anywhere: true },
    removal: { stage: 6, held: 'false', user: 'user_id' },
  }),
  project: card({
    one: 'a project',
    many: 'projects',
    table: 'projects',
    revised: true,
    word: 'project',
    paths: ['projects'],
    params: ['project_id'],
  }),
  role: card({
    one: 'a role assignment',
    many: 'role assignments',
    table: 'role_assignments',
    word: 'role_assignment',
    paths: ['users'],
    params: ['assignment_id'],
    administrative: true,
  }),
  quota_limit_request: card({
    one: 'a request for quotas',
    many: 'requests for quotas',
    table: 'quota_requests',
    revised: true,
    word: 'limit_request',
    paths: ['limits_request'],
    params: ['request_id'],
  }),
  external_ip: card({ one: 'an external IP', many: 'external IPs', word: 'external_ip' }),
};

/** The kinds of resources, as the published contract names them in the log of user actions. */
export type ResourceType = keyof typeof CARDS;

export const RESOURCES: Readonly<Record<ResourceType, Card>> = CARDS;

export const ALL_RESOURCES = Object.entries(RESOURCES) as readonly [ResourceType, Card][];

type Carded<Part> = Extract<(typeof CARDS)[ResourceType], Part>;
/** Quotas of an account in a region, as published. */
export type RegionalQuota = Carded<{ quota: Quota }>['quota']['name'];
/** The kinds whose tags have their own paths. */
export type Tagged = {
  [T in ResourceType]: (typeof CARDS)[T] extends { tags: object } ? T : never;
}[ResourceType];

/** A resource that a request is about. */
export interface ActionResource {
  type: ResourceType;
  id: string | number;
  /** The name or address by which people look for it. */
  name?: string | null;
}
