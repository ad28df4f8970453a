import { sql } from 'kysely';
import type { Transaction } from '../../../db/database.ts';

/** Tables that hold what clients keep in a project, with the name that error messages use for the contents. */
export const KEPT_IN_PROJECTS: Record<string, string> = {
  kubernetes_clusters: 'Kubernetes clusters',
  load_balancers: 'load balancers',
  instances: 'instances',
  volumes: 'volumes',
  snapshots: 'snapshots',
  images: 'images',
  file_shares: 'file shares',
  logging_services: 'logging',
  routers: 'routers',
  networks: 'networks',
  ports: 'ports',
  floating_ips: 'floating IPs',
  ddos_profiles: 'DDoS profiles',
  secrets: 'secrets',
  security_groups: 'security groups',
  server_groups: 'placement groups',
  ssh_keys: 'SSH keys',
};

/** Tables in which every project has rows from the beginning. These rows are removed with the project. */
const PREPARED = new Set(['networks', 'security_groups']);

/** Tables whose rows belong to no region. */
const EVERYWHERE = new Set(['ssh_keys']);

/** Returns what is left in a project: count and regions of each kind. Empty if only what it came with is left. */
export async function leftIn(tx: Transaction, projectId: number): Promise<string[]> {
  const kinds = Object.entries(KEPT_IN_PROJECTS).map(([table, kind]) => {
    const own = PREPARED.has(table) ? sql`and not is_default` : sql``;
    const regions = EVERYWHERE.has(table) ? sql`null` : sql`array_agg(distinct region_id)`;
    return sql`select ${kind}::text as kind, count(*)::int as count, ${regions}::bigint[] as regions
      from ${sql.table(table)} where project_id = ${projectId} ${own}`;
  });
  const subnets = sql`select 'subnets' as kind, count(*)::int as count, array_agg(distinct networks.region_id) as regions
    from subnets join networks on networks.id = subnets.network_id
    where networks.project_id = ${projectId} and networks.is_default and subnets.creator_task_id is not null`;
  const { rows } = await sql<{
    kind: string;
    count: number;
    regions: number[] | null;
  }>`${sql.join([...kinds, subnets], sql` union all `)}`.execute(tx.sql);
  return rows
    .filter(({ count }) => count > 0)
    .map(({ kind, count, regions }) =>
      regions === null ? `${kind}: ${count}` : `${kind}: ${count} in ${place(regions)}`,
    );
}

function place(regions: number[]): string {
  return `region${regions.length === 1 ? '' : 's'} ${regions.join(', ')}`;
}
