import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../../test/support/boot-volume.ts';
import type { Answer, HttpClient } from '../../../../test/support/http-client.ts';
import { specOf } from '../../../../test/support/infrastructure.ts';
import { borrowService, startService, type TestService } from '../../../../test/support/service.ts';

const PROFILES = '/cloud/v1/ddos/profiles/1/1';
const FLOATING = '/cloud/v1/floatingips/1/1';

let service: TestService;
let http: HttpClient;
let network: string;
beforeAll(async () => {
  service = await borrowService();
  http = service.http;
  network = (await http.get('/cloud/v1/networks/1/1')).body.results[0].id;
});
afterAll(() => service.stop());

async function done(answer: Answer) {
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toHaveLength(1);
  const task = await http.task(answer.body[0]);
  expect(task.state, task.error).toBe('FINISHED');
  return task;
}

async function instance(...interfaces: object[]) {
  const task = await done(
    await http.post('/cloud/v2/instances/1/1', {
      name: 'protected',
      flavor: 'g1-standard-1-2',
      interfaces: interfaces.length > 0 ? interfaces : [{ type: 'any_subnet', network_id: network }],
      volumes: [{ ...BOOT_VOLUME, delete_on_termination: true }],
    }),
  );
  const { instances, ports } = task.created_resources;
  const { body } = await http.get(`/cloud/v1/instances/1/1/${instances[0]}`);
  const addresses: string[] = body.fixed_ip_assignments.map((one: { ip_address: string }) => one.ip_address);
  return { id: String(instances[0]), port: String(ports[0]), address: String(addresses[0]) };
}

const floating = async (body: object = {}) => {
  const [id] = (await done(await http.post(FLOATING, body))).created_resources.floatingips;
  return (await http.get(`${FLOATING}/${id}`)).body as { id: string; floating_ip_address: string };
};
const FIELDS = [{ base_field: 10, field_value: [45046, 45047] }];
const bodyOf = (ip_address: string | null, more: object = {}) => ({
  profile_template: 29,
  ip_address,
  fields: FIELDS,
  ...more,
});
const create = async (ip_address: string, more: object = {}): Promise<number> =>
  (await done(await http.post(PROFILES, bodyOf(ip_address, more)))).created_resources.ddos_profiles[0];
const listed = async (query = '') => {
  const { status, body, text } = await http.get(`${PROFILES}${query}`);
  expect(status, text).toBe(200);
  return body as { count: number; results: { id: number; ip_address: string }[] };
};
const get = async (id: number) => (await listed()).results.find((one) => one.id === id);
const wanted = async (id: number) => {
  const { rows } = await service.pool.query('select want_id from ddos_profiles where id = $1', [id]);
  return specOf(service.pool, 'ddos_profile', rows[0].want_id);
};

describe('a profile', () => {
  it('protects an address in the external network, and has its template', async () => {
    const { address } = await instance({ type: 'external' });
    const task = await done(await http.post(PROFILES, bodyOf(address)));
    expect(task.task_type).toBe('create_ddos_profile');
    const [id] = task.created_resources.ddos_profiles;
    const { results: templates } = (await http.get('/cloud/v1/ddos/profile-templates/1')).body;
    const template = templates.find((one: { id: number }) => one.id === 29);
    expect(await get(id)).toEqual({
      id,
      ip_address: address,
      managed_by: 'user',
      options: { active: true, bgp: true },
      status: { status: 'Created', error_description: '' },
      profile_template: template,
      profile_template_description: template.description,
      fields: [{ ...template.fields[0], base_field: 10, field_value: [45046, 45047] }],
      site: null,
      protocols: null,
    });
    const spec = {
      address,
      templateId: 29,
      fields: { 10: { value: [45046, 45047] } },
      active: true,
      bgp: true,
    };
    expect(await wanted(id)).toEqual({ wanted: spec, there: spec });
    const again = await http.post(PROFILES, bodyOf(address));
    expect([again.status, again.body.message]).toEqual([409, expect.stringContaining(address)]);
  });

  it('protects a floating IP and a load balancer, and gets another template, one task each', async () => {
    const { port } = await instance();
    const { floating_ip_address: address } = await floating({ port_id: port });
    const id = await create(address);
    const rules = { profile_template: 65, fields: [{ base_field: 272, field_value: 50 }] };
    const task = await done(await http.patch(`${PROFILES}/${id}`, bodyOf(address, rules)));
    expect(task).toMatchObject({ task_type: 'update_ddos_profile', created_resources: null });
    expect(await get(id)).toMatchObject({
      profile_template: { id: 65 },
      fields: [{ base_field: 272, field_value: 50 }],
      status: { status: 'Updated' },
    });
    const same = await http.patch(`${PROFILES}/${id}`, bodyOf(null, rules));
    expect([same.status, same.body]).toEqual([200, []]);
    expect((await wanted(id)).there).toMatchObject({ templateId: 65, fields: { 272: { value: 50 } } });
    const balancer = await done(await http.post('/cloud/v1/loadbalancers/1/1', { name: 'protected' }));
    const [balancerId] = balancer.created_resources.loadbalancers;
    const { vip_address } = (await http.get(`/cloud/v1/loadbalancers/1/1/${balancerId}`)).body;
    expect(await create(vip_address)).toBeGreaterThan(id);
  });

  it('is made as the older Terraform provider asks for it', async () => {
    const { id: bm_instance_id, address } = await instance({ type: 'external' });
    const fields = [{ base_field: 272, value: '60' }];
    const body = { ...bodyOf(address, { profile_template: 65, fields }), bm_instance_id };
    const answer = await http.post(`/gcore${PROFILES}`, body);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.get('tradewind-ignored')).toBeNull();
    const [id] = (await http.task(answer.body.tasks[0])).created_resources.ddos_profiles;
    expect(await get(id)).toMatchObject({ fields: [{ base_field: 272, field_value: 60 }] });
    expect((await http.post(PROFILES, body)).status).toBe(400);
    const both = { base_field: 272, field_value: 60 };
    const differing = { ...body, fields: [{ ...both, value: '70' }] };
    const refused = await http.patch(`/gcore${PROFILES}/${id}`, differing);
    expect([refused.status, Object.keys(refused.body.invalid_fields)]).toEqual([400, ['fields.0.value']]);
    for (const [method, at, given] of [
      ['PATCH', `${PROFILES}/${id}`, body],
      ['PATCH', `${PROFILES}/${id}`, { ...body, fields: [{ ...both, value: '60' }] }],
      ['POST', `${PROFILES}/${id}/action`, { active: true, bgp: true }],
    ] as const) {
      const same = await http.request(method, `/gcore${at}`, { body: given });
      expect(same.body, same.text).toEqual({ tasks: [expect.any(String)] });
      const { body: task } = await http.get(`/cloud/v1/tasks/${same.body.tasks[0]}`);
      expect(task).toMatchObject({ state: 'FINISHED', data: { profile_id: id } });
    }
  });

  it('stays as it is when the same values come with their members in another order', async () => {
    const { address } = await instance({ type: 'external' });
    const rule = { sip_list: ['203.0.113.0/24'], policy: 'DROP' };
    const rules = { profile_template: 1128, fields: [{ base_field: 1352, field_value: [rule] }] };
    const id = await create(address, rules);
    const same = await http.patch(`${PROFILES}/${id}`, bodyOf(address, rules));
    expect([same.status, same.body]).toEqual([200, []]);
  });

  it('is switched off and on', async () => {
    const { address } = await instance({ type: 'external' });
    const id = await create(address);
    const act = (active: boolean, bgp = true) => http.post(`${PROFILES}/${id}/action`, { active, bgp });
    expect((await done(await act(false))).task_type).toBe('deactivate_ddos_profile');
    expect(await get(id)).toMatchObject({
      options: { active: false, bgp: true },
      status: { status: 'Deactivated' },
    });
    expect((await act(false)).body).toEqual([]);
    expect((await done(await act(true, false))).task_type).toBe('activate_ddos_profile');
    expect(await get(id)).toMatchObject({
      options: { active: true, bgp: false },
      status: { status: 'Activated' },
    });
    expect((await wanted(id)).there).toMatchObject({ active: true, bgp: false });
    const { body } = await http.get('/cloud/v1/user_actions?limit=2');
    expect(body.results.map((one: { action_type: string }) => one.action_type)).toEqual(['activate', 'deactivate']);
    expect(body.results[0]).toMatchObject({
      api_group: 'ddos_profile',
      resources: [{ resource_type: 'ddos_profile', resource_id: String(id) }],
    });
  });

  it('is deleted, and the address can have another one', async () => {
    const { address } = await instance({ type: 'external' });
    const id = await create(address);
    expect((await done(await http.delete(`${PROFILES}/${id}`))).task_type).toBe('delete_ddos_profile');
    expect(await get(id)).toBeUndefined();
    expect((await http.delete(`${PROFILES}/${id}`)).status).toBe(404);
    expect(await create(address)).not.toBe(id);
  });

  it('goes with its address, whoever has that, and stays when the address changes hands', async () => {
    const gone = async (id: number, wantId: string) => {
      expect(await get(id)).toBeUndefined();
      const left = () => specOf(service.pool, 'ddos_profile', wantId);
      await expect.poll(left).toEqual({ wanted: undefined, there: undefined });
    };
    const wantIdOf = async (id: number): Promise<string> =>
      (await service.pool.query('select want_id from ddos_profiles where id = $1', [id])).rows[0].want_id;
    const one = await instance({ type: 'external' });
    const first = await create(one.address);
    const firstWant = await wantIdOf(first);
    await done(await http.delete(`/cloud/v1/instances/1/1/${one.id}`));
    await gone(first, firstWant);

    const { port } = await instance();
    const led = await floating({ port_id: port });
    const second = await create(led.floating_ip_address);
    await http.post(`${FLOATING}/${led.id}/unassign`);
    const [reserved] = (
      await done(await http.post(`${FLOATING}/${led.id}/convert`, { target_type: 'reserved_fixed_ip' }))
    ).created_resources.ports;
    expect(await get(second)).toMatchObject({ ip_address: led.floating_ip_address });
    const secondWant = await wantIdOf(second);
    await done(await http.delete(`/cloud/v1/reserved_fixed_ips/1/1/${reserved}`));
    await gone(second, secondWant);
  });

  it('is held by its task', async () => {
    const { address } = await instance({ type: 'external' });
    const id = await create(address);
    const task = crypto.randomUUID();
    await service.pool.query('update ddos_profiles set task_id = $1 where id = $2', [task, id]);
    const answers = [
      await http.patch(`${PROFILES}/${id}`, bodyOf(address, { fields: [{ base_field: 10, field_value: [1001] }] })),
      await http.post(`${PROFILES}/${id}/action`, { active: false, bgp: false }),
      await http.delete(`${PROFILES}/${id}`),
    ];
    await service.pool.query('update ddos_profiles set task_id = null where id = $1', [id]);
    for (const { status, body } of answers) {
      expect([status, body.message]).toEqual([409, expect.stringContaining(task)]);
    }
  });

  it('is one, however many are asked for at once', async () => {
    const { address } = await instance({ type: 'external' });
    const answers = await Promise.all(Array.from({ length: 5 }, () => http.post(PROFILES, bodyOf(address))));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409, 409, 409, 409]);
  });
});

describe('the list', () => {
  it('filters by address and maker, sorts and pages', async () => {
    const ids = (list: { results: { id: number }[] }) => list.results.map(({ id }) => id);
    const all = await listed();
    expect(all.count).toBeGreaterThan(2);
    const [first] = all.results;
    expect((await listed(`?ip_address=${first?.ip_address}`)).results).toEqual([first]);
    expect((await listed(`?ip_address=${first?.ip_address}/32`)).results).toEqual([first]);
    expect((await listed('?ip_address=198.18.0.0/15')).count).toBe(all.count);
    expect((await listed('?ip_address=192.0.2.0/24')).count).toBe(0);
    expect((await listed('?managed_by=user&managed_by=system')).count).toBe(all.count);
    expect((await listed('?managed_by=system')).count).toBe(0);
    expect(ids(await listed('?order_by=id.desc'))).toEqual(ids(all).toReversed());
    expect(ids(await listed('?order_by=site.asc'))).toEqual(ids(all));
    expect((await listed('?order_by=ip_address.asc')).count).toBe(all.count);
    expect(ids(await listed('?limit=1&offset=1'))).toEqual(ids(all).slice(1, 2));
  });

  it.each(['ip_address=here', 'ip_address=10.0.0.0/40', 'managed_by=me', 'order_by=name.asc', 'limit=0'])(
    'refuses %s',
    async (query) => {
      expect((await http.get(`${PROFILES}?${query}`)).status).toBe(400);
    },
  );
});

it('tells of each region whether it has the protection', async () => {
  for (const [region, has] of [
    [1, true],
    [3, false],
  ] as const) {
    const { body } = await http.get(`/cloud/v1/ddos/accessibility/${region}`);
    expect(body).toEqual({
      is_accessible: has,
      http_code: has ? 200 : 404,
      message: expect.stringContaining(has ? 'is accessible' : 'is not accessible'),
    });
    expect((await http.get(`/cloud/v1/ddos/region_coverage/${region}`)).body).toEqual({ is_covered: has });
  }
  for (const path of ['accessibility', 'region_coverage']) {
    expect((await http.get(`/cloud/v1/ddos/${path}/99`)).status).toBe(404);
    expect((await service.anonymous.get(`/cloud/v1/ddos/${path}/1`)).status).toBe(401);
  }
});

describe('refuses', () => {
  it('what makes no sense, by field', async () => {
    const { address } = await instance({ type: 'external' });
    const inner = await instance();
    const idle = await floating();
    for (const [body, field] of [
      [bodyOf(null), 'ip_address'],
      [bodyOf('here'), 'ip_address'],
      [bodyOf('192.0.2.1'), 'ip_address'],
      [bodyOf(inner.address), 'ip_address'],
      [bodyOf(idle.floating_ip_address), 'ip_address'],
      [bodyOf(address, { profile_template: 4 }), 'profile_template'],
      [bodyOf(address, { fields: [] }), 'fields'],
      [bodyOf(address, { fields: undefined }), 'fields'],
      [bodyOf(address, { fields: [{ base_field: 272, field_value: 1 }] }), 'fields.0.base_field'],
      [bodyOf(address, { fields: [{ base_field: 10, field_value: [1] }] }), 'fields.0.field_value'],
      [bodyOf(address, { fields: [{ base_field: 10 }] }), 'fields.0.field_value'],
      [bodyOf(address, { colour: 'red' }), 'colour'],
    ] as const) {
      const answer = await http.post(PROFILES, body);
      expect([answer.status, JSON.stringify(body)], answer.text).toEqual([400, JSON.stringify(body)]);
      expect(Object.keys(answer.body.invalid_fields)).toContain(field);
    }
    const elsewhere = await http.post('/cloud/v1/ddos/profiles/1/3', bodyOf(address));
    expect(Object.keys(elsewhere.body.invalid_fields)).toEqual(['profile_template']);
    const id = await create(address);
    const moved = await http.patch(`${PROFILES}/${id}`, bodyOf('192.0.2.9'));
    expect([moved.status, Object.keys(moved.body.invalid_fields)]).toEqual([400, ['ip_address']]);
    expect((await http.post(`${PROFILES}/${id}/action`, { active: true })).status).toBe(400);
    expect((await http.post(`${PROFILES}/999999/action`, { active: true, bgp: true })).status).toBe(404);
  });

  it('others', async () => {
    const { address } = await instance({ type: 'external' });
    const id = await create(address);
    const other = await service.otherTenant();
    const theirs = `/cloud/v1/ddos/profiles/${other.projectId}/1`;
    expect((await other.http.get(theirs)).body).toEqual({ count: 0, results: [] });
    const stolen = await other.http.post(theirs, bodyOf(address));
    expect([stolen.status, Object.keys(stolen.body.invalid_fields)]).toEqual([400, ['ip_address']]);
    const user = await service.withRole('Users');
    for (const [method, path, body] of [
      ['PATCH', '', bodyOf(address)],
      ['POST', '/action', { active: false, bgp: true }],
      ['DELETE', '', undefined],
    ] as const) {
      const sent = body && { body };
      expect((await other.http.request(method, `${theirs}/${id}${path}`, sent)).status).toBe(404);
      expect((await other.http.request(method, `${PROFILES}/${id}${path}`, sent)).status).toBe(404);
      expect((await user.request(method, `${PROFILES}/${id}${path}`, sent)).status).toBe(403);
      expect((await service.anonymous.request(method, `${PROFILES}/${id}${path}`, sent)).status).toBe(401);
    }
  });
});

it('keeps what it was when a change fails, and says why', async () => {
  const slow = await startService({ TRADEWIND_SIMULATION_SPEED: '0.01' });
  try {
    const { rows } = await slow.pool.query(
      `with floating as (
         insert into floating_ips (id, project_id, region_id, address, tags, creator_task_id, created_at, updated_at)
         values (gen_random_uuid(), 1, 1, '198.18.16.77', '{}', gen_random_uuid(), now(), now()) returning id),
       taken as (
         insert into ip_assignments (subnet_id, address, floating_ip_id)
         select subnets.id, '198.18.16.77', floating.id
         from floating, subnets join networks on networks.id = network_id
         where networks.external and region_id = 1 and family(cidr) = 4 limit 1 returning subnet_id, address)
       insert into ddos_profiles (want_id, project_id, region_id, subnet_id, address, template_id, fields, active, bgp, status)
       select gen_random_uuid(), 1, 1, subnet_id, address, 29, '[]', true, true, 'Created' from taken returning id, want_id`,
    );
    const [{ id, want_id }] = rows;
    const answer = await slow.http.post(`${PROFILES}/${id}/action`, { active: false, bgp: false });
    expect(answer.status, answer.text).toBe(200);
    const during = (await slow.http.get(PROFILES)).body.results[0];
    expect(during).toMatchObject({ status: { status: 'Deactivating' }, options: { active: false } });
    await slow.pool.query(`update tasks set deadline_at = now() - interval '1 second' where id = $1`, [answer.body[0]]);
    expect(await slow.http.task(answer.body[0])).toMatchObject({ state: 'ERROR' });
    expect((await slow.http.get(PROFILES)).body.results[0]).toMatchObject({
      options: { active: true, bgp: true },
      status: {
        status: 'Error Deactivating',
        error_description: expect.stringContaining('deadline exceeded'),
      },
    });
    expect((await specOf(slow.pool, 'ddos_profile', want_id)).wanted ?? null).toBeNull();
  } finally {
    await slow.stop();
  }
});
