import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  CLUSTERS,
  type ClusterParts,
  clusterParts,
  GPU_POOL,
  makeCluster,
  POOL,
  pauseClusterWork,
  settledInfrastructure,
} from '../../../../../test/support/clusters.ts';
import { SOON } from '../../../../../test/support/http-client.ts';
import { borrowService, type TestService } from '../../../../../test/support/service.ts';

let service: TestService;
let parts: ClusterParts;
beforeAll(async () => {
  service = await borrowService();
  parts = await clusterParts(service);
});
afterAll(() => service?.stop());

const INSTANCES = '/cloud/v1/instances/1/1';
const UNKNOWN = '11111111-2222-4333-8444-555555555555';
const newCluster = (overrides: object = { pools: [POOL] }) => makeCluster(service.http, parts.body(overrides));
const nodesOf = async ({ name }: { name: string }, pool?: string) => {
  const at = pool === undefined ? name : `${name}/pools/${pool}`;
  return (await service.http.get(`${CLUSTERS}/${at}/instances`)).body.results;
};

async function finished(answer: { status: number; text: string; body: string[] }) {
  expect(answer.status, answer.text).toBe(200);
  expect(await service.http.task(answer.body[0] ?? '')).toMatchObject({ state: 'FINISHED', error: null });
}

/** Waits until the task that holds the cluster has ended. */
async function settled({ name }: { name: string }) {
  const { task_id } = (await service.http.get(`${CLUSTERS}/${name}`)).body;
  if (task_id !== null) expect(await service.http.task(task_id)).toMatchObject({ state: 'FINISHED' });
}

/** Makes the task overdue before it did anything, then lets it continue. */
async function overdue(taskId: string, goOn: () => Promise<void>) {
  await service.pool.query(`update tasks set deadline_at = now() - interval '1 second' where id = $1`, [taskId]);
  expect(await service.http.task(taskId)).toMatchObject({ state: 'ERROR' });
  await goOn();
}

/** Counts everything that nodes consist of, and the quotas that the account has taken. */
async function belongings() {
  const { rows } = await service.pool.query(`
    select (select count(*) from instances) as instances, (select count(*) from ports) as ports,
      (select count(*) from ip_assignments) as addresses, (select sum(used_ips) from subnets) as used_addresses,
      (select count(*) from volumes) as volumes, (select count(*) from volume_attachments) as attachments,
      (select count(*) from security_groups) as groups, (select count(*) from port_security_groups) as links,
      (select jsonb_object_agg(attribute, used) from quota_usage
        where client_id = 1 and region_id = 1 and used > 0) as quotas`);
  return rows[0];
}

describe('the nodes of a cluster', () => {
  test('are instances from the creation on', async () => {
    const { http } = service;
    const before = await belongings();
    const body = parts.body({ pools: [{ ...POOL, min_node_count: 2, max_node_count: 2 }, GPU_POOL] });
    const goOn = await pauseClusterWork(service);
    const answer = await http.post(CLUSTERS, body);
    const building = await nodesOf({ name: String(body.name) });
    expect(building).toHaveLength(4);
    expect(new Set(building.map(({ status }: { status: string }) => status))).toEqual(new Set(['BUILD']));
    expect(building[0]).toMatchObject({ task_id: answer.body[0], creator_task_id: answer.body[0] });
    await goOn();
    await finished(answer);

    const cluster = (await http.get(`${CLUSTERS}/${body.name}`)).body;
    const web = await nodesOf(cluster, 'web');
    expect(web).toHaveLength(2);
    for (const node of web) {
      expect(node).toMatchObject({
        name: expect.stringMatching(new RegExp(`^${cluster.name}-web-[0-9a-f]{8}$`)),
        status: 'ACTIVE',
        vm_state: 'active',
        task_id: null,
        flavor: { flavor_id: POOL.flavor_id },
        ssh_key_name: parts.keyName,
        security_groups: [{ name: `${cluster.name}-1-1-worker` }],
        volumes: [{ delete_on_termination: true }],
      });
      expect(node.addresses.default).toHaveLength(1);
      const volume = (await http.get(`/cloud/v1/volumes/1/1/${node.volumes[0].id}`)).body;
      expect(volume).toMatchObject({
        size: POOL.boot_volume_size,
        volume_type: POOL.boot_volume_type,
        status: 'in-use',
        bootable: true,
        is_root_volume: true,
      });
    }
    expect(await nodesOf(cluster, 'gpu')).toMatchObject([{ volumes: [] }, { volumes: [] }]);
    const [port] = (await http.get(`${INSTANCES}/${web[0].id}/ports`)).body.results;
    const led = await http.post('/cloud/v1/floatingips/1/1', { port_id: port.id });
    expect([led.status, led.body.message]).toEqual([409, expect.stringContaining('is a node of pool web')]);
    const ofCluster = (await http.get(`/cloud/v1/volumes/1/1?cluster_id=${cluster.id}`)).body;
    expect(ofCluster.count).toBe(2);
    expect((await belongings()).quotas).toEqual({
      ...before.quotas,
      cluster_count: (before.quotas.cluster_count ?? 0) + 1,
      firewall_count: (before.quotas.firewall_count ?? 0) + 1,
      servergroup_count: (before.quotas.servergroup_count ?? 0) + 1,
      vm_count: (before.quotas.vm_count ?? 0) + 4,
      volume_count: (before.quotas.volume_count ?? 0) + 2,
    });

    const listed = (query: string) => http.get(`${INSTANCES}?name=${cluster.name}&${query}`);
    expect((await listed('include_baremetal=true')).body.count).toBe(4);
    expect((await listed('include_baremetal=true&include_k8s=false')).body.count).toBe(0);
    expect((await http.get(`${INSTANCES}/${web[0].id}`)).body).toMatchObject({ name: web[0].name });

    await finished(await http.delete(`${CLUSTERS}/${cluster.name}`));
    expect(await belongings()).toEqual(before);
  });

  test('come in pages, the same under both versions of the address', async () => {
    const cluster = await newCluster({ pools: [{ ...POOL, min_node_count: 3 }] });
    const at = `${CLUSTERS.replace('/v1/', '/v2/')}/${cluster.name}`;
    const all = (await service.http.get(`${at}/instances?with_ddos=true`)).body;
    const second = (await service.http.get(`${at}/pools/web/instances?limit=1&offset=1`)).body;
    expect(all).toMatchObject({ count: 3 });
    expect(second).toEqual({ count: 3, results: [all.results[1]] });
  });

  test('are in the subnet that the cluster names, and outside too when their pool asks for it', async () => {
    const { http } = service;
    const network = await madeBy('/cloud/v1/networks/1/1', { name: 'of nodes' }, 'networks');
    const subnet = await madeBy(
      '/cloud/v1/subnets/1/1',
      { name: 'of nodes', network_id: network, cidr: '192.168.7.0/24' },
      'subnets',
    );
    const pools = [POOL, { ...POOL, name: 'open', is_public_ipv4: true }];
    const cluster = await newCluster({ pools, fixed_network: network, fixed_subnet: subnet });
    const [closed] = await nodesOf(cluster, 'web');
    const [open] = await nodesOf(cluster, 'open');
    expect(closed.fixed_ip_assignments).toMatchObject([{ subnet_id: subnet, external: false }]);
    expect(open.fixed_ip_assignments).toMatchObject([{ subnet_id: subnet, external: false }, { external: true }]);
    const used = await http.delete(`/cloud/v1/networks/1/1/${network}`);
    expect(used).toMatchObject({ status: 409 });
    expect(used.text).toContain(`cluster ${cluster.name}`);
    const before = await belongings();
    const large = { ...POOL, min_node_count: 200, max_node_count: 200 };
    const tooMany = { pools: [large, { ...large, name: 'more' }], fixed_network: network };
    const full = await http.post(CLUSTERS, parts.body(tooMany));
    expect(full).toMatchObject({ status: 409 });
    expect(full.text).toContain('no free addresses');
    expect(await belongings()).toEqual(before);
    expect((await http.get(`${CLUSTERS}/${cluster.name}`)).body.fixed_subnet).toBe(subnet);
  });

  test('leave nothing behind when their creation fails', async () => {
    const before = await belongings();
    const goOn = await pauseClusterWork(service);
    const answer = await service.http.post(CLUSTERS, parts.body());
    await overdue(answer.body[0], goOn);
    expect(await belongings()).toEqual(before);
  });

  test('give back their quotas with the cluster, never holding some while waiting for others', async () => {
    const { http, pool } = service;
    const cluster = await newCluster();
    const quotas = await pool.connect();
    onTestFinished(() => quotas.release());
    const lock = (attribute: string) =>
      quotas.query(`select from quota_usage where attribute = $1 for update nowait`, [attribute]);
    await quotas.query('begin');
    await lock('cluster_count');
    const deletion = await http.delete(`${CLUSTERS}/${cluster.name}`);
    await vi.waitFor(async () => {
      const { rowCount } = await pool.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%"quota_usage"%'`,
      );
      expect(rowCount).toBe(1);
    }, SOON);
    await lock('vm_count');
    await lock('volume_count');
    await quotas.query('rollback');
    await finished(deletion);
  });

  test('keep a boot volume that has a snapshot', async () => {
    const { http } = service;
    const cluster = await newCluster();
    const [node] = await nodesOf(cluster);
    const [{ id: volumeId }] = node.volumes;
    const body = { volume_id: volumeId, name: 'of a node' };
    await finished(await http.post('/cloud/v1/snapshots/1/1', body));
    const named = await http.delete(`${CLUSTERS}/${cluster.name}?volumes=${volumeId.toUpperCase()}`);
    expect(named, named.text).toMatchObject({ status: 409 });
    expect(await http.delete(`${CLUSTERS}/${cluster.name}?volumes=${UNKNOWN}`)).toMatchObject({
      status: 400,
    });
    await finished(await http.delete(`${CLUSTERS}/${cluster.name}`));
    const at = `/cloud/v1/volumes/1/1/${volumeId}`;
    expect((await http.get(at)).body).toMatchObject({ status: 'available', attachments: [] });
    // From now on, it is a volume like any other.
    expect(await http.patch(at, { name: 'was of a node' })).toMatchObject({ status: 200 });
    await finished(await http.post(`${at}/extend`, { size: 60 }));
  });
});

describe('a pool that changes', () => {
  test('gets and loses nodes with its size, the newest first', async () => {
    const { http } = service;
    const cluster = await newCluster();
    const before = await belongings();
    const at = `${CLUSTERS}/${cluster.name}/pools`;
    const [first] = await nodesOf(cluster);
    await finished(await http.post(`${at}/web/resize`, { node_count: 3 }));
    const three = await nodesOf(cluster);
    expect(three).toMatchObject([{ status: 'ACTIVE' }, { status: 'ACTIVE' }, { id: first.id }]);
    await finished(await http.post(`${at}/web/resize`, { node_count: 1 }));
    expect(await nodesOf(cluster)).toMatchObject([{ id: first.id, status: 'ACTIVE' }]);
    expect(await belongings()).toEqual(before);
    await finished(await http.post(at, { ...POOL, name: 'api', min_node_count: 2 }));
    expect(await nodesOf(cluster, 'api')).toHaveLength(2);
    await finished(await http.delete(`${at}/api`));
    expect(await belongings()).toEqual(before);
  });

  test.each([
    ['a larger size', { node_count: 3 }],
    ['a smaller size', { node_count: 1 }],
  ])('keeps its nodes when its task fails on the way to %s', async (_, size) => {
    const cluster = await newCluster({ pools: [{ ...POOL, min_node_count: 2 }] });
    await service.http.patch(`${CLUSTERS}/${cluster.name}/pools/web`, { min_node_count: 1 });
    const nodes = await nodesOf(cluster);
    const before = await belongings();
    const goOn = await pauseClusterWork(service);
    const answer = await service.http.post(`${CLUSTERS}/${cluster.name}/pools/web/resize`, size);
    expect(await nodesOf(cluster)).not.toEqual(nodes);
    await overdue(answer.body[0], goOn);
    const after = await nodesOf(cluster);
    expect(after.map(({ id }: { id: string }) => id)).toEqual(nodes.map(({ id }: { id: string }) => id));
    expect(after).toMatchObject([{ status: 'ACTIVE', task_state: null, task_id: null }, {}]);
    expect(await belongings()).toEqual(before);
  });

  test('has its nodes until its deletion is through, also one that is overdue', async () => {
    const cluster = await newCluster({ pools: [POOL, GPU_POOL] });
    const [web] = await nodesOf(cluster, 'web');
    const before = await belongings();
    const goOn = await pauseClusterWork(service);
    const answer = await service.http.delete(`${CLUSTERS}/${cluster.name}/pools/gpu`);
    expect(await nodesOf(cluster, 'gpu')).toMatchObject([{ task_state: 'deleting' }, {}]);
    await overdue(answer.body[0], async () => {
      expect(await nodesOf(cluster, 'gpu')).toMatchObject([{ task_state: 'deleting' }, {}]);
      expect(await belongings()).toEqual(before);
      await goOn();
    });
    const left = await settledInfrastructure(service, cluster);
    expect(Object.keys(left?.spec?.pools.web?.nodes ?? {})).toEqual([web.id]);
    expect(await nodesOf(cluster)).toMatchObject([{ id: web.id }]);
    const after = await belongings();
    expect(after.quotas.vm_count).toBe(before.quotas.vm_count - 2);
  });

  test('is resized once when two want it at the same time', async () => {
    const cluster = await newCluster();
    const at = `${CLUSTERS}/${cluster.name}/pools/web/resize`;
    const goOn = await pauseClusterWork(service);
    const answers = await Promise.all([2, 3].map((node_count) => service.http.post(at, { node_count })));
    await goOn();
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    const winner = answers.findIndex(({ status }) => status === 200);
    await finished(answers[winner] ?? { status: 0, text: '', body: [] });
    expect(await nodesOf(cluster)).toHaveLength([2, 3][winner] ?? 0);
  });

  test('puts its security groups on its nodes', async () => {
    const { http } = service;
    const made = await http.post('/cloud/v1/securitygroups/1/1', { security_group: { name: 'on nodes' } });
    const cluster = await newCluster({ pools: [{ ...POOL, security_group_ids: [made.body.id] }] });
    const worker = `${cluster.name}-1-1-worker`;
    expect((await nodesOf(cluster))[0].security_groups).toEqual([{ name: worker }, { name: 'on nodes' }]);
    const refused = await http.delete(`/cloud/v1/securitygroups/1/1/${made.body.id}`);
    expect(refused).toMatchObject({ status: 409 });
    expect(refused.text).toContain(`pool web of cluster ${cluster.name}`);
    await http.patch(`${CLUSTERS}/${cluster.name}/pools/web`, { security_group_ids: [] });
    expect((await nodesOf(cluster))[0].security_groups).toEqual([{ name: worker }]);
    expect(await http.delete(`/cloud/v1/securitygroups/1/1/${made.body.id}`)).toMatchObject({ status: 204 });
  });
});

describe('a node', () => {
  test('that is deleted is replaced', async () => {
    const { http } = service;
    const cluster = await newCluster({ pools: [{ ...POOL, min_node_count: 2 }] });
    const before = await belongings();
    const [gone, kept] = await nodesOf(cluster);
    const goOn = await pauseClusterWork(service);
    const at = `${CLUSTERS}/${cluster.name}`;
    expect(await http.delete(`${at}/instances/${gone.id}`)).toMatchObject({ status: 204, text: '' });
    expect(await http.delete(`${at}/instances/${kept.id}`)).toMatchObject({ status: 409 });
    expect(await http.post(`${at}/pools/web/resize`, { node_count: 3 })).toMatchObject({ status: 409 });
    await goOn();
    await settled(cluster);
    const after = await nodesOf(cluster);
    expect(after).toHaveLength(2);
    expect(after.map(({ id }: { id: string }) => id)).toContain(kept.id);
    expect(after.map(({ id }: { id: string }) => id)).not.toContain(gone.id);
    expect(after).toMatchObject([{ status: 'ACTIVE', task_id: null }, { status: 'ACTIVE' }]);
    expect(await belongings()).toEqual(before);
    expect((await http.get(`${at}/pools/web`)).body.node_count).toBe(2);
    expect(await http.get(`${INSTANCES}/${gone.id}`)).toMatchObject({ status: 404 });
  });

  test('stays when its replacement fails', async () => {
    const cluster = await newCluster();
    const before = await belongings();
    const [node] = await nodesOf(cluster);
    const goOn = await pauseClusterWork(service);
    await service.http.delete(`${CLUSTERS}/${cluster.name}/pools/web/instances/${node.id}`);
    const { task_id } = (await service.http.get(`${CLUSTERS}/${cluster.name}`)).body;
    await overdue(task_id, goOn);
    expect(await nodesOf(cluster)).toMatchObject([{ id: node.id, status: 'ACTIVE', task_id: null }]);
    expect(await belongings()).toEqual(before);
  });

  test('is not deleted while its pool is resized', async () => {
    const { http } = service;
    const cluster = await newCluster();
    const [node] = await nodesOf(cluster);
    const goOn = await pauseClusterWork(service);
    const resize = await http.post(`${CLUSTERS}/${cluster.name}/pools/web/resize`, { node_count: 2 });
    const refused = await http.delete(`${CLUSTERS}/${cluster.name}/pools/web/instances/${node.id}`);
    expect(refused).toMatchObject({ status: 409 });
    expect(refused.text).toContain(resize.body[0]);
    await goOn();
    await finished(resize);
    expect(await nodesOf(cluster)).toHaveLength(2);
  });

  test('is found in its own cluster and pool alone', async () => {
    const { http } = service;
    const [cluster, other] = [await newCluster({ pools: [POOL, GPU_POOL] }), await newCluster()];
    const [node] = await nodesOf(cluster, 'web');
    const tenant = await service.otherTenant();
    const at = `${CLUSTERS}/${cluster.name}`;
    const answers = [
      await http.delete(`${CLUSTERS}/${other.name}/instances/${node.id}`),
      await http.delete(`${at}/pools/gpu/instances/${node.id}`),
      await http.delete(`${at}/pools/nope/instances/${node.id}`),
      await http.delete(`${at}/instances/${UNKNOWN}`),
      await http.delete(`${at}/instances/nope`),
      await http.get(`${at}/pools/nope/instances`),
      await http.get(`${CLUSTERS}/nope/instances`),
      await tenant.http.get(`${at}/instances`),
      await tenant.http.delete(`${at}/instances/${node.id}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
  });

  test('takes no change that is not its pool’s', async () => {
    const { http } = service;
    const cluster = await newCluster();
    const [node] = await nodesOf(cluster);
    const at = `${INSTANCES}/${node.id}`;
    const [port] = (await http.get(`${at}/ports`)).body.results;
    const volume = await madeBy(
      '/cloud/v1/volumes/1/1',
      { source: 'new-volume', name: 'for a node', size: 1 },
      'volumes',
    );
    const [network] = (await http.get('/cloud/v1/networks/1/1?name=default')).body.results;
    const refused = [
      await http.delete(at),
      await http.patch(at, { name: 'mine' }),
      await http.post(`${at.replace('/v1/', '/v2/')}/action`, { action: 'stop' }),
      await http.post(`${at}/changeflavor`, { flavor_id: 'g1-standard-4-8' }),
      await http.post(`${at}/attach_interface`, { type: 'any_subnet', network_id: network.id }),
      await http.post(`${at}/detach_interface`, {
        port_id: port.id,
        ip_address: node.fixed_ip_assignments[0].ip_address,
      }),
      await http.post(`${at}/addsecuritygroup`, { name: 'default' }),
      await http.post(`${at}/delsecuritygroup`, { name: `${cluster.name}-1-1-worker` }),
      await http.post(`/cloud/v2/volumes/1/1/${volume}/attach`, { instance_id: node.id }),
      await http.post(`/cloud/v2/volumes/1/1/${node.volumes[0].id}/detach`, { instance_id: node.id }),
      await http.patch(`/cloud/v1/ports/1/1/${port.id}`, { security_group_ids: [] }),
      await http.post('/cloud/v1/securitygroups/1/1', {
        security_group: { name: 'put on a node' },
        instances: [node.id],
      }),
    ];
    for (const answer of refused) {
      expect(answer, answer.text).toMatchObject({ status: 409 });
      expect(answer.text).toContain(`pool web of Kubernetes cluster ${cluster.name}`);
    }
    expect((await http.get(`/cloud/v1/ports/1/1/${port.id}`)).body.managed_by).toBe('system');
    expect(await nodesOf(cluster)).toEqual([node]);
  });
});

test('a cluster and the deletion of its network never both win', async () => {
  const { http } = service;
  for (const by of ['fixed_network', 'fixed_subnet']) {
    const network = await madeBy('/cloud/v1/networks/1/1', { name: 'contested' }, 'networks');
    const subnet = await madeBy(
      '/cloud/v1/subnets/1/1',
      { name: 'contested', network_id: network, cidr: '192.168.8.0/24' },
      'subnets',
    );
    const home = by === 'fixed_network' ? { fixed_network: network } : { fixed_subnet: subnet };
    const deletion = by === 'fixed_network' ? `networks/1/1/${network}` : `subnets/1/1/${subnet}`;
    const [made, deleted] = await Promise.all([
      http.post(CLUSTERS, parts.body({ pools: [POOL], ...home })),
      http.delete(`/cloud/v1/${deletion}`),
    ]);
    expect([made.status, deleted.status].filter((status) => status === 200)).toHaveLength(1);
    expect([400, 409]).toContain(made.status === 200 ? deleted.status : made.status);
    await finished(made.status === 200 ? made : deleted);
  }
});

async function madeBy(path: string, body: object, kind: string): Promise<string> {
  const answer = await service.http.post(path, body);
  expect(answer.status, answer.text).toBe(200);
  return (await service.http.task(answer.body[0])).created_resources[kind][0];
}
