import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CLUSTERS,
  type ClusterParts,
  clusterParts,
  makeCluster,
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

const allSix = () => ({
  add_ons: {
    slurm: { enabled: true, file_share_id: parts.shareId, ssh_key_ids: [parts.keyId], worker_count: 2 },
  },
  authentication: {
    oidc: {
      client_id: 'kubernetes',
      groups_claim: 'groups',
      groups_prefix: 'oidc:',
      issuer_url: 'https://accounts.example.com',
      required_claims: { hd: 'example.com' },
      signing_algs: ['RS256', 'ES256'],
      username_claim: 'email',
      username_prefix: 'oidc:',
    },
  },
  autoscaler_config: { 'scan-interval': '10s', expander: 'least-waste,random' },
  cni: {
    provider: 'cilium',
    cilium: { encryption: true, hubble_relay: true, hubble_ui: true, lb_mode: 'dsr', tunnel: 'geneve' },
  },
  ddos_profile: {
    enabled: true,
    profile_template: 29,
    fields: [{ base_field: 10, field_value: [45046, 45047] }],
  },
  logging: {
    enabled: true,
    destination_region_id: 2,
    topic_name: 'my-log-name',
    retention_policy: { period: 45 },
  },
});

const newCluster = (overrides?: object) => makeCluster(service.http, parts.body(overrides));
const path = (cluster: { name: string }) => `${CLUSTERS}/${cluster.name}`;

describe('all six groups at once', () => {
  test('become one task, and the cluster shows them when it has finished', async () => {
    const { http } = service;
    const before = await newCluster();
    const sent = allSix();
    const goOn = await pauseClusterWork(service);
    const answer = await http.patch(path(before), sent);
    expect(answer).toMatchObject({ status: 200, body: [expect.any(String)] });
    const [taskId] = answer.body;
    const held = (await http.get(path(before))).body;
    expect(held).toEqual({ ...before, task_id: taskId });
    await goOn();

    const task = await http.task(taskId);
    expect(task).toMatchObject({
      task_type: 'update_k8s_cluster_v2',
      state: 'FINISHED',
      created_resources: null,
      data: { cluster_name: before.name, ...sent },
    });
    const { body: after } = await http.get(path(before));
    expect(after).toEqual({
      ...before,
      ...sent,
      cni: { provider: 'cilium', cilium: { ...before.cni.cilium, ...sent.cni.cilium } },
      authentication: { ...before.authentication, ...sent.authentication },
      ddos_profile: { ...sent.ddos_profile, profile_template_name: null },
    });

    const live = await settledInfrastructure(service, before);
    // The creation and this change.
    expect(live).toMatchObject({
      revision: 2,
      spec: { configuration: { logging: after.logging, cni: after.cni, add_ons: after.add_ons } },
    });
  });
});

describe('an update that changes nothing starts no task, and under /gcore names one that is finished', () => {
  test.each([
    ['no group', {}],
    ['null groups', { authentication: null, autoscaler_config: null, cni: null, ddos_profile: null, logging: null }],
    ['the values that are there', { logging: { enabled: true, destination_region_id: 1, topic_name: 'logs' } }],
    ['empty groups', { logging: {}, add_ons: {}, authentication: {}, cni: {} }],
    ['a part of what is there', { logging: { topic_name: 'logs' }, cni: { cilium: { encryption: false } } }],
    ['Slurm off while it is off', { add_ons: { slurm: { enabled: false } } }],
    ['overrides that are there', { autoscaler_config: { 'scan-interval': '20s' } }],
  ])('%s', async (_what, update) => {
    const cluster = await newCluster({
      logging: { enabled: true, destination_region_id: 1, topic_name: 'logs' },
      autoscaler_config: { 'scan-interval': '20s' },
    });
    expect(await service.http.patch(path(cluster), update)).toMatchObject({ status: 200, body: [] });
    const client = await service.http.patch(`/gcore${path(cluster).replace('v1', 'v2')}`, update);
    const { tasks } = client.body;
    expect(tasks, client.text).toHaveLength(1);
    const { body: task } = await service.http.get(`/cloud/v1/tasks/${tasks[0]}`);
    expect(task).toMatchObject({ task_type: 'update_k8s_cluster_v2', state: 'FINISHED', error: null });
    expect((await service.http.get(path(cluster))).body).toEqual(cluster);
  });
});

describe('what the older Terraform provider sends for what is not given', () => {
  const GCORE = `/gcore${CLUSTERS.replace('v1', 'v2')}`;
  const finished = async ({ status, text, body }: Awaited<ReturnType<typeof service.http.post>>) => {
    expect(status, text).toBe(200);
    expect(await service.http.task(body.tasks[0])).toMatchObject({ state: 'FINISHED' });
  };
  const profileOf = async (name: string) => (await service.http.get(`${CLUSTERS}/${name}`)).body.ddos_profile;
  const rules = [
    {
      sip_list: ['192.168.0.1'],
      dport_list: ['27015'],
      sport_list: ['27025'],
      proto_list: ['udp'],
      policy: 'DROP',
    },
  ];

  test('counts as absent beside the name or the ID of a template', async () => {
    const fields = [
      { base_field: 1353, field_value: ['AF'] },
      { base_field: 1356, field_value: 300 },
      { base_field: 1357, field_value: 300 },
      { base_field: 1352, field_value: rules },
    ];
    const given = { enabled: true, fields, profile_template: 1128, profile_template_name: '' };
    const body = parts.body({ ddos_profile: given });
    const name = String(body.name);
    const created = await service.http.post(GCORE, body);
    await finished(created);
    expect(created.headers.get('tradewind-ignored')).toBe('ddos_profile.profile_template_name');
    expect(await profileOf(name)).toEqual({ ...given, profile_template_name: null });

    const another = { base_field: 10, field_value: [27015] };
    const named = {
      enabled: true,
      fields: [another],
      profile_template: 0,
      profile_template_name: 'game_server_v2',
    };
    const strict = await service.http.patch(`${CLUSTERS}/${name}`, { ddos_profile: named });
    expect([strict.status, Object.keys(strict.body.invalid_fields)]).toEqual([400, ['ddos_profile.profile_template']]);
    const older = await service.http.patch(`${GCORE}/${name}`, { ddos_profile: named });
    await finished(older);
    expect(older.headers.get('tradewind-ignored')).toBe('ddos_profile.profile_template');
    expect(await profileOf(name)).toEqual({ ...named, profile_template: null });
  });

  test('is refused where the contract is strict', async () => {
    const cluster = await newCluster();
    const ddos_profile = { ...allSix().ddos_profile, profile_template_name: '' };
    const headers = { 'tradewind-strict': 'true' };
    for (const [at, more] of [
      [path(cluster), {}],
      [`${GCORE}/${cluster.name}`, headers],
    ] as const) {
      const answer = await service.http.request('PATCH', at, { body: { ddos_profile }, headers: more });
      expect(answer.status, answer.text).toBe(400);
      expect(Object.keys(answer.body.invalid_fields)).toEqual(['ddos_profile.profile_template_name']);
    }
  });
});

test('pools beside a change are ignored: they have their own addresses', async () => {
  const cluster = await newCluster();
  const body = { logging: allSix().logging, pools: [{ name: 'other', max_node_count: 9 }] };
  const answer = await service.http.patch(`/gcore${path(cluster).replace('v1', 'v2')}`, body);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers.get('tradewind-ignored')).toBe('pools');
  expect(await service.http.task(answer.body.tasks[0])).toMatchObject({ state: 'FINISHED' });
  const { body: after } = await service.http.get(path(cluster));
  expect(after).toMatchObject({ logging: body.logging, pools: cluster.pools });
});

describe('absent, null and a value', () => {
  test('are three things', async () => {
    const { http } = service;
    const cluster = await newCluster({
      autoscaler_config: { 'scan-interval': '20s', expander: 'random' },
      authentication: {
        oidc: { issuer_url: 'https://a.example', client_id: 'one', username_claim: 'email' },
      },
      logging: {
        enabled: true,
        destination_region_id: 1,
        topic_name: 'logs',
        retention_policy: { period: 7 },
      },
    });
    const change = async (update: object) => {
      const { status, body, text } = await http.patch(path(cluster), update);
      expect(status, text).toBe(200);
      expect(await http.task(body[0])).toMatchObject({ state: 'FINISHED' });
      return (await http.get(path(cluster))).body;
    };
    const merged = await change({
      autoscaler_config: { expander: 'priority' },
      logging: { retention_policy: null },
    });
    expect(merged.autoscaler_config).toEqual({ 'scan-interval': '20s', expander: 'priority' });
    expect(merged.logging).toEqual({
      enabled: true,
      destination_region_id: 1,
      topic_name: 'logs',
      retention_policy: null,
    });
    expect(merged.authentication).toEqual(cluster.authentication);
    const reset = await change({
      autoscaler_config: {},
      authentication: { oidc: null },
      logging: { enabled: false },
    });
    expect(reset.autoscaler_config).toEqual({});
    expect(reset.authentication.oidc).toBeNull();
    expect(reset.logging).toMatchObject({ enabled: false, topic_name: 'logs' });
  });
});

describe('refused before any task', () => {
  let target: { name: string };
  beforeAll(async () => {
    target = await newCluster();
  });

  test.each<[what: string, field: string, update: () => object]>([
    ['an unknown group', 'loging', () => ({ loging: {} })],
    ['null for add-ons', 'add_ons', () => ({ add_ons: null })],
    [
      'an unknown parameter',
      'autoscaler_config.scan-intervall',
      () => ({ autoscaler_config: { 'scan-intervall': '1s' } }),
    ],
    ['a number for a text', 'autoscaler_config.scan-interval', () => ({ autoscaler_config: { 'scan-interval': 10 } })],
    [
      'a duration without unit',
      'autoscaler_config.scan-interval',
      () => ({ autoscaler_config: { 'scan-interval': '10' } }),
    ],
    [
      'a half OIDC',
      'authentication.oidc.client_id',
      () => ({ authentication: { oidc: { issuer_url: 'https://a.example' } } }),
    ],
    ['another provider', 'cni.provider', () => ({ cni: { provider: 'calico' } })],
    ['DSR over VXLAN', 'cni.cilium.lb_mode', () => ({ cni: { cilium: { lb_mode: 'dsr', tunnel: 'vxlan' } } })],
    [
      'an unknown template',
      'ddos_profile.profile_template',
      () => ({ ddos_profile: { enabled: true, profile_template: 7 } }),
    ],
    [
      'a value that its field does not take',
      'ddos_profile.fields.0.field_value',
      () => ({
        ddos_profile: {
          enabled: true,
          profile_template: 29,
          fields: [{ base_field: 10, field_value: [80] }],
        },
      }),
    ],
    [
      'an unknown destination',
      'logging.destination_region_id',
      () => ({ logging: { enabled: true, destination_region_id: 3 } }),
    ],
    ['a bad topic', 'logging.topic_name', () => ({ logging: { topic_name: 'UPPER' } })],
    [
      'Slurm half given',
      'add_ons.slurm.worker_count',
      () => ({
        add_ons: { slurm: { enabled: true, file_share_id: parts.shareId, ssh_key_ids: [parts.keyId] } },
      }),
    ],
    [
      'an unknown file share',
      'add_ons.slurm.file_share_id',
      () => ({
        add_ons: {
          slurm: { enabled: true, file_share_id: UNKNOWN, ssh_key_ids: [parts.keyId], worker_count: 1 },
        },
      }),
    ],
    [
      'an unknown key',
      'add_ons.slurm.ssh_key_ids.0',
      () => ({
        add_ons: {
          slurm: { enabled: true, file_share_id: parts.shareId, ssh_key_ids: [UNKNOWN], worker_count: 1 },
        },
      }),
    ],
  ])('%s', async (_what, field, update) => {
    const { http } = service;
    const before = (await http.get(path(target))).body;
    for (const base of ['', '/gcore']) {
      const { status, body } = await http.request('PATCH', `${base}${path(target)}`, {
        body: update(),
        // What nobody knows is ignored there otherwise.
        headers: { 'tradewind-strict': 'true' },
      });
      expect(body).toMatchObject({
        exception_class: 'ValidationError',
        invalid_fields: { [field]: [expect.any(String)] },
      });
      expect(status).toBe(400);
    }
    expect((await http.get(path(target))).body).toEqual(before);
  });

  test('every fault at once', async () => {
    const { body } = await service.http.patch(path(target), {
      autoscaler_config: { 'scan-interval': '10' },
      logging: { enabled: true },
      cni: { provider: 'calico' },
    });
    expect(Object.keys(body.invalid_fields).sort()).toEqual([
      'autoscaler_config.scan-interval',
      'cni.provider',
      'logging.destination_region_id',
    ]);
  });

  test.each<[what: string, cluster: object, text: RegExp]>([
    ['on Kubernetes 1.33', { version: 'v1.33.9' }, /1\.31 or 1\.32/],
    ['without a GPU pool', { pools: [{ name: 'infra', flavor_id: 'bm1-infra-medium', min_node_count: 1 }] }, /GPU/],
    ['without VAST NFS', { csi: {} }, /VAST NFS/],
  ])('Slurm %s', async (_what, overrides, text) => {
    const cluster = await newCluster(overrides);
    const { status, body } = await service.http.patch(path(cluster), { add_ons: allSix().add_ons });
    expect(status).toBe(400);
    expect(body.invalid_fields['add_ons.slurm.enabled']).toEqual([expect.stringMatching(text)]);
  });

  test('fewer Slurm workers', async () => {
    const { http } = service;
    const cluster = await newCluster({ add_ons: allSix().add_ons });
    const { slurm } = allSix().add_ons;
    const { status, body } = await http.patch(path(cluster), {
      add_ons: { slurm: { ...slurm, worker_count: 1 } },
    });
    expect(status).toBe(400);
    expect(body.invalid_fields).toHaveProperty(['add_ons.slurm.worker_count']);
    const grown = await http.patch(path(cluster), { add_ons: { slurm: { ...slurm, worker_count: 3 } } });
    expect(await http.task(grown.body[0])).toMatchObject({ state: 'FINISHED' });
  });
});

describe('while a task holds the cluster', () => {
  test('another change is refused and names it; one that gives no group is answered', async () => {
    const { http } = service;
    const cluster = await newCluster();
    const goOn = await pauseClusterWork(service);
    const first = await http.patch(path(cluster), { autoscaler_config: { 'scan-interval': '10s' } });
    const [taskId] = first.body;
    const refusals = [
      await http.patch(path(cluster), { autoscaler_config: { 'scan-interval': '30s' } }),
      await http.patch(path(cluster), { autoscaler_config: { 'scan-interval': '10s' } }),
      await http.delete(path(cluster)),
    ];
    for (const { status, body } of refusals) {
      expect(body).toMatchObject({
        exception_class: 'ConflictError',
        message: expect.stringContaining(taskId),
      });
      expect(status).toBe(409);
    }
    expect(await http.patch(path(cluster), { cni: null })).toMatchObject({ status: 200, body: [] });
    await goOn();
    await http.task(taskId);
    const next = await http.patch(path(cluster), { autoscaler_config: { 'scan-interval': '30s' } });
    expect(await http.task(next.body[0])).toMatchObject({ state: 'FINISHED' });
  });

  test('of many changes at once one wins', async () => {
    const { http } = service;
    const cluster = await newCluster();
    const goOn = await pauseClusterWork(service);
    const answers = await Promise.all(
      ['1s', '2s', '3s', '4s', '5s'].map((interval) =>
        http.patch(path(cluster), { autoscaler_config: { 'scan-interval': interval } }),
      ),
    );
    expect(answers.map((answer) => answer.status).sort((a, b) => a - b)).toEqual([200, 409, 409, 409, 409]);
    await goOn();
    const winner = answers.find((answer) => answer.status === 200);
    const task = await http.task(winner?.body[0]);
    expect((await http.get(path(cluster))).body.autoscaler_config).toEqual(task.data.autoscaler_config);
  });
});

describe('a change that fails', () => {
  test('ends in ERROR with the reason, puts back what was applied and frees the cluster', async () => {
    const { http } = service;
    const cluster = await newCluster({ autoscaler_config: { 'scan-interval': '20s' } });
    const before = await settledInfrastructure(service, cluster);
    const { body } = await http.patch(path(cluster), {
      autoscaler_config: { 'scan-interval': '10s' },
      logging: { enabled: true, destination_region_id: 1, topic_name: 'simulate-failure' },
    });
    const task = await http.task(body[0]);
    expect(task).toMatchObject({
      state: 'ERROR',
      error: expect.stringContaining('simulate-failure'),
      created_resources: null,
    });
    expect((await http.get(path(cluster))).body).toEqual(cluster);
    const live = await settledInfrastructure(service, cluster);
    expect(live?.spec?.configuration.autoscaler_config).toEqual({ 'scan-interval': '20s' });
    expect(live?.spec).toEqual(before?.spec);
    const again = await http.patch(path(cluster), { autoscaler_config: { 'scan-interval': '10s' } });
    expect(await http.task(again.body[0])).toMatchObject({ state: 'FINISHED' });
  });
});

describe('who and where', () => {
  test('both versions of the path, under both base addresses', async () => {
    const { http } = service;
    const cluster = await newCluster();
    const asked = ['/cloud/v1', '/cloud/v2', '/gcore/cloud/v1', '/gcore/cloud/v2'].map((base) => ({
      base,
      url: `${base}/k8s/clusters/1/1/${cluster.name}`,
    }));
    let seconds = 10;
    for (const { base, url } of asked) {
      const interval = `${++seconds}s`;
      const { status, body } = await http.patch(url, { autoscaler_config: { 'scan-interval': interval } });
      expect(status).toBe(200);
      const ids = base.startsWith('/gcore') ? body.tasks : body;
      expect(body).toEqual(base.startsWith('/gcore') ? { tasks: [expect.any(String)] } : [expect.any(String)]);
      expect(await http.task(ids[0])).toMatchObject({ state: 'FINISHED' });
      expect((await http.get(url)).body.autoscaler_config).toEqual({ 'scan-interval': interval });
    }
  });

  test('nobody without a token, no reader, no stranger', async () => {
    const cluster = await newCluster();
    const update = { autoscaler_config: { 'scan-interval': '10s' } };
    expect(await service.anonymous.patch(path(cluster), update)).toMatchObject({
      status: 401,
      body: { exception_class: 'not_authenticated' },
    });
    const reader = await service.withRole('Users');
    expect((await reader.patch(path(cluster), update)).status).toBe(403);
    const stranger = await service.otherTenant();
    expect((await stranger.http.patch(path(cluster), update)).status).toBe(404);
    const own = `/cloud/v1/k8s/clusters/${stranger.projectId}/1/${cluster.name}`;
    expect((await stranger.http.patch(own, update)).status).toBe(404);
    expect((await service.http.patch(`${CLUSTERS}/nothing-here`, update)).status).toBe(404);
    expect((await service.http.patch(`${CLUSTERS}/nothing-here`, {})).status).toBe(404);
    expect((await service.http.patch(`/cloud/v1/k8s/clusters/1/9/${cluster.name}`, update)).status).toBe(404);
    expect((await service.http.get(path(cluster))).body).toEqual(cluster);
  });
});
