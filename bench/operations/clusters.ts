import type pg from 'pg';
import { uniqueText } from '../load/job.ts';
import type { Api } from '../support/api.ts';
import { finished } from './finished.ts';
import type { Operation } from './operation.ts';

const CLUSTERS = '/cloud/v1/k8s/clusters/1/1';
const COPIES = 1000;

/** Makes a cluster that no task holds any more. */
async function madeCluster(api: Api, name: string): Promise<void> {
  const key = (await api.call('POST', '/cloud/v1/ssh_keys/1', { name: `key of ${name}` })) as {
    name: string;
  };
  const pool = {
    name: 'web',
    flavor_id: 'g1-standard-2-4',
    min_node_count: 1,
    max_node_count: 3,
    boot_volume_size: 50,
    boot_volume_type: 'ssd_hiiops',
    servergroup_policy: 'anti-affinity',
  };
  const body = { name, version: 'v1.32.13', keypair: key.name, pools: [pool], cni: { provider: 'cilium' } };
  await finished(api, await api.call('POST', CLUSTERS, body));
}

const change = {
  autoscaler_config: { 'scan-interval': '30s', expander: 'least-waste' },
  logging: { enabled: true, destination_region_id: 1, topic_name: 'bench', retention_policy: { period: 45 } },
};

export const clusterWithoutChange: Operation = {
  name: 'Update cluster, nothing to change',
  target: 0.8,
  async prepare(api) {
    await madeCluster(api, 'unchanged');
    const path = `${CLUSTERS}/unchanged`;
    await finished(api, await api.call('PATCH', path, change));
    return { method: 'PATCH', paths: [path], body: change };
  },
};

export const clusterUpdate: Operation = {
  name: 'Update cluster, one task each',
  target: 0.7,
  async prepare(api, pool) {
    await madeCluster(api, 'original');
    await copyCluster(pool, 'original');
    return {
      method: 'PATCH',
      paths: Array.from({ length: COPIES }, (_, n) => `${CLUSTERS}/${uniqueText(n)}`),
      body: change,
      count: COPIES,
      reset: () => forgetUpdates(pool),
    };
  },
};

/**
 * Each update holds its cluster until its task ends, and an account may have only a hundred clusters, so they
 * are copied.
 */
async function copyCluster(pool: pg.Pool, name: string): Promise<void> {
  await pool.query(
    `with copies as (
        insert into kubernetes_clusters
        select (jsonb_populate_record(original, jsonb_build_object(
          'id', gen_random_uuid(), 'name', 'bench-' || lpad(to_hex(n), 12, '0')))).*
        from kubernetes_clusters original, generate_series(0, $2::int - 1) n
        where original.name = $1
        returning id), wanted as (
        insert into wants (kind, id, client_id, project_id, region_id, spec, settled_generation, observed)
        select kind, copies.id, client_id, project_id, region_id, spec, 1, observed
        from copies, wants where wants.id = (select id from kubernetes_clusters where name = $1))
      insert into kubernetes_pools
      select (jsonb_populate_record(pool, jsonb_build_object('id', gen_random_uuid(), 'cluster_id', copies.id))).*
      from copies, kubernetes_pools pool join kubernetes_clusters original on original.id = pool.cluster_id
      where original.name = $1`,
    [name, COPIES],
  );
}

async function forgetUpdates(pool: pg.Pool): Promise<void> {
  await pool.query(
    `update kubernetes_clusters set task_id = null, next_configuration = null where name like 'bench-%'`,
  );
  await pool.query(
    `update wants set generation = 1, due_at = null, worker_id = null where id in (select want_id from task_wants)`,
  );
  await pool.query(`delete from tasks where state in ('NEW', 'RUNNING')`);
  for (const table of ['kubernetes_clusters', 'wants', 'task_wants', 'tasks']) await pool.query(`vacuum ${table}`);
}
