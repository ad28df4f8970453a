import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpClient } from '../../../../test/support/http-client.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const I = '/cloud/v1/instances/1/1';
const CREATE = '/cloud/v2/instances/1/1';
const IMAGE = 'd30931af-8845-4913-a690-021a990a917f';
const unknownId = crypto.randomUUID();

let service: TestService;
let http: HttpClient;
let network: string;
let subnet: string;
beforeAll(async () => {
  service = await borrowService();
  http = service.http;
  const networks = await http.get('/cloud/v1/networks/1/1');
  network = networks.body.results[0].id;
  subnet = networks.body.results[0].subnets[0];
});
afterAll(() => service.stop());

const request = (more: object = {}) => ({
  name: 'web-1',
  flavor: 'g1-standard-1-2',
  interfaces: [{ type: 'any_subnet', network_id: network }],
  volumes: [{ source: 'image', image_id: IMAGE, size: 20, delete_on_termination: true }],
  ...more,
});

/** Waits for the one task that the answer names. */
async function done(answer: { status: number; body: unknown; text: string }) {
  expect(answer.status, answer.text).toBe(200);
  const task = await http.task(String((answer.body as string[])[0]));
  expect(task.state, task.error).toBe('FINISHED');
  return task;
}

async function newInstance(more: object = {}): Promise<string> {
  const task = await done(await http.post(CREATE, request(more)));
  return task.created_resources.instances[0];
}

const subnetNow = async () => (await http.get(`/cloud/v1/subnets/1/1/${subnet}`)).body;

describe('creation', () => {
  it('accepts an instance that can be read at once and runs when the task has finished', async () => {
    const before = await subnetNow();
    const accepted = await http.post(
      CREATE,
      request({
        interfaces: [
          { type: 'subnet', network_id: network, subnet_id: subnet, interface_name: 'eth0' },
          { type: 'external' },
        ],
        volumes: [
          { source: 'new-volume', size: 5, name: 'data' },
          { source: 'image', image_id: IMAGE, delete_on_termination: true },
        ],
        tags: { env: 'test' },
        password: 'very-secret-words',
      }),
    );
    expect(accepted.status, accepted.text).toBe(200);
    const [taskId] = accepted.body;
    const listed = await http.get(`${I}?tag_value=test`);
    expect(listed.body).toMatchObject({ count: 1, results: [{ name: 'web-1', creator_task_id: taskId }] });
    const task = await done(accepted);
    expect(task.task_type).toBe('create_vm');
    expect(JSON.stringify(task)).not.toContain('very-secret-words');
    const { instances, volumes, ports } = task.created_resources;
    expect([instances.length, volumes.length, ports.length]).toEqual([1, 2, 2]);

    const { body } = await http.get(`${I}/${instances[0]}`);
    const [, external] = body.fixed_ip_assignments;
    expect(body).toMatchObject({
      id: instances[0],
      status: 'ACTIVE',
      vm_state: 'active',
      task_state: null,
      task_id: null,
      region_id: 1,
      flavor: {
        flavor_id: 'g1-standard-1-2',
        vcpus: 1,
        ram: 2048,
        hardware_description: { ram: '2 GiB', vcpus: '1' },
      },
      addresses: {
        default: [{ type: 'fixed', interface_name: 'eth0', subnet_id: subnet, subnet_name: 'default' }],
        external: [{ type: 'fixed', addr: external.ip_address, interface_name: null }],
      },
      fixed_ip_assignments: [{ subnet_id: subnet, external: false }, { external: true }],
      security_groups: [{ name: 'default' }],
      tags: [{ key: 'env', value: 'test', read_only: false }],
      blackhole_ports: [],
      ddos_profile: null,
      instance_isolation: null,
      instance_description: null,
      ssh_key_name: null,
    });
    expect(external.ip_address).toMatch(/^198\.18\./);
    expect(body.volumes.map((volume: { id: string }) => volume.id).toSorted()).toEqual(volumes.toSorted());
    const root = await http.get(`/cloud/v1/volumes/1/1?instance_id=${instances[0]}&bootable=true`);
    expect(root.body.results).toMatchObject([
      { is_root_volume: true, status: 'in-use', size: 10, attachments: [{ device: '/dev/vda' }] },
    ]);
    const after = await subnetNow();
    expect(after.available_ips).toBe(before.available_ips - 1);
    expect(after.total_ips).toBe(before.total_ips);
  });

  it('names an instance after its address', async () => {
    const id = await newInstance({
      name: undefined,
      name_template: 'node-{two_ip_octets}',
      interfaces: [{ type: 'any_subnet', network_id: network, ip_address: '10.0.7.9' }],
    });
    expect((await http.get(`${I}/${id}`)).body.name).toBe('node-7-9');
    const taken = await http.post(
      CREATE,
      request({ interfaces: [{ type: 'any_subnet', network_id: network, ip_address: '10.0.7.9' }] }),
    );
    expect(taken.status, taken.text).toBe(409);
  });

  it('takes volumes that exist', async () => {
    const volume = (
      await done(await http.post('/cloud/v1/volumes/1/1', { source: 'image', image_id: IMAGE, name: 'old', size: 20 }))
    ).created_resources.volumes[0];
    const task = await done(
      await http.post(CREATE, request({ volumes: [{ source: 'existing-volume', volume_id: volume }] })),
    );
    expect(task.created_resources.volumes).toEqual([]);
    const again = await http.post(CREATE, request({ volumes: [{ source: 'existing-volume', volume_id: volume }] }));
    expect(again.status).toBe(409);
    const inUse = await http.delete(`/cloud/v1/volumes/1/1/${volume}`);
    expect(inUse.status).toBe(409);
    await done(await http.delete(`${I}/${task.created_resources.instances[0]}`));
    expect((await http.get(`/cloud/v1/volumes/1/1/${volume}`)).body).toMatchObject({
      status: 'available',
      task_id: null,
      attachments: [],
    });
  });

  it("doesn't boot from a volume without an operating system", async () => {
    const made = await done(await http.post('/cloud/v1/volumes/1/1', { source: 'new-volume', name: 'blank', size: 3 }));
    const blank = { source: 'existing-volume', volume_id: made.created_resources.volumes[0] };
    const before = await counts();
    const only = await http.post(CREATE, request({ volumes: [blank] }));
    expect(only.body.invalid_fields).toEqual({ volumes: [expect.stringContaining('No volume can boot')] });
    const image = { source: 'image', image_id: IMAGE };
    const first = await http.post(CREATE, request({ volumes: [{ ...blank, boot_index: 0 }, image] }));
    expect(first.status).toBe(400);
    expect(first.body.invalid_fields).toEqual({
      'volumes.0.boot_index': [expect.stringContaining('no operating system')],
    });
    expect(await counts()).toEqual(before);
    await done(await http.post(CREATE, request({ volumes: [blank, image] })));
  });

  it.each([
    [{ flavor: 'no-such-flavor' }, 400, 'flavor'],
    [{ flavor: 'bm1-infra-medium' }, 400, 'flavor'],
    [{ flavor: 'g0-standard-2-4' }, 403, undefined],
    [{ interfaces: [] }, 400, 'interfaces'],
    [{ interfaces: [{ type: 'subnet', network_id: unknownId, subnet_id: unknownId }] }, 400, 'interfaces.0.subnet_id'],
    [{ interfaces: [{ type: 'any_subnet', network_id: unknownId }] }, 400, 'interfaces.0.network_id'],
    [{ interfaces: [{ type: 'reserved_fixed_ip', port_id: unknownId }] }, 400, 'interfaces.0.port_id'],
    [{ interfaces: [{ type: 'external', ip_family: 'ipv5' }] }, 400, 'interfaces.0.ip_family'],
    [{ interfaces: [{ type: 'bridge' }] }, 400, 'interfaces.0.type'],
    [
      { interfaces: [{ type: 'external', security_groups: [{ id: unknownId }] }] },
      400,
      'interfaces.0.security_groups.0.id',
    ],
    [{ interfaces: [{ type: 'external', security_groups: [] }], security_groups: [] }, 400, 'security_groups'],
    [{ volumes: [] }, 400, 'volumes'],
    [{ volumes: [{ source: 'image', image_id: unknownId }] }, 400, 'volumes.0.image_id'],
    [{ volumes: [{ source: 'image', image_id: IMAGE, size: 1 }] }, 400, 'volumes.0.size'],
    [{ volumes: [{ source: 'snapshot', snapshot_id: unknownId, size: 1 }] }, 400, 'volumes.0.snapshot_id'],
    [
      { volumes: [{ source: 'snapshot', snapshot_id: unknownId, size: 1, type_name: 'cold' }] },
      400,
      'volumes.0.type_name',
    ],
    [{ volumes: [{ source: 'existing-volume', volume_id: unknownId }] }, 400, 'volumes.0.volume_id'],
    [{ volumes: [{ source: 'apptemplate', apptemplate_id: 'x' }] }, 400, 'volumes.0.source'],
    [
      {
        volumes: [
          { source: 'image', image_id: IMAGE, boot_index: 0 },
          { source: 'image', image_id: IMAGE, boot_index: 0 },
        ],
      },
      400,
      'volumes.1.boot_index',
    ],
    [{ volumes: [{ source: 'new-volume', size: 1 }] }, 400, 'volumes'],
    [{ volumes: [{ source: 'image', image_id: IMAGE, boot_index: -1 }] }, 400, 'volumes'],
    [{ name: '-' }, 400, 'name'],
    [{ name_template: 'a-{ip_octets}' }, 400, 'name_template'],
    [{ name: undefined, name_template: 'a-{other}' }, 400, 'name_template'],
    [{ ssh_key_name: 'nobody' }, 400, 'ssh_key_name'],
    [{ user_data: '???' }, 400, 'user_data'],
    [{ user_data: 'I2Nsb3VkLWNvbmZpZwo' }, 400, 'user_data'],
    [{ user_data: 'A'.repeat(65_536) }, 400, 'user_data'],
    [{ colour: 'red' }, 400, 'colour'],
  ])('refuses %j', async (more, status, field) => {
    const before = await counts();
    const answer = await http.post(CREATE, request(more));
    expect(answer.status, answer.text).toBe(status);
    if (field !== undefined) expect(Object.keys(answer.body.invalid_fields)).toContain(field);
    expect(await counts()).toEqual(before);
  });

  it('never hands out an address twice', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        http.post(
          CREATE,
          request({
            name: `many-${index}`,
            interfaces: [
              { type: 'any_subnet', network_id: network },
              { type: 'any_subnet', network_id: network },
            ],
          }),
        ),
      ),
    );
    for (const answer of answers) expect(answer.status, answer.text).toBe(200);
    const listed = await http.get(`${I}?name=many-`);
    const addresses = listed.body.results.flatMap((one: { fixed_ip_assignments: { ip_address: string }[] }) =>
      one.fixed_ip_assignments.map((assignment) => assignment.ip_address),
    );
    expect(new Set(addresses).size).toBe(24);
    const { rows } = await service.pool.query(
      `select (select count(*) from ip_assignments where subnet_id = subnets.id)::int as taken, used_ips::int as used,
        exists (select from generate_series(0, free_from - first_address - 1) as n
          where not exists (select from ip_assignments where subnet_id = subnets.id and address = first_address + n)) as skipped
      from subnets where id = $1`,
      [subnet],
    );
    expect(rows[0].used).toBe(rows[0].taken);
    expect(rows[0].skipped).toBe(false);
    for (const answer of answers) await done(answer);
  });
});

describe('ports', () => {
  it('lists them with the groups on each, a group put on the instance at once among them', async () => {
    const group = await http.post('/cloud/v1/securitygroups/1/1', {
      security_group: { name: 'web servers' },
    });
    const id = await newInstance({
      interfaces: [
        { type: 'any_subnet', network_id: network, security_groups: [{ id: group.body.id }] },
        { type: 'external' },
      ],
    });
    const late = await http.post('/cloud/v1/securitygroups/1/1', {
      security_group: { name: 'late comers' },
      instances: [id.toUpperCase()],
    });
    expect(late.status, late.text).toBe(200);
    const { body } = await http.get(`${I}/${id}/ports`);
    expect(body.count).toBe(2);
    const groupsOf = (port: { security_groups: { name: string }[] }) => port.security_groups.map(({ name }) => name);
    expect(body.results.map(groupsOf)).toEqual([
      ['late comers', 'web servers'],
      ['default', 'late comers'],
    ]);
    expect(body.results[0]).toEqual({
      id: expect.any(String),
      name: `port-${body.results[0].id}`,
      security_groups: [
        { id: late.body.id, name: 'late comers' },
        { id: group.body.id, name: 'web servers' },
      ],
    });
    expect((await http.get(`/gcore${I}/${id}/ports`)).body).toEqual(body);
    expect((await http.delete(`/cloud/v1/securitygroups/1/1/${group.body.id}`)).status).toBe(409);
    const excluded = await http.get(`${I}?exclude_secgroup=web%20servers&uuid=${id}`);
    expect(excluded.body.count).toBe(0);

    await done(await http.delete(`${I}/${id}`));
    expect((await http.get(`${I}/${id}/ports`)).status).toBe(404);
    expect((await http.delete(`/cloud/v1/securitygroups/1/1/${group.body.id}`)).status).toBe(204);
  });

  it('has addresses of network cards that nobody else has', async () => {
    const { rows } = await service.pool.query('select mac_address::text as mac from ports');
    expect(rows.length).toBeGreaterThan(20);
    expect(new Set(rows.map((row) => row.mac)).size).toBe(rows.length);
    for (const { mac } of rows) expect(mac).toMatch(/^02:/);
  });

  it.each(['not-an-id', unknownId])('knows no instance %s', async (id) => {
    for (const path of [`${I}/${id}`, `${I}/${id}/ports`]) {
      const answer = await http.get(path);
      expect(answer.status).toBe(404);
      expect(answer.body.exception_class).toBe('NotFoundError');
    }
    expect((await http.delete(`${I}/${id}`)).status).toBe(404);
  });

  it('shows nobody the instances of others', async () => {
    const id = await newInstance();
    const other = await service.otherTenant();
    for (const path of [I, `${I}/${id}`, `${I}/${id}/ports`]) {
      expect((await other.http.get(path)).status).toBe(404);
      const anonymous = await service.anonymous.get(path);
      expect(anonymous.status).toBe(401);
    }
    const own = `/cloud/v1/instances/${other.projectId}/1`;
    expect((await other.http.get(`${own}/${id}/ports`)).status).toBe(404);
    expect((await other.http.delete(`${own}/${id}`)).status).toBe(404);
    const taken = await other.http.post(`/cloud/v2/instances/${other.projectId}/1`, request());
    expect(taken.status).toBe(400);
    expect(taken.body.invalid_fields).toHaveProperty(['interfaces.0.network_id']);
    const users = await service.withRole('Users');
    expect((await users.get(`${I}/${id}/ports`)).status).toBe(200);
    expect((await users.post(CREATE, request())).status).toBe(403);
    expect((await users.delete(`${I}/${id}`)).status).toBe(403);
  });
});

describe('deletion', () => {
  it('frees addresses, ports, volumes and quotas', async () => {
    const before = await counts();
    const free = (await subnetNow()).available_ips;
    const id = await newInstance({
      volumes: [
        { source: 'image', image_id: IMAGE, delete_on_termination: true },
        { source: 'new-volume', size: 1 },
      ],
    });
    const { body } = await http.get(`${I}/${id}`);
    const address = body.fixed_ip_assignments[0].ip_address;
    const kept = body.volumes.find((one: { delete_on_termination: boolean }) => !one.delete_on_termination).id;
    const accepted = await http.delete(`${I}/${id}`);
    const again = await http.delete(`${I}/${id}`);
    expect([404, 409]).toContain(again.status);
    const task = await done(accepted);
    expect(task.task_type).toBe('delete_vm');
    expect((await http.get(`${I}/${id}`)).status).toBe(404);
    expect((await subnetNow()).available_ips).toBe(free);
    expect((await http.get(`/cloud/v1/volumes/1/1/${kept}`)).body.status).toBe('available');
    await done(await http.delete(`/cloud/v1/volumes/1/1/${kept}`));
    expect(await counts()).toEqual(before);

    const next = await newInstance();
    const reused = (await http.get(`${I}/${next}`)).body.fixed_ip_assignments[0].ip_address;
    expect(reused).toBe(address);
  });

  it('takes volumes that are named, unless they have snapshots', async () => {
    const id = await newInstance({ volumes: [{ source: 'image', image_id: IMAGE }] });
    const volume = (await http.get(`${I}/${id}`)).body.volumes[0].id;
    const snapshot = (await done(await http.post('/cloud/v1/snapshots/1/1', { volume_id: volume, name: 'before' })))
      .created_resources.snapshots[0];
    const refused = await http.delete(`${I}/${id}?volumes=${volume}`);
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain(snapshot);
    const foreign = await http.delete(`${I}/${id}?volumes=${unknownId}`);
    expect(foreign.body.invalid_fields).toHaveProperty('volumes');
    for (const query of [`floatings=${unknownId}`, `reserved_fixed_ips=${unknownId}`, 'volumes=x', 'colour=red']) {
      expect((await http.delete(`${I}/${id}?${query}`)).status, query).toBe(400);
    }
    await done(await http.delete(`/cloud/v1/snapshots/1/1/${snapshot}`));
    await done(await http.delete(`${I}/${id}?volumes=${volume}&delete_floatings=true`));
    expect((await http.get(`/cloud/v1/volumes/1/1/${volume}`)).status).toBe(404);
  });
});

describe('list', () => {
  it('finds instances by every filter', async () => {
    const id = await newInstance({
      name: 'Needle-77',
      flavor: 'g1-standard-2-4',
      interfaces: [{ type: 'external', interface_name: 'outside' }],
      tags: { team: 'sewing', room: 'attic' },
    });
    const address = (await http.get(`${I}/${id}`)).body.fixed_ip_assignments[0].ip_address;
    const found = async (query: string) => {
      const { status, text, body } = await http.get(`${I}?${query}`);
      expect(status, text).toBe(200);
      expect(body.count).toBe(body.results.length);
      return body.results.some((one: { id: string }) => one.id === id);
    };
    const future = encodeURIComponent(new Date(Date.now() + 60_000).toISOString());
    for (const query of [
      'name=needle',
      'flavor_id=g1-standard-2-4',
      'flavor_prefix=g1-standard-2',
      'exclude_flavor_prefix=g2',
      `ip=${address}`,
      `uuid=${id.slice(0, 13)}`,
      'status=ACTIVE',
      `changes-before=${future}`,
      'tag_value=sewing&tag_value=attic',
      `tag_key_value=${encodeURIComponent('{"team":"sewing"}')}`,
      'only_with_fixed_external_ip=true',
      'with_ddos=true',
      'only_isolated=false',
      'available_floating=false',
      'include_k8s=false&include_baremetal=true&include_ai=true',
      'order_by=name.asc',
    ]) {
      expect(await found(query), query).toBe(true);
    }
    for (const query of [
      'name=%25',
      'flavor_id=g1-standard-2',
      'exclude_flavor_prefix=g1-standard-2',
      'ip=203.0.113.200',
      'status=SHUTOFF',
      'only_isolated=true',
      'available_floating=true',
      'with_ddos=true&profile_name=basic',
      'with_ddos=true&protection_status=Active',
      'with_ddos=true&type_ddos_profile=advanced',
      `changes-since=${future}`,
      'tag_value=sewing&tag_value=cellar',
      `tag_key_value=${encodeURIComponent('{"team":"cooking"}')}`,
    ]) {
      expect(await found(query), query).toBe(false);
    }
    const named = await http.get(`${I}?uuid=${id}&with_interfaces_name=true`);
    expect(named.body.results[0].addresses.external[0].interface_name).toBe('outside');
    const first = await http.get(`${I}?limit=1&order_by=name.desc`);
    expect(first.body.results).toHaveLength(1);
    expect(first.body.count).toBeGreaterThan(1);
  });

  it.each([
    'status=DELETED',
    'changes-since=yesterday',
    'changes-since=2016-12-31T23:59:60Z',
    'profile_name=basic',
    'protection_status=Active&with_ddos=false',
    'type_ddos_profile=other&with_ddos=true',
    'colour=red',
  ])('refuses %s', async (query) => {
    expect((await http.get(`${I}?${query}`)).status).toBe(400);
  });
});

/** Counts what could be left behind, and the quotas in use. */
async function counts() {
  const { rows } = await service.pool.query(
    `select (select count(*) from instances)::int as instances, (select count(*) from ports)::int as ports,
      (select count(*) from volumes)::int as volumes, (select count(*) from ip_assignments)::int as addresses,
      (select count(*) from port_security_groups)::int as links,
      (select coalesce(sum(used), 0) from quota_usage where attribute = 'vm_count')::int as vms_used,
      (select coalesce(sum(used), 0) from quota_usage where attribute = 'volume_count')::int as volumes_used`,
  );
  return rows[0];
}
