import { RESOURCES, type ResourceType } from '../../lib/resources.ts';

/** Where the rows of a kind are, as SQL in which `one` is a row of its table. */
export interface Where {
  type: ResourceType;
  /** Its word in events, and in what is asked for. */
  kind: string;
  table: string;
  /** The type of its IDs. */
  ids: 'bigint' | 'uuid';
  /** Null if the kind has none. Only names of the column `name` are searched. */
  name: string | null;
  created: string;
  project: string;
  region: string;
  state: string | null;
  /** Those in which nearly all are, where the others have an index, `<table>_unsettled`. It costs each change of the state. */
  usual: readonly string[] | null;
  task: string | null;
  /** What has the project, if the row hasn't: a table, and the column of the row that names it. */
  parent: { table: string; column: string } | null;
  /** A condition without which only the platform administrator sees a row; `viewer` is the user. */
  seen: string | null;
}

const ROW: Omit<Where, 'kind' | 'table' | 'type'> = {
  ids: 'uuid',
  name: 'one.name',
  created: 'one.created_at',
  project: 'one.project_id',
  region: 'one.region_id',
  state: null,
  usual: null,
  task: 'one.task_id',
  parent: null,
  seen: null,
};
const STATUS = { state: 'one.status' };
const PROVISIONING = { state: 'one.provisioning_status' };
const ADDRESS = { name: 'host(one.address)' };

/** What differs. A card without a table of its own, or whose rows have no ID, needs its table here, or can't be looked up. */
const PARTICULAR: Partial<Record<ResourceType, Partial<Omit<Where, 'kind' | 'type'>>>> = {
  k8s_cluster: STATUS,
  k8s_pool: {
    table: 'kubernetes_pools',
    parent: { table: 'kubernetes_clusters', column: 'cluster_id' },
    region: 'parent.region_id',
    project: 'parent.project_id',
    state: 'coalesce(one.pending, parent.status)',
    task: 'parent.task_id',
  },
  securitygroup: { task: null },
  image: STATUS,
  floating_ip: { ...ADDRESS, state: `case when one.port_id is null then 'DOWN' else 'ACTIVE' end` },
  loadbalancer: PROVISIONING,
  lblistener: PROVISIONING,
  lbpool: PROVISIONING,
  lbpool_member: { ...PROVISIONING, ...ADDRESS },
  lb_l7policy: PROVISIONING,
  lb_l7rule: { ...PROVISIONING, name: null },
  network: {},
  port: {},
  router: {},
  secret: {},
  servergroup: {},
  file_shares: STATUS,
  snapshot: STATUS,
  subnet: {
    parent: { table: 'networks', column: 'network_id' },
    region: 'parent.region_id',
    project: 'parent.project_id',
  },
  lifecycle_policy: { ...STATUS, ids: 'bigint', task: null },
  instance: { ...STATUS, usual: ['ACTIVE'] },
  volume: STATUS,
  // Nobody noted when they were made: they come last.
  ddos_profile: { ...STATUS, ...ADDRESS, ids: 'bigint', created: `'epoch'::timestamptz` },
  ssh_key: { region: 'null::bigint', task: null, seen: '(one.shared_in_project or one.user_id = viewer)' },
  project: { ids: 'bigint', project: 'one.id', region: 'null::bigint', task: 'one.deletion_task_id' },
};

/** Everything that has an ID and is in a project, by the order of the kinds' words. */
export const KINDS: readonly Where[] = (Object.keys(PARTICULAR) as ResourceType[])
  .flatMap((type): Where[] => {
    const { table, word: kind } = RESOURCES[type];
    const where = { ...ROW, ...(table !== undefined && { table }), ...PARTICULAR[type] };
    return where.table === undefined ? [] : [{ ...where, table: where.table, type, kind }];
  })
  .toSorted((one, other) => (one.kind < other.kind ? -1 : 1));

export const KIND_NAMES: readonly string[] = KINDS.map(({ kind }) => kind);
