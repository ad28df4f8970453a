import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../db/tables.ts';
import { isUuid } from '../lib/ids.ts';

type Params = Record<string, string | number>;
type Column = { name: string; kind: 'number' | 'uuid' | 'text' };

/** A resource with a version. */
interface Versioned {
  /** The paths of one such resource, in all versions of the API. */
  paths: string[];
  table: string;
  /** The column of each path parameter. */
  columns: Record<string, Column>;
  /** Restricts to the parent resource. */
  within?: (params: Params) => RawBuilder<unknown>;
  /** The field of the answer that already is the version. */
  field?: 'revision_number';
}

const number = (name: string): Column => ({ name, kind: 'number' });
const uuid = (name: string): Column => ({ name, kind: 'uuid' });
const text = (name: string): Column => ({ name, kind: 'text' });
const place = { project_id: number('project_id'), region_id: number('region_id') };

function inPlace(table: string, family: string, param: string, apis = ['v1']): Versioned {
  const paths = apis.map((api) => `/cloud/${api}/${family}/:project_id/:region_id/:${param}`);
  return { paths, table, columns: { ...place, [param]: uuid('id') } };
}

function at(path: string, table: string, columns: Versioned['columns']): Versioned {
  return { paths: [path], table, columns };
}

/** All resources that clients can change, with the row whose change makes a new version. */
const VERSIONED: Versioned[] = [
  {
    ...inPlace('security_groups', 'securitygroups', 'group_id'),
    paths: ['v1/securitygroups', 'v2/security_groups'].map(
      (family) => `/cloud/${family}/:project_id/:region_id/:group_id`,
    ),
    field: 'revision_number',
  },
  inPlace('instances', 'instances', 'instance_id', ['v1', 'v2']),
  inPlace('ports', 'ports', 'port_id', ['v1', 'v2']),
  inPlace('ports', 'reserved_fixed_ips', 'port_id'),
  inPlace('floating_ips', 'floatingips', 'floating_ip_id', ['v1', 'v2']),
  inPlace('networks', 'networks', 'network_id', ['v1', 'v2']),
  {
    ...at('/cloud/v1/subnets/:project_id/:region_id/:subnet_id', 'subnets', { subnet_id: uuid('id') }),
    within: (params) => sql`network_id in (
      select id from networks where project_id = ${params.project_id} and region_id = ${params.region_id})`,
  },
  inPlace('volumes', 'volumes', 'volume_id', ['v1', 'v2']),
  inPlace('snapshots', 'snapshots', 'snapshot_id'),
  inPlace('images', 'images', 'image_id'),
  inPlace('file_shares', 'file_shares', 'file_share_id', ['v1', 'v3']),
  {
    paths: ['v1', 'v2'].map((api) => `/cloud/${api}/k8s/clusters/:project_id/:region_id/:cluster_name`),
    table: 'kubernetes_clusters',
    columns: { ...place, cluster_name: text('name') },
  },
  {
    paths: ['v1', 'v2'].map(
      (api) => `/cloud/${api}/k8s/clusters/:project_id/:region_id/:cluster_name/pools/:pool_name`,
    ),
    table: 'kubernetes_pools',
    columns: { pool_name: text('name') },
    within: (params) => sql`cluster_id = (
      select id from kubernetes_clusters
      where project_id = ${params.project_id} and region_id = ${params.region_id} and name = ${params.cluster_name})`,
  },
  at('/cloud/v1/ssh_keys/:project_id/:ssh_key_id', 'ssh_keys', {
    project_id: number('project_id'),
    ssh_key_id: uuid('id'),
  }),
  at('/cloud/v1/projects/:project_id', 'projects', { project_id: number('id') }),
  at('/iam/users/:userId', 'users', { userId: number('id') }),
  at('/iam/clients/:clientId', 'clients', { clientId: number('id') }),
  at(
    '/iam/reselling/resellers/:resellerId/notification_settings/:notificationSettingsId',
    'notification_settings',
    { resellerId: number('reseller_id'), notificationSettingsId: number('id') },
  ),
];

const BY_PATH = new Map(VERSIONED.flatMap((resource) => resource.paths.map((path) => [path, resource])));

interface Place {
  resource: Versioned;
  /** True if the path names the resource itself, not something below it. */
  whole: boolean;
}
// One entry per route, for nearly every request.
const known = new Map<string, Place | undefined>();

/** Returns the versioned resource that a route's path (without the prefix of a dialect) names or is below. */
export function versionedAt(path: string): Place | undefined {
  if (!known.has(path)) known.set(path, placeOf(path));
  return known.get(path);
}

function placeOf(route: string): Place | undefined {
  // Brackets contain a pattern for a parameter, which is not part of its name.
  const parts = route.split('/').map((part) => part.split('(', 1)[0]);
  const path = parts.join('/');
  const exact = BY_PATH.get(path);
  if (exact) return { resource: exact, whole: true };
  const above = [...BY_PATH].filter(([one]) => path.startsWith(`${one}/`));
  const [nearest] = above.sort(([a], [b]) => b.length - a.length);
  return nearest && { resource: nearest[1], whole: false };
}

/**
 * Returns the current version of a resource; undefined if it doesn't exist. `lock` keeps it until the
 * transaction ends.
 */
export async function versionOf(
  db: Kysely<Tables>,
  { table, columns, within, field }: Versioned,
  params: Params,
  { lock }: { lock: boolean },
): Promise<string | undefined> {
  const conditions = within ? [within(params)] : [];
  for (const [param, { name, kind }] of Object.entries(columns)) {
    const value = params[param];
    if (value === undefined || (kind === 'uuid' && !isUuid(String(value)))) return undefined;
    conditions.push(sql`${sql.ref(name)} = ${value}`);
  }
  // Triggers raise it with every change of the row and of its parts.
  const version = sql.ref(field ?? 'revision');
  const { rows } = await sql<{ version: string }>`
    select ${version}::text as version from ${sql.table(table)}
    where ${sql.join(conditions, sql` and `)} ${lock ? sql`for no key update` : sql``}`.execute(db);
  return rows[0]?.version;
}
