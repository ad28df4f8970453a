import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, vi } from 'vitest';
import type { ClusterSpec } from '../../src/backends/contract/specs.ts';
import { type Answer, type HttpClient, SOON } from './http-client.ts';
import type { TestService } from './service.ts';

export const CLUSTERS = '/cloud/v1/k8s/clusters/1/1';

/** A pool of virtual machines. */
export const POOL = {
  name: 'web',
  flavor_id: 'g1-standard-2-4',
  min_node_count: 1,
  max_node_count: 3,
  boot_volume_size: 50,
  boot_volume_type: 'ssd_hiiops',
  servergroup_policy: 'anti-affinity',
};

export const GPU_POOL = { name: 'gpu', flavor_id: 'bm3-ai-8xlarge-gpu-h100-8', min_node_count: 2 };

export interface ClusterParts {
  /** Returns a body for a cluster that uses every group of settings. */
  body(overrides?: object): Record<string, unknown>;
  keyName: string;
  keyId: string;
  /** A VAST share with the settings that Slurm needs. */
  shareId: string;
}

/** Makes an SSH key and a file share of project 1. */
export async function clusterParts({ http }: TestService): Promise<ClusterParts> {
  const key = await http.post('/cloud/v1/ssh_keys/1', { name: 'cluster key' });
  expect(key.status, key.text).toBe(201);
  const share = await http.post('/cloud/v1/file_shares/1/1', {
    name: 'slurm share',
    protocol: 'NFS',
    size: 10,
    type_name: 'vast',
    share_settings: { root_squash: false, path_length: 'NPL', allowed_characters: 'NPL' },
  });
  expect(share.status, share.text).toBe(200);
  const made = await http.task(share.body[0]);
  return {
    keyName: key.body.name,
    keyId: key.body.id,
    shareId: made.created_resources.file_shares[0],
    body: (overrides = {}) => ({
      name: `c${randomBytes(4).toString('hex')}`,
      version: 'v1.32.13',
      keypair: key.body.name,
      pools: [POOL, GPU_POOL],
      cni: { provider: 'cilium' },
      csi: { nfs: { vast_enabled: true } },
      ...overrides,
    }),
  };
}

/** Makes a cluster and waits for it. */
export async function makeCluster(http: HttpClient, body: object): Promise<Answer['body']> {
  const accepted = await http.post(CLUSTERS, body);
  expect(accepted.status, accepted.text).toBe(200);
  const task = await http.task(accepted.body[0]);
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  return (await http.get(`${CLUSTERS}/${(body as { name: string }).name}`)).body;
}

/**
 * Returns what is wanted of a cluster and what the simulated infrastructure has; undefined once neither
 * exists.
 */
export async function infrastructureOf({ pool }: TestService, { id }: { id: string }) {
  const { rows } = await pool.query<{
    wanted: ClusterSpec | null;
    spec: ClusterSpec | null;
    revision: number | null;
    settled: boolean;
  }>(
    `select wants.spec as wanted, object.spec, object.revision::int, due_at is null as settled
      from wants full join simulated_objects as object using (kind, id) where kind = 'cluster' and id = $1`,
    [id],
  );
  const [row] = rows;
  if (!row) return undefined;
  const pools = Object.entries(row.spec?.pools ?? {});
  return {
    ...row,
    nodes: Object.fromEntries(pools.map(([name, { nodes }]) => [name, Object.keys(nodes).length])),
  };
}

/** Returns the same, once the cluster is as wanted. */
export async function settledInfrastructure(service: TestService, cluster: { id: string }) {
  return vi.waitFor(async () => {
    const found = await infrastructureOf(service, cluster);
    if (found && !found.settled) throw new Error('it is not as wanted yet');
    if (found) expect(found.spec).toEqual(found.wanted);
    return found;
  }, SOON);
}

/**
 * Keeps the simulated infrastructure from beginning anything until the returned function is called, so that a
 * test meets running tasks.
 */
export async function pauseClusterWork({ pool }: TestService): Promise<() => Promise<void>> {
  const client = await pool.connect();
  await client.query('begin');
  await client.query('lock table simulated_objects in exclusive mode');
  let paused = true;
  const goOn = async () => {
    if (!paused) return;
    paused = false;
    await client.query('commit');
    client.release();
  };
  // A failing test must not keep the service from stopping.
  onTestFinished(goOn);
  return goOn;
}
