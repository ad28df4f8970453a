import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { HttpClient } from './http-client.ts';
import { anyEmail, PASSWORD } from './logins.ts';
import { type DocumentedOperation, pathParameters, type Values } from './openapi.ts';
import { tlsBundle } from './tls-bundles.ts';

/** Required parameters of queries that name a thing, by operation. */
const IN_QUERIES: Record<string, Record<string, string> | undefined> = {
  getReachability: { from: 'port_id' },
};

/** Real things of the first account for each path parameter. A new parameter needs a maker below. */
export interface Possessions {
  values: Values;
  /** Makes missing things that the paths name. */
  makeFor(operations: DocumentedOperation[]): Promise<void>;
  /** Makes missing things by the names of the path parameters. */
  make(...names: string[]): Promise<void>;
  /** Returns the values for the path of one operation. */
  of(operation: DocumentedOperation): Values;
  /** Returns the same, but the last part of the path is new, to be deleted. */
  freshFor(operation: DocumentedOperation): Promise<Values>;
}

/** Where the test kit is on, a rule may hold the tasks of volumes whose names begin so. */
export const HELD = 'held-';

export function createPossessions(http: HttpClient): Possessions {
  const values: Values = {
    project_id: 1,
    region_id: 1,
    clientId: 1,
    client_id: 1,
    resellerId: 1,
    notification_type: 'failed_login',
  };
  const makers = possessionMakers(http, values);

  async function made(name: string): Promise<string | number> {
    const make = makers[name];
    if (!make) throw new Error(`test/support/possessions.ts makes nothing for the path parameter ${name}`);
    return make();
  }
  async function make(...names: string[]): Promise<void> {
    for (const name of new Set(names)) values[name] ??= await made(name);
  }
  const namesIn = (operation: DocumentedOperation) => [
    ...pathParameters(operation).map(({ name }): [string, string] => [name, valueName(operation, name)]),
    ...Object.entries(IN_QUERIES[operation.operation.operationId] ?? {}),
  ];
  const of = (operation: DocumentedOperation) =>
    Object.fromEntries(namesIn(operation).map(([name, possession]) => [name, values[possession] ?? 'missing']));

  return {
    values,
    of,
    async makeFor(operations) {
      await make(...operations.flatMap((op) => namesIn(op).map(([, possession]) => possession)));
    },
    make,
    async freshFor(operation) {
      const last = pathParameters(operation).at(-1)?.name;
      // It is about the account of the caller.
      if (last === undefined) return {};
      return { ...of(operation), [last]: await made(valueName(operation, last)) };
    },
  };
}

function taskName(path: string): string {
  if (path.endsWith('/subtitles.vtt')) return 'transcribed_task_id';
  if (path.startsWith('/tradewind/v1/ai-tasks/')) return 'inside_ai_task_id';
  if (path.startsWith('/streaming/')) return 'ai_task_id';
  return path.endsWith('/cancel') ? 'held_task_id' : 'task_id';
}

/** Each port is attached to an instance, or not, as the operation requires. */
function portName(path: string): string {
  if (path.endsWith('_devices')) return 'vip_port_id';
  if (path.endsWith('/convert')) return 'convertible_port_id';
  if (path.endsWith('/disable_port_security')) return 'exposed_port_id';
  return path.includes('/reserved_fixed_ips/') ? 'reserved_port_id' : 'port_id';
}

/** A pool has one monitor at most, only what is there can be changed, and a replacement removes the other members. */
function poolName(path: string, method: string): string {
  if (path.endsWith('/healthmonitor') && method !== 'POST') return 'monitored_pool_id';
  return path.endsWith('/members') && method === 'PUT' ? 'replaced_pool_id' : 'pool_id';
}

/** The action that an instance needs before each of the direct actions. */
const DIRECT_ACTIONS: Record<string, string | undefined> = {
  start: 'stop',
  stop: undefined,
  reboot: undefined,
  powercycle: undefined,
  suspend: undefined,
  resume: 'suspend',
};
const PLACED = ['put_into_servergroup', 'remove_from_servergroup'];

const OF_STANDARD_SHARES: Record<string, string | undefined> = {
  region_id: 'standard_region_id',
  file_share_id: 'standard_share_id',
};

const BY_PATH: Record<string, ((path: string, method: string) => string) | undefined> = {
  // Nobody shuts or deletes the own account.
  client_id: (path) => (path.startsWith('/tradewind/v1/clients/') ? 'spare_client_id' : 'client_id'),
  clientId: (path) => (path.startsWith('/iam/products/') ? 'spare_client_id' : 'clientId'),
  floating_ip_id: (path) => (path.endsWith('/convert') ? 'convertible_floating_ip_id' : 'floating_ip_id'),
  pool_id: poolName,
  port_id: portName,
  task_id: taskName,
};

/** Distinguishes parameters with the same name: AI tasks and platform tasks, free and paid features. */
function valueName({ method, path }: DocumentedOperation, parameter: string): string {
  const byPath = BY_PATH[parameter];
  if (byPath) return byPath(path, method);
  // A separate group, so that no change of the other one removes the rule.
  if (parameter === 'group_id' && path.includes('{rule_id}')) return 'group_of_rule_id';
  if (parameter === 'instance_id' && path.includes('{pool_name}')) return 'node_of_pool_id';
  if (parameter === 'instance_id' && path.includes('{cluster_name}')) return 'node_id';
  if (parameter === 'volume_id' && path.endsWith('/revert')) return 'snapshotted_volume_id';
  // Only standard shares have access rules, and they are in another region.
  if (path.includes('/access_rule')) return OF_STANDARD_SHARES[parameter] ?? parameter;
  // Each action gets its own instance, in a suitable state.
  const action = path.split('/').at(-1) ?? '';
  const needsOwn = action in DIRECT_ACTIONS || PLACED.includes(action);
  if (parameter === 'instance_id' && needsOwn) return `instance_id_to_${action}`;
  return parameter === 'activatedFeatureId' && path.includes('/free_') ? 'activatedFreeFeatureId' : parameter;
}

/** The documentation's example of a tag. */
const tags = { env: 'production' };

const STANDARD_REGION = 2;
const STANDARD_SHARES = `/cloud/v1/file_shares/1/${STANDARD_REGION}`;

const CLUSTERS = '/cloud/v1/k8s/clusters/1/1';

export const anyName = () => `kept-${randomBytes(4).toString('hex')}`;

const DAILY = [
  { type: 'cron', hour: '3' },
  { type: 'interval', days: 1 },
];
const snapshotPolicy = () => ({
  ...{ name: anyName(), action: 'volume_snapshot', schedules: DAILY },
});

/** Returns the body of a cluster with every group of settings, with its own SSH key. */
export async function clusterBody(http: HttpClient) {
  const key = await http.post('/cloud/v1/ssh_keys/1', { name: anyName() });
  expect(key.status, key.text).toBe(201);
  return {
    name: anyName(),
    version: 'v1.32.13',
    keypair: key.body.name,
    cni: { provider: 'cilium' },
    csi: { nfs: { vast_enabled: true } },
    pools: [
      {
        name: 'gpu',
        flavor_id: 'bm3-ai-8xlarge-gpu-h100-8',
        min_node_count: 1,
      },
    ],
  };
}

/** Returns the ids of the tasks in an answer, in either dialect. */
export function tasksIn(body: unknown): string[] {
  const tasks = Array.isArray(body) ? body : (body as { tasks?: unknown } | undefined)?.tasks;
  return Array.isArray(tasks) && tasks.every((id) => typeof id === 'string') ? tasks : [];
}

function possessionMakers(http: HttpClient, values: Values): Record<string, () => Promise<string | number>> {
  const made = async (path: string, body: object) => {
    const answer = await http.post(path, body);
    expect([200, 201], answer.text).toContain(answer.status);
    return answer.body;
  };
  const webhook = async () => {
    const body = { url: 'https://hooks.example.com/in', types: ['tradewind.webhook.test'] };
    return (await made('/tradewind/v1/webhooks', body)).id;
  };
  const byTask = async (path: string, body: object) => {
    const [taskId = ''] = tasksIn(await made(path, body));
    const task = await http.task(taskId);
    expect(task).toMatchObject({ state: 'FINISHED', error: null });
    values.task_id ??= taskId;
    return task.created_resources;
  };
  const first = async (path: string) => (await http.get(path)).body.results[0].id;
  const sshKey = async () => (await made('/cloud/v1/ssh_keys/1', { name: anyName() })).id;
  const network = async () =>
    (await byTask('/cloud/v1/networks/1/1', { name: anyName(), create_router: false, tags })).networks[0];
  const volume = async () => {
    const image_id = await first('/cloud/v1/images/1/1');
    const body = { source: 'image', image_id, name: anyName(), size: 10, tags };
    return (await byTask('/cloud/v1/volumes/1/1', body)).volumes[0];
  };
  const instance = async (ofInterface: object = {}) =>
    byTask('/cloud/v2/instances/1/1', {
      name: anyName(),
      flavor: 'g1-standard-1-2',
      tags,
      interfaces: [
        {
          type: 'any_subnet',
          network_id: await first('/cloud/v1/networks/1/1?name=default'),
          ...ofInterface,
        },
      ],
      volumes: [{ source: 'image', image_id: await first('/cloud/v1/images/1/1'), size: 20 }],
    });
  const loadBalancer = async () =>
    (await byTask('/cloud/v1/loadbalancers/1/1', { name: anyName(), tags })).loadbalancers[0];
  const freeBalancer = async () => {
    values.load_balancer_id ??= await loadBalancer();
    return values.load_balancer_id;
  };
  const listener = async () => {
    const load_balancer_id = await freeBalancer();
    const protocol_port = randomInt(10_000, 60_000);
    const body = { name: anyName(), load_balancer_id, protocol: 'HTTP', protocol_port };
    return (await byTask('/cloud/v1/lblisteners/1/1', body)).listeners[0];
  };
  const lbPool = async (more: object = {}) => {
    const load_balancer_id = await freeBalancer();
    const body = { name: anyName(), load_balancer_id, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' };
    return (await byTask('/cloud/v1/lbpools/1/1', { ...body, ...more })).pools[0];
  };
  const policy = async () => {
    values.listener_id ??= await listener();
    const body = { listener_id: values.listener_id, action: 'REJECT' };
    return (await byTask('/cloud/v1/l7policies/1/1', body)).l7polices[0];
  };
  const reserved = async (body: object) => (await byTask('/cloud/v1/reserved_fixed_ips/1/1', body)).ports[0];
  const activated = async (kind: 'paid' | 'free', feature_id: number) => {
    const { id: client_id } = await made('/iam/clients/create', { company: anyName() });
    return (await made(`/iam/admin/${kind}_features`, { client_id, feature_id })).id;
  };

  const group = async () => {
    const security_group = { name: anyName(), tags };
    return (await made('/cloud/v1/securitygroups/1/1', { security_group })).id;
  };

  const cluster = async () => {
    const body = await clusterBody(http);
    await byTask(CLUSTERS, body);
    return body.name;
  };
  /**
   * Returns the path of a cluster that no task holds: the deletion of a node holds it too, but its task is
   * not announced.
   */
  const freeCluster = async () => {
    values.cluster_name ??= await cluster();
    const at = `${CLUSTERS}/${values.cluster_name}`;
    const { task_id } = (await http.get(at)).body;
    if (task_id !== null) await http.task(task_id);
    return at;
  };
  const pool = async () => {
    const name = anyName();
    await byTask(`${await freeCluster()}/pools`, {
      name,
      flavor_id: 'bm3-ai-8xlarge-gpu-h100-8',
      min_node_count: 1,
      max_node_count: 3,
    });
    return name;
  };
  const nodeOf = async (place: string) => first(`${await freeCluster()}${place}/instances`);
  const standardShare = async () => {
    const network_id = await first(`/cloud/v1/networks/1/${STANDARD_REGION}?name=default`);
    const share = { name: anyName(), protocol: 'NFS', size: 1, network: { network_id } };
    return (await byTask(STANDARD_SHARES, share)).file_shares[0];
  };
  const placement = async () => {
    const group = { name: anyName(), policy: 'anti-affinity' };
    return (await made('/cloud/v1/servergroups/1/1', group)).servergroup_id;
  };
  const aiTask = async (url = 'https://media.example.com/kept.mp4') => {
    return (await made('/streaming/ai/tasks', { task_name: 'transcription', url })).task_id;
  };

  const member = async () => {
    const { invitation_token: token } = await made('/iam/clients/invite_user', {
      email: anyEmail(),
      user_role: { name: 'Users' },
      client_id: 1,
    });
    return (await made('/iam/auth/accept_invitation', { token, password: PASSWORD })).user_id;
  };

  return {
    project_id: async () => (await made('/cloud/v1/projects', { name: anyName() })).id,
    group_id: group,
    group_of_rule_id: group,
    rule_id: async () => {
      values.group_of_rule_id ??= await group();
      const port = randomInt(10_000, 60_000);
      const rule = { direction: 'ingress', protocol: 'tcp', port_range_min: port, port_range_max: port };
      return (await made(`/cloud/v1/securitygroups/1/1/${values.group_of_rule_id}/rules`, rule)).id;
    },
    cluster_name: cluster,
    node_id: () => nodeOf(''),
    async node_of_pool_id() {
      values.pool_name ??= await pool();
      return nodeOf(`/pools/${values.pool_name}`);
    },
    pool_name: pool,
    ssh_key_id: sshKey,
    keypair_id: sshKey,
    file_share_id: async () =>
      (
        await byTask('/cloud/v1/file_shares/1/1', {
          name: anyName(),
          protocol: 'NFS',
          size: 10,
          type_name: 'vast',
          share_settings: { root_squash: false, path_length: 'NPL', allowed_characters: 'NPL' },
          tags,
        })
      ).file_shares[0],
    standard_region_id: async () => STANDARD_REGION,
    standard_share_id: standardShare,
    async access_rule_id() {
      values.standard_share_id ??= await standardShare();
      const at = `${STANDARD_SHARES}/${values.standard_share_id}/access_rule`;
      return (await made(at, { ip_address: `10.20.${randomInt(256)}.${randomInt(256)}`, access_mode: 'ro' })).id;
    },
    volume_id: volume,
    async snapshotted_volume_id() {
      const volume_id = await volume();
      await byTask('/cloud/v1/snapshots/1/1', { name: anyName(), volume_id });
      return volume_id;
    },
    held_task_id: async () => {
      const body = { source: 'new-volume', name: `${HELD}${anyName()}`, size: 1 };
      return tasksIn(await made('/cloud/v1/volumes/1/1', body))[0] ?? 'missing';
    },
    task_id: async () => {
      await volume();
      return values.task_id ?? 'missing';
    },
    snapshot_id: async () =>
      (await byTask('/cloud/v1/snapshots/1/1', { name: anyName(), volume_id: await volume() })).snapshots[0],
    policy_id: async () => (await made('/cloud/v1/lifecycle_policy/1/1', snapshotPolicy())).id,
    schedule_id: async () => (await made('/cloud/v1/lifecycle_policy/1/1', snapshotPolicy())).schedules[0].id,
    network_id: network,
    router_id: async () => (await byTask('/cloud/v1/routers/1/1', { name: anyName() })).routers[0],
    subnet_id: async () => {
      const body = { name: anyName(), network_id: await network(), cidr: '10.10.0.0/24', tags };
      return (await byTask('/cloud/v1/subnets/1/1', body)).subnets[0];
    },
    image_id: async () =>
      (await byTask('/cloud/v1/images/1/1', { name: anyName(), volume_id: await volume(), tags })).images[0],
    namespace_name: async () => 'acme',
    webhook_id: webhook,
    // Only one of a region, in which nothing else is made.
    async maintenance_id() {
      const path = '/tradewind/v1/platform/maintenances';
      const [known] = (await http.get(path)).body.results;
      return (known ?? (await made(path, { region_id: 3, reason: anyName() }))).id;
    },
    async budget_id() {
      const project = await made('/cloud/v1/projects', { name: anyName() });
      return (await made('/tradewind/v1/budgets', { amount: 500, project_id: project.id })).id;
    },
    async provider_id() {
      const issuer = `https://${randomUUID()}.example.com`;
      const body = { name: anyName(), issuer, oidc_client_id: 'tradewind', email_domains: ['example.com'] };
      return (await made('/tradewind/v1/identity_providers', body)).id;
    },
    async quota_list_id() {
      const valid_from = new Date(Date.now() + 86_400_000).toISOString();
      return (await made('/tradewind/v1/quota_lists', { scope: 'client', id: 1, valid_from, limits: [] })).id;
    },
    // Not in force yet, or nobody could delete it.
    async price_list_id() {
      const valid_from = new Date(Date.now() + 86_400_000).toISOString();
      return (await made('/tradewind/v1/price_lists', { scope: 'client', id: 1, valid_from })).id;
    },
    async delivery_id() {
      values.webhook_id ??= await webhook();
      const tested = await http.post(`/tradewind/v1/webhooks/${values.webhook_id}/test`);
      expect(tested.status, tested.text).toBe(201);
      return tested.body.id;
    },
    async profile_id() {
      const [port_id] = (await instance()).ports;
      const [floating] = (await byTask('/cloud/v1/floatingips/1/1', { port_id })).floatingips;
      const { floating_ip_address: ip_address } = (await http.get(`/cloud/v1/floatingips/1/1/${floating}`)).body;
      const fields = [{ base_field: 10, field_value: [45046] }];
      const body = { profile_template: 29, ip_address, fields };
      return (await byTask('/cloud/v1/ddos/profiles/1/1', body)).ddos_profiles[0];
    },
    async topic_name() {
      const name = anyName();
      const logging = '/cloud/v1/laas/1/1';
      await http.request('PATCH', `${logging}/status`, { body: { is_initialized: true } });
      const topic = await http.request('PUT', `${logging}/topics`, { body: { name } });
      expect(topic.status, topic.text).toBe(201);
      return name;
    },
    async key() {
      const key = anyName();
      const tagged = await http.post(`/cloud/v1/instances/1/1/${values.instance_id}/metadata`, {
        [key]: 'x',
      });
      expect(tagged.status, tagged.text).toBe(204);
      return key;
    },
    instance_id: async () => (await instance()).instances[0],
    // There are none: AMQP is not supported, and no month has ended.
    subscription_id: async () => 17,
    invoice_id: async () => 17,
    port_id: async () => (await instance()).ports[0],
    exposed_port_id: async () => (await instance()).ports[0],
    reserved_port_id: () => reserved({ type: 'external' }),
    convertible_port_id: () => reserved({ type: 'external' }),
    // In the network of the instances.
    vip_port_id: async () =>
      reserved({
        type: 'any_subnet',
        network_id: await first('/cloud/v1/networks/1/1?name=default'),
        is_vip: true,
      }),
    load_balancer_id: loadBalancer,
    listener_id: listener,
    pool_id: () => lbPool(),
    replaced_pool_id: () => lbPool(),
    monitored_pool_id: () => lbPool({ healthmonitor: { type: 'TCP', delay: 10, timeout: 5, max_retries: 2 } }),
    async member_id() {
      values.pool_id ??= await lbPool();
      const body = { address: `10.20.${randomInt(256)}.${randomInt(256)}`, protocol_port: 80 };
      return (await byTask(`/cloud/v1/lbpools/1/1/${values.pool_id}/member`, body)).members[0];
    },
    l7policy_id: policy,
    async l7rule_id() {
      values.l7policy_id ??= await policy();
      const rule = { type: 'PATH', compare_type: 'STARTS_WITH', value: `/${anyName()}` };
      return (await byTask(`/cloud/v1/l7policies/1/1/${values.l7policy_id}/rules`, rule)).l7rules[0];
    },
    servergroup_id: placement,
    instance_id_to_put_into_servergroup: async () => (await instance()).instances[0],
    instance_id_to_remove_from_servergroup: async () => {
      const [id] = (await instance()).instances;
      const body = { servergroup_id: await placement() };
      await byTask(`/cloud/v1/instances/1/1/${id}/put_into_servergroup`, body);
      return id;
    },
    client_id: async () => (await made('/iam/clients/create', { company: anyName() })).id,
    spare_client_id: async () => (await made('/iam/clients/create', { company: anyName() })).id,
    reseller_id: async () => (await made('/tradewind/v1/resellers', { name: anyName() })).id,
    async request_id() {
      const asked = await http.post('/cloud/v2/limits_request', {
        description: anyName(),
        requested_limits: { global_limits: { project_count_limit: 20_000 } },
      });
      expect(asked.status, asked.text).toBe(201);
      return first('/cloud/v2/limits_request');
    },
    secret_id: async () =>
      (await byTask('/cloud/v2/secrets/1/1', { name: anyName(), payload: await tlsBundle() })).secrets[0],
    floating_ip_id: async () => (await byTask('/cloud/v1/floatingips/1/1', { tags })).floatingips[0],
    convertible_floating_ip_id: async () => (await byTask('/cloud/v1/floatingips/1/1', {})).floatingips[0],
    ...Object.fromEntries(
      Object.entries(DIRECT_ACTIONS).map(([action, before]) => [
        `instance_id_to_${action}`,
        async () => {
          const [id] = (await instance()).instances;
          if (before !== undefined) {
            await byTask(`/cloud/v2/instances/1/1/${id}/action`, { action: before });
          }
          return id;
        },
      ]),
    ),
    userId: member,
    user_id: member,
    // Only the user in person sees it: accepted-bodies.ts makes the one that is removed.
    second_factor_id: async () => randomUUID(),
    async assignment_id() {
      const user_id = await member();
      values.assigned_user_id ??= user_id;
      return (await made('/cloud/v1/users/assignments', { user_id, project_id: 1, role: 'Observer' })).id;
    },
    sellerId: async () => (await made('/iam/admin/sellers', { email: anyEmail(), full_name: anyName() })).id,
    serviceId: async () => {
      const { body } = await http.get('/iam/clients/1/services');
      return body.find(({ name }: { name: string }) => name === 'CLOUD').id;
    },
    requestId: async () => {
      await made('/cloud/v1/projects', { name: anyName() });
      return (await http.get('/iam/activity_log/requests?limit=1')).body.result[0].id;
    },
    ai_task_id: () => aiTask(),
    // Its file is fetched from nowhere, whatever the network of the tests.
    inside_ai_task_id: () => aiTask('http://127.0.0.1/kept.mp4'),
    transcribed_task_id: () => aiTask(),
    tokenId: async () =>
      (
        await made('/iam/v2/clients/1/tokens', {
          name: anyName(),
          exp_date: null,
          client_user: { role: { name: 'Users' } },
        })
      ).id,
    // Made with the token of the tests, which sees only such logins.
    login_id: async () => {
      const entered = await http.get('/iam/auth/jwt/clients/1/login');
      expect(entered.status, entered.text).toBe(200);
      return (await http.get('/tradewind/v1/logins?limit=1')).body.results[0].id;
    },
    featureId: async () => (await http.get('/iam/admin/feature')).body[0].id,
    activatedFeatureId: () => activated('paid', 5),
    activatedFreeFeatureId: () => activated('free', 6),
    notificationSettingsId: async () =>
      (
        await made('/iam/reselling/resellers/1/notification_settings', {
          notification_type: 'failed_login',
          email: `${anyName()}@example.com`,
        })
      ).id,
  };
}
