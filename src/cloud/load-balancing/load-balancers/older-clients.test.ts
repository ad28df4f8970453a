import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../test/support/boot-volume.ts';
import type { Answer, HttpClient } from '../../../../test/support/http-client.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';
import { unchanged } from '../../../../test/support/unchanged.ts';

/** What the library of the older Terraform provider sends and reads. */

const BALANCERS = '/gcore/cloud/v1/loadbalancers/1/1';
const LISTENERS = '/gcore/cloud/v1/lblisteners/1/1';
const POOLS = '/gcore/cloud/v1/lbpools/1/1';
const MONITOR = { type: 'HTTP', delay: 10, timeout: 5, max_retries: 2 };

let service: TestService;
let http: HttpClient;
let network: { id: string; subnets: string[] };
beforeAll(async () => {
  service = await borrowService();
  http = service.http;
  network = (await http.get('/cloud/v1/networks/1/1?name=default')).body.results[0];
});
afterAll(() => service.stop());

async function finished({ status, body, text }: Answer) {
  expect(status, text).toBe(200);
  expect(body.tasks).toHaveLength(1);
  const task = await http.task(body.tasks[0]);
  expect(task, task.error).toMatchObject({ state: 'FINISHED', error: null });
  return task;
}
const only = async (path: string, body: object, kind: string): Promise<string> =>
  (await finished(await http.post(path, body))).created_resources[kind][0];
const balancer = (more: object = {}) => only(BALANCERS, { name: 'balancer', ...more }, 'loadbalancers');
const idsIn = ({ body }: Answer) => body.results.map(({ id }: { id: string }) => id);

const newListener = (more: object) => ({ name: 'web', protocol: 'HTTP', protocol_port: 80, ...more });
const newPool = (more: object) => ({
  name: 'web',
  protocol: 'HTTP',
  lb_algorithm: 'ROUND_ROBIN',
  timeout_client_data: 0,
  timeout_member_data: 0,
  timeout_member_connect: 0,
  ...more,
});

describe('loadbalancer_id', () => {
  it('is the load balancer of listeners and pools, in bodies and in filters', async () => {
    const [loadbalancer_id, other] = [await balancer(), await balancer()];
    const created = await http.post(
      LISTENERS,
      newListener({ loadbalancer_id, insert_x_forwarded: false, secret_id: '' }),
    );
    expect(created.headers.get('tradewind-ignored')).toBeNull();
    const { created_resources, data } = await finished(created);
    const [listener] = created_resources.listeners;
    expect(data).not.toHaveProperty('loadbalancer_id');
    const pool = await only(POOLS, newPool({ loadbalancer_id, listener_id: listener }), 'pools');
    const alone = await only(POOLS, newPool({ loadbalancer_id }), 'pools');
    expect((await http.get(`${LISTENERS}/${listener}`)).body.load_balancer_id).toBe(loadbalancer_id);
    expect((await http.get(`${POOLS}/${alone}`)).body.loadbalancers).toEqual([{ id: loadbalancer_id }]);

    expect(idsIn(await http.get(`${LISTENERS}?loadbalancer_id=${loadbalancer_id}`))).toEqual([listener]);
    expect(idsIn(await http.get(`${LISTENERS}?loadbalancer_id=${other}`))).toEqual([]);
    const pools = `${POOLS}?loadbalancer_id=${loadbalancer_id}`;
    expect(idsIn(await http.get(`${pools}&listener_id=&details=true`))).toEqual([alone, pool]);
    expect(idsIn(await http.get(`${pools}&listener_id=${listener}`))).toEqual([pool]);
  });

  it('is refused if it differs from load_balancer_id, and is no name at the other base address', async () => {
    const [first, second] = [await balancer(), await balancer()];
    const both = newListener({ loadbalancer_id: first, load_balancer_id: second });
    const differing = await http.post(LISTENERS, both);
    expect([differing.status, Object.keys(differing.body.invalid_fields)]).toEqual([400, ['loadbalancer_id']]);
    expect((await http.get(`${POOLS}?loadbalancer_id=${first}&load_balancer_id=${second}`)).status).toBe(400);
    await finished(await http.post(LISTENERS, { ...both, load_balancer_id: first }));

    const none = await http.post(LISTENERS, newListener({}));
    expect(Object.keys(none.body.invalid_fields)).toEqual(['load_balancer_id']);
    const strict = await http.post('/cloud/v1/lblisteners/1/1', newListener({ loadbalancer_id: first }));
    expect(Object.keys(strict.body.invalid_fields)).toEqual(['load_balancer_id', 'loadbalancer_id']);
    expect((await http.get(`/cloud/v1/lbpools/1/1?loadbalancer_id=${first}`)).status).toBe(400);
    expect((await http.get('/cloud/v1/lbpools/1/1?listener_id=')).status).toBe(400);
  });
});

describe('metadata of a load balancer', () => {
  it('is what tags are, as a list in answers', async () => {
    const id = await balancer({ metadata: { env: 'older' } });
    const shown = async () => (await http.get(`${BALANCERS}/${id}`)).body;
    const metadata = [{ key: 'env', value: 'older', read_only: false }];
    expect(await shown()).toMatchObject({ metadata, tags_v2: metadata });
    const found = async (query: string) => idsIn(await http.get(`${BALANCERS}?${query}`));
    expect(await found('metadata_k=env')).toEqual([id]);
    expect(await found(`metadata_kv=${encodeURIComponent("{'env':'older'}")}`)).toEqual([id]);
    expect(await found(`metadata_kv=${encodeURIComponent("{'env':'newer'}")}`)).toEqual([]);
    expect((await http.put(`${BALANCERS}/${id}/metadata`, { team: 'web' })).status).toBe(204);
    expect(await shown()).toMatchObject({ metadata: [{ key: 'team', value: 'web' }] });
    expect((await http.put(`${BALANCERS}/${id}/metadata`, {})).status).toBe(204);
    expect(await shown()).toMatchObject({ metadata: [] });

    const differing = await http.post(BALANCERS, { name: 'odd', metadata: { a: '1' }, tags: { a: '2' } });
    expect(Object.keys(differing.body.invalid_fields)).toEqual(['metadata']);
    const { body } = await http.get(`/cloud/v1/loadbalancers/1/1/${id}`);
    expect(body).not.toHaveProperty('metadata');
  });
});

describe('a pool that is sent back as it was read', () => {
  it('may name its monitor and its members by their IDs, and the task names all members', async () => {
    const member = (address: string) => ({ address, protocol_port: 80 });
    const pool = await only(
      POOLS,
      newPool({
        loadbalancer_id: await balancer(),
        healthmonitor: MONITOR,
        members: [member('10.0.7.1'), member('10.0.7.2')],
      }),
      'pools',
    );
    const shown = async () => (await http.get(`${POOLS}/${pool}`)).body;
    const { healthmonitor, members } = await shown();
    const changed = await http.patch(`${POOLS}/${pool}`, {
      name: 'web',
      healthmonitor: { ...MONITOR, id: healthmonitor.id, delay: 20 },
      members: [
        { ...member('10.0.7.1'), id: members[0].id, weight: 1 },
        { ...member('10.0.7.2'), id: members[1].id, weight: 5 },
      ],
    });
    expect(changed.headers.get('tradewind-ignored')).toBe('healthmonitor.id, members.0.id, members.1.id');
    const ids = members.map(({ id }: { id: string }) => id);
    expect((await finished(changed)).created_resources).toEqual({ members: ids });
    expect(await shown()).toMatchObject({
      healthmonitor: { id: healthmonitor.id, delay: 20 },
      members: [
        { id: ids[0], weight: 1 },
        { id: ids[1], weight: 5 },
      ],
    });
  });

  it('has a task to wait for even if nothing changes', async () => {
    const pool = await only(
      POOLS,
      newPool({ loadbalancer_id: await balancer(), members: [{ address: '10.0.7.3', protocol_port: 80 }] }),
      'pools',
    );
    const { members } = (await http.get(`${POOLS}/${pool}`)).body;
    const again = { members: [{ address: '10.0.7.3', protocol_port: 80, weight: 1 }] };
    const task = await unchanged(http, await http.patch(`/gcore/cloud/v2/lbpools/1/1/${pool}`, again));
    expect(task).toMatchObject({
      task_type: 'patch_lbpool',
      created_resources: { members: [members[0].id] },
      data: { pool_id: pool },
    });
    expect((await http.get(`${POOLS}/${pool}`)).body.task_id).toBeNull();
  });

  it('names a monitor that it gets', async () => {
    const pool = await only(POOLS, newPool({ loadbalancer_id: await balancer() }), 'pools');
    const { created_resources } = await finished(await http.patch(`${POOLS}/${pool}`, { healthmonitor: MONITOR }));
    const { healthmonitor } = (await http.get(`${POOLS}/${pool}`)).body;
    expect(created_resources).toEqual({ healthmonitors: [healthmonitor.id] });
  });
});

it('names the listener that a task changes, and has one for a body without fields', async () => {
  const id = await only(LISTENERS, newListener({ loadbalancer_id: await balancer() }), 'listeners');
  const at = `/gcore/cloud/v2/lblisteners/1/1/${id}`;
  const created = { created_resources: { listeners: [id] } };
  expect(await finished(await http.patch(at, { allowed_cidrs: ['10.0.0.0/8'] }))).toMatchObject(created);
  expect(await unchanged(http, await http.patch(at, {}))).toMatchObject(created);
  expect(await finished(await http.patch(at, { allowed_cidrs: null }))).toMatchObject(created);
});

describe('a member that names its instance', () => {
  it('shows it, may name its subnet as well, and stays when the instance goes', async () => {
    const [subnet_id = ''] = network.subnets;
    const instance = await only(
      '/gcore/cloud/v2/instances/1/1',
      {
        name: 'member',
        flavor: 'g1-standard-1-2',
        interfaces: [{ type: 'subnet', network_id: network.id, subnet_id }],
        volumes: [{ ...BOOT_VOLUME, delete_on_termination: true }],
      },
      'instances',
    );
    const { addresses } = (await http.get(`/cloud/v1/instances/1/1/${instance}`)).body;
    const address = addresses.default[0].addr;
    const pool = await only(POOLS, newPool({ loadbalancer_id: await balancer() }), 'pools');
    const named = { address, protocol_port: 80, instance_id: instance };
    const id = await only(`${POOLS}/${pool}/member`, { ...named, weight: 1 }, 'members');
    const shown = async () => (await http.get(`${POOLS}/${pool}`)).body.members;
    expect(await shown()).toMatchObject([{ id, ...named, subnet_id }]);
    const strict = await http.get(`/cloud/v1/lbpools/1/1/${pool}`);
    expect(strict.body.members[0]).not.toHaveProperty('instance_id');

    const other = await only(
      `${POOLS}/${pool}/member`,
      { address: '10.0.7.9', protocol_port: 80, subnet_id },
      'members',
    );
    const change = (members: object[]) => http.patch(`${POOLS}/${pool}`, { name: 'web', members });
    const kept = { ...named, subnet_id, weight: 1 };
    const plain = { address: '10.0.7.9', protocol_port: 80, subnet_id, weight: 4 };
    const weighed = await finished(await change([{ ...kept, weight: 3 }, plain]));
    expect(weighed.created_resources.members).toEqual([id, other]);
    expect(await shown()).toMatchObject([
      { ...kept, weight: 3 },
      { ...plain, instance_id: null },
    ]);

    const elsewhere = await only(
      '/gcore/cloud/v1/subnets/1/1',
      { name: 'elsewhere', network_id: network.id, cidr: '10.77.0.0/24' },
      'subnets',
    );
    const misfit = await change([{ ...kept, subnet_id: elsewhere }]);
    expect([misfit.status, Object.keys(misfit.body.invalid_fields)]).toEqual([
      400,
      expect.arrayContaining(['members.0.subnet_id']),
    ]);
    await finished(await http.delete(`/gcore/cloud/v1/instances/1/1/${instance}`));
    await finished(await change([kept, { ...plain, weight: 9 }]));
    expect(await shown()).toMatchObject([kept, { weight: 9 }]);
    expect((await change([{ ...kept, protocol_port: 81 }])).status).toBe(400);
  });
});

describe('a monitor and a pool without settings', () => {
  it('answers null for them, as the contract has it', async () => {
    const loadbalancer_id = await balancer();
    const pool = await only(POOLS, newPool({ loadbalancer_id, healthmonitor: { ...MONITOR, type: 'PING' } }), 'pools');
    expect((await http.get(`${POOLS}/${pool}`)).body.healthmonitor).toMatchObject({
      http_method: null,
      http_version: null,
      url_path: null,
      expected_codes: null,
      domain_name: null,
      max_retries_down: 3,
    });
    const bare = {
      name: 'bare',
      protocol: 'TCP',
      lb_algorithm: 'SOURCE_IP',
      load_balancer_id: loadbalancer_id,
    };
    expect((await http.get(`${POOLS}/${await only(POOLS, bare, 'pools')}`)).body).toMatchObject({
      healthmonitor: null,
      session_persistence: null,
      members: [],
      timeout_client_data: null,
      secret_id: null,
    });
  });
});
