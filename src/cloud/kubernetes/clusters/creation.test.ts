import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CLUSTERS,
  type ClusterParts,
  clusterParts,
  GPU_POOL,
  makeCluster,
  POOL,
  pauseClusterWork,
  settledInfrastructure,
} from '../../../../test/support/clusters.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

let service: TestService;
let parts: ClusterParts;
beforeAll(async () => {
  service = await borrowService();
  parts = await clusterParts(service);
});
afterAll(() => service.stop());

const UNKNOWN = '11111111-2222-4333-8444-555555555555';
const ANY_UUID = expect.stringMatching(/^[0-9a-f-]{36}$/);
const ANY_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

const poolAnswer = (name: string) => ({
  id: ANY_UUID,
  name,
  flavor_id: 'g1-standard-2-4',
  min_node_count: 1,
  max_node_count: 3,
  node_count: 1,
  boot_volume_size: 50,
  boot_volume_type: 'ssd_hiiops',
  servergroup_policy: 'anti-affinity',
  servergroup_id: ANY_UUID,
  servergroup_name: expect.stringMatching(new RegExp(`-${name}$`)),
  auto_healing_enabled: false,
  is_public_ipv4: false,
  labels: {},
  taints: {},
  crio_config: {},
  kubelet_config: {},
  security_group_ids: [],
  status: 'Running',
  created_at: ANY_TIME,
});

describe('a new cluster', () => {
  test('that says the least has the defaults of the platform', async () => {
    const { http } = service;
    const goOn = await pauseClusterWork(service);
    const accepted = await http.post(CLUSTERS, {
      name: 'least',
      version: '1.35.3',
      keypair: parts.keyName,
      pools: [POOL],
    });
    const [taskId] = accepted.body;
    const { body: early } = await http.get(`${CLUSTERS}/least`);
    expect(early).toMatchObject({ status: 'Provisioning', task_id: taskId, creator_task_id: taskId });
    await goOn();
    const task = await http.task(taskId);
    expect(task).toMatchObject({
      task_type: 'create_k8s_cluster_v2',
      state: 'FINISHED',
      created_resources: { k8s_clusters: [early.id] },
      data: { name: 'least', version: '1.35.3' },
    });
    const { body } = await http.get(`${CLUSTERS}/least`);
    expect(body).toEqual({
      id: early.id,
      name: 'least',
      version: 'v1.35.3',
      keypair: parts.keyName,
      status: 'Provisioned',
      is_public: true,
      pools: [poolAnswer('web')],
      add_ons: { slurm: { enabled: false, file_share_id: null, ssh_key_ids: null, worker_count: null } },
      authentication: {
        oidc: null,
        kubeconfig_created_at: expect.stringMatching(/Z$/),
        kubeconfig_expires_at: expect.stringMatching(/Z$/),
      },
      autoscaler_config: {},
      cni: { provider: 'calico', cilium: null },
      ddos_profile: null,
      logging: null,
      csi: { nfs: { vast_enabled: false, ddn_enabled: false } },
      fixed_network: '',
      fixed_subnet: '',
      is_ipv6: false,
      pods_ip_pool: '172.16.0.0/18',
      services_ip_pool: '172.24.0.0/18',
      pods_ipv6_pool: null,
      services_ipv6_pool: null,
      creator_task_id: taskId,
      task_id: null,
      created_at: ANY_TIME,
    });
    expect({
      ...early,
      authentication: body.authentication,
      status: 'Provisioned',
      task_id: null,
      pools: body.pools,
    }).toEqual(body);
    expect((await http.get(`${CLUSTERS}/least/pools`)).body).toEqual({ count: 1, results: body.pools });
    expect((await http.get(`${CLUSTERS}/least/pools/web`)).body).toEqual(body.pools[0]);
    expect((await http.get(`${CLUSTERS}/least/pools/none`)).status).toBe(404);
  });

  test('that says the most is read back as it was sent', async () => {
    const { http } = service;
    const group = await http.post('/cloud/v1/securitygroups/1/1', { security_group: { name: 'for nodes' } });
    const web = {
      ...POOL,
      auto_healing_enabled: true,
      is_public_ipv4: true,
      labels: { 'example.com/tier': 'web' },
      taints: { dedicated: 'web:NoSchedule', alone: ':NoExecute' },
      crio_config: { 'default-ulimits': 'nofile=1024:2048' },
      kubelet_config: { podMaxPids: '4096' },
      security_group_ids: [group.body.id],
    };
    const sent = {
      name: 'most',
      version: 'v1.32.13',
      keypair: parts.keyName,
      pools: [web, GPU_POOL],
      add_ons: {
        slurm: {
          enabled: true,
          file_share_id: parts.shareId,
          ssh_key_ids: [parts.keyId],
          worker_count: 1,
        },
      },
      autoscaler_config: { 'scan-interval': '20s' },
      csi: { nfs: { vast_enabled: true } },
      logging: {
        enabled: true,
        destination_region_id: 2,
        topic_name: 'logs',
        retention_policy: { period: 9 },
      },
      is_ipv6: true,
      pods_ip_pool: '10.100.0.0/16',
      services_ip_pool: '10.200.0.0/16',
      pods_ipv6_pool: 'fd00:10:244::/104',
      services_ipv6_pool: 'fd00:10:96::/112',
    };
    const made = await makeCluster(http, sent);
    expect(made).toMatchObject({
      ...sent,
      pools: [
        { ...web, node_count: 1, status: 'Running' },
        {
          ...GPU_POOL,
          max_node_count: 2,
          node_count: 2,
          boot_volume_size: 0,
          boot_volume_type: '',
          servergroup_policy: '',
        },
      ],
    });
    const live = await settledInfrastructure(service, made);
    expect(live).toMatchObject({
      revision: 1,
      nodes: { web: 1, gpu: 2 },
      spec: {
        name: made.name,
        version: made.version,
        publicKey: expect.stringMatching(/^ssh-/),
        configuration: {
          autoscaler_config: made.autoscaler_config,
          logging: made.logging,
          add_ons: made.add_ons,
        },
      },
    });
    const inUse = await http.delete(`/cloud/v1/securitygroups/1/1/${group.body.id}`);
    expect(inUse).toMatchObject({ status: 409, body: { message: expect.stringContaining('Kubernetes') } });
    const share = await http.delete(`/cloud/v1/file_shares/1/1/${parts.shareId}`);
    expect(share).toMatchObject({ status: 409, body: { message: expect.stringContaining('most') } });
  });

  test('answers the dialect of the clients under /gcore', async () => {
    const body = parts.body();
    const { body: answer } = await service.http.post('/gcore/cloud/v2/k8s/clusters/1/1', body);
    expect(answer).toEqual({ tasks: [ANY_UUID] });
    await service.http.task(answer.tasks[0]);
    const read = await service.http.get(`/gcore/cloud/v2/k8s/clusters/1/1/${body.name}`);
    expect(read.body).toEqual((await service.http.get(`${CLUSTERS}/${body.name}`)).body);
  });
});

describe('refused', () => {
  const pool = (overrides: object) => ({ pools: [{ ...POOL, ...overrides }] });
  const { boot_volume_size: _, boot_volume_type: __, servergroup_policy: ___, ...BARE } = POOL;

  test.each<[what: string, field: string, overrides: object]>([
    ['an upper-case name', 'name', { name: 'Upper' }],
    ['a name of one letter', 'name', { name: 'a' }],
    ['a version that is no version', 'version', { version: 'latest' }],
    ['a version that is not offered', 'version', { version: 'v1.30.1' }],
    ['an unknown key', 'keypair', { keypair: 'nobody' }],
    ['an unknown field', 'colour', { colour: 'red' }],
    ['no pools', 'pools', { pools: [] }],
    ['two pools of one name', 'pools.1.name', { pools: [POOL, POOL] }],
    ['an unknown flavor', 'pools.0.flavor_id', pool({ flavor_id: 'huge' })],
    ['a withdrawn flavor', 'pools.0.flavor_id', pool({ flavor_id: 'g0-standard-2-4' })],
    ['a flavor that is not for Kubernetes', 'pools.0.flavor_id', pool({ flavor_id: 'g1-standard-1-2' })],
    ['a virtual machine without a volume', 'pools.0.boot_volume_size', { pools: [BARE] }],
    ['a virtual machine without a policy', 'pools.0.servergroup_policy', pool({ servergroup_policy: null })],
    ['bare metal with a volume', 'pools.0.boot_volume_type', pool({ flavor_id: 'bm1-infra-medium' })],
    ['an unknown volume type', 'pools.0.boot_volume_type', pool({ boot_volume_type: 'floppy' })],
    ['fewer nodes at most than at least', 'pools.0.max_node_count', pool({ min_node_count: 4 })],
    ['no nodes', 'pools.0.min_node_count', pool({ min_node_count: 0 })],
    ['too many nodes', 'pools.0.max_node_count', pool({ max_node_count: 201 })],
    ['a bad label', 'pools.0.labels.-x', pool({ labels: { '-x': 'y' } })],
    ['a taint without effect', 'pools.0.taints.a', pool({ taints: { a: 'b' } })],
    [
      'a label of the machine',
      'pools.0.labels.kubernetes.io/hostname',
      pool({ labels: { 'kubernetes.io/hostname': 'x' } }),
    ],
    ['an unknown field of the kubelet', 'pools.0.kubelet_config.maxPod', pool({ kubelet_config: { maxPod: '9' } })],
    ['a bad setting of CRI-O', 'pools.0.crio_config.log-level', pool({ crio_config: { 'log-level': 'loud' } })],
    ['an unknown group', 'pools.0.security_group_ids.0', pool({ security_group_ids: [UNKNOWN] })],
    ['overlapping ranges', 'services_ip_pool', { pods_ip_pool: '10.0.0.0/16', services_ip_pool: '10.0.8.0/24' }],
    ['a range of the platform', 'pods_ip_pool', { pods_ip_pool: '10.255.0.0/16' }],
    ['IPv6 without is_ipv6', 'pods_ipv6_pool', { pods_ipv6_pool: 'fd00:10:244::/104' }],
    ['an unknown network', 'fixed_network', { fixed_network: UNKNOWN }],
    ['an unknown subnet', 'fixed_subnet', { fixed_subnet: UNKNOWN }],
    ['Slurm that is off', 'add_ons.slurm.enabled', { add_ons: { slurm: { enabled: false } } }],
    ['Cilium settings for Calico', 'cni.cilium', { cni: { provider: 'calico', cilium: {} } }],
    ['a bad parameter', 'autoscaler_config.expander', { autoscaler_config: { expander: 'random,price' } }],
  ])('%s', async (_what, field, overrides) => {
    const body = parts.body({ name: 'refused', ...overrides });
    const answer = await service.http.post(CLUSTERS, body);
    expect(answer.body).toMatchObject({
      exception_class: 'ValidationError',
      invalid_fields: { [field]: [expect.any(String)] },
    });
    expect(answer.status).toBe(400);
    expect((await service.http.get(`${CLUSTERS}/refused`)).status).toBe(404);
  });

  test('a region without Kubernetes, one without VAST', async () => {
    const { http } = service;
    const none = await http.post('/cloud/v1/k8s/clusters/1/3', parts.body());
    expect(none).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("doesn't offer Kubernetes") },
    });
    const noVast = await http.post('/cloud/v1/k8s/clusters/1/2', parts.body({ pools: [POOL] }));
    expect(noVast.body.invalid_fields).toHaveProperty(['csi.nfs.vast_enabled']);
  });

  test('a name that exists, in this project and region alone', async () => {
    const { http } = service;
    const body = parts.body({ csi: {}, pools: [POOL] });
    await makeCluster(http, body);
    expect(await http.post(CLUSTERS, body)).toMatchObject({
      status: 409,
      body: { exception_class: 'ConflictError', message: expect.stringContaining(String(body.name)) },
    });
    const elsewhere = await http.post('/cloud/v1/k8s/clusters/1/2', body);
    expect(elsewhere.status, elsewhere.text).toBe(200);
    await http.task(elsewhere.body[0]);
  });

  test('nobody without a token, no reader, no stranger', async () => {
    const body = parts.body();
    expect((await service.anonymous.post(CLUSTERS, body)).status).toBe(401);
    expect((await service.anonymous.get(CLUSTERS)).status).toBe(401);
    expect((await (await service.withRole('Users')).post(CLUSTERS, body)).status).toBe(403);
    const stranger = await service.otherTenant();
    expect((await stranger.http.post(CLUSTERS, body)).status).toBe(404);
    expect((await stranger.http.get(CLUSTERS)).status).toBe(404);
    // Another project's key doesn't count.
    const own = await stranger.http.post(`/cloud/v1/k8s/clusters/${stranger.projectId}/1`, body);
    expect(own.body.invalid_fields).toHaveProperty('keypair');
  });
});

describe('a creation that fails', () => {
  test('ends in ERROR with the reason and leaves nothing behind', async () => {
    const { http, pool } = service;
    const used = async () => {
      const { rows } = await pool.query(
        `select used from quota_usage where client_id = 1 and region_id = 1 and attribute = 'cluster_count'`,
      );
      return rows[0].used;
    };
    const before = await used();
    const body = parts.body({
      name: 'failing',
      logging: { enabled: true, destination_region_id: 1, topic_name: 'simulate-failure' },
    });
    const goOn = await pauseClusterWork(service);
    const accepted = await http.post(CLUSTERS, body);
    const { body: held } = await http.get(`${CLUSTERS}/failing`);
    await goOn();
    expect(await http.task(accepted.body[0])).toMatchObject({
      state: 'ERROR',
      error: expect.stringContaining('simulate-failure'),
      created_resources: null,
    });
    expect((await http.get(`${CLUSTERS}/failing`)).status).toBe(404);
    expect(await settledInfrastructure(service, held)).toBeUndefined();
    expect(await used()).toBe(before);
  });
});

describe('the list', () => {
  test('has pages, newest first', async () => {
    const { http } = service;
    const names: unknown[] = [];
    for (let index = 0; index < 3; index++) {
      const body = parts.body({ pools: [POOL] });
      await makeCluster(http, body);
      names.unshift(body.name);
    }
    const { body } = await http.get(CLUSTERS);
    expect(body.count).toBe(body.results.length);
    expect(body.results.slice(0, 3).map((cluster: { name: string }) => cluster.name)).toEqual(names);
    expect(body.results[0]).toEqual((await http.get(`${CLUSTERS}/${names[0]}`)).body);
    const page = await http.get(`/gcore/cloud/v2/k8s/clusters/1/1?limit=1&offset=1`);
    expect(page.body).toEqual({ count: body.count, results: [body.results[1]] });
    expect((await http.get(`${CLUSTERS}?limit=0`)).status).toBe(400);
    expect((await http.get(`${CLUSTERS}?colour=red`)).status).toBe(400);
    expect((await http.get(`${CLUSTERS}?offset=1000`)).body.results).toEqual([]);
  });
});

describe('deletion', () => {
  test('is one task, at whose end the cluster is gone', async () => {
    const { http } = service;
    const cluster = await makeCluster(http, parts.body());
    const path = `${CLUSTERS}/${cluster.name}`;
    const goOn = await pauseClusterWork(service);
    const accepted = await http.delete(path);
    const [taskId] = accepted.body;
    expect((await http.get(path)).body).toMatchObject({ status: 'Deleting', task_id: taskId });
    for (const again of [await http.delete(path), await http.patch(path, { logging: { enabled: false } })]) {
      expect(again).toMatchObject({ status: 409, body: { message: expect.stringContaining(taskId) } });
    }
    await goOn();
    expect(await http.task(taskId)).toMatchObject({ task_type: 'delete_k8s_cluster_v2', state: 'FINISHED' });
    expect((await http.get(path)).status).toBe(404);
    expect((await http.delete(path)).status).toBe(404);
    expect(await settledInfrastructure(service, cluster)).toBeUndefined();
    await makeCluster(http, parts.body({ name: cluster.name }));
  });

  test('refuses volumes that are not of the cluster, strangers and readers', async () => {
    const { http } = service;
    const cluster = await makeCluster(http, parts.body());
    const path = `${CLUSTERS}/${cluster.name}`;
    for (const volumes of [UNKNOWN, `${UNKNOWN},${UNKNOWN}`, 'nothing', `${UNKNOWN},`]) {
      const { status, body } = await http.delete(`${path}?volumes=${volumes}`);
      expect(body.invalid_fields).toHaveProperty('volumes');
      expect(status).toBe(400);
    }
    expect((await service.anonymous.delete(path)).status).toBe(401);
    expect((await (await service.withRole('Users')).delete(path)).status).toBe(403);
    expect((await (await service.otherTenant()).http.delete(path)).status).toBe(404);
    expect((await http.get(path)).body).toEqual(cluster);
    const client = await http.delete(`/gcore/cloud/v2/k8s/clusters/1/1/${cluster.name}?volumes=`);
    expect(client).toMatchObject({ status: 200, body: { tasks: [ANY_UUID] } });
    await http.task(client.body.tasks[0]);
  });
});
