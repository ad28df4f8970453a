import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpClient } from '../../../../../test/support/http-client.ts';
import { borrowService, type TestService } from '../../../../../test/support/service.ts';

const I = '/cloud/v1/instances/1/1';
const IMAGE = 'd30931af-8845-4913-a690-021a990a917f';
const unknown = crypto.randomUUID();

let service: TestService;
let http: HttpClient;
let network: string;
let id: string;
beforeAll(async () => {
  service = await borrowService();
  http = service.http;
  network = (await http.get('/cloud/v1/networks/1/1')).body.results[0].id;
  const accepted = await http.post('/cloud/v2/instances/1/1', {
    name: 'web-1',
    flavor: 'g1-standard-1-2',
    interfaces: [{ type: 'any_subnet', network_id: network }],
    volumes: [{ source: 'image', image_id: IMAGE, size: 20 }],
  });
  id = (await http.task(accepted.body[0])).created_resources.instances[0];
});
afterAll(() => service.stop());

async function done(answer: Promise<{ status: number; body: string[]; text: string }>) {
  const { status, body, text } = await answer;
  expect(status, text).toBe(200);
  const task = await http.task(String(body[0]));
  expect(task.state, task.error).toBe('FINISHED');
  return task;
}

type Flavor = { flavor_id: string; ram: number; architecture: string; price_status?: string };

describe('flavors for volumes', () => {
  const flavors = async (volumes: object[], query = '') => {
    const answer = await http.post(`${I}/available_flavors${query}`, { volumes });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.count).toBe(answer.body.results.length);
    return answer.body.results as Flavor[];
  };
  const image = (image_id: string) => ({ source: 'image', image_id, size: 100 });

  it('are those that the images go with', async () => {
    const { results: images } = (await http.get('/cloud/v1/images/1/1')).body;
    const all = await flavors([{ source: 'new-volume', size: 1 }]);
    expect(all.length).toBeGreaterThan(3);
    expect(all.some(({ flavor_id }) => flavor_id === 'g0-standard-2-4')).toBe(false);
    for (const { id: image_id, architecture, min_ram, is_baremetal } of images) {
      const fitting = await flavors([image(image_id)]);
      const expected = all.filter(
        (flavor) =>
          flavor.architecture === architecture &&
          flavor.ram >= min_ram &&
          flavor.flavor_id.startsWith('bm') === is_baremetal,
      );
      expect(fitting).toEqual(expected);
    }
  });

  it('are found while it is not known yet what the volumes are made from', async () => {
    const all = await flavors([{ source: 'new-volume', size: 1 }]);
    const nothing = {
      image_id: null,
      snapshot_id: null,
      volume_id: null,
      apptemplate_id: null,
      name: null,
      size: null,
      type_name: null,
      boot_index: null,
    };
    for (const source of ['image', 'snapshot', 'existing-volume', 'new-volume']) {
      expect(await flavors([{ source }])).toEqual(all);
      expect(await flavors([{ source, ...nothing }])).toEqual(all);
    }
    const both = [{ source: 'image' }, { ...image(IMAGE), type_name: null, boot_index: 0 }];
    expect(await flavors(both)).toEqual(await flavors([image(IMAGE)]));
  });

  it('have prices where they are asked for', async () => {
    const [plain] = await flavors([image(IMAGE)]);
    expect(plain).not.toHaveProperty('price_status');
    const [priced] = await flavors([image(IMAGE)], '?include_prices=true');
    expect(priced).toMatchObject({ flavor_id: plain?.flavor_id, price_status: expect.any(String) });
    const others = await http.get(`${I}/${id}/available_flavors?include_prices=true`);
    expect(others.body.results[0]).toMatchObject({ price_status: expect.any(String) });
  });

  it.each([
    [[], 'volumes'],
    [[{ source: 'image', image_id: unknown }], 'volumes.0.image_id'],
    [[{ source: 'image' }, { source: 'image', image_id: unknown }], 'volumes.1.image_id'],
    [[{ size: 1 }], 'volumes.0.source'],
    [[{ source: 'apptemplate', apptemplate_id: 'x' }], 'volumes.0.source'],
    [[{ source: 'existing-volume', volume_id: unknown }], 'volumes.0.volume_id'],
  ])('are refused for %j', async (volumes, field) => {
    const refused = await http.post(`${I}/available_flavors`, { volumes });
    expect(refused.status, refused.text).toBe(400);
    expect(Object.keys(refused.body.invalid_fields)).toEqual([field]);
  });
});

it('keeps the memory that the image of a disk needs when the flavor changes', async () => {
  const { results: images } = (await http.get('/cloud/v1/images/1/1')).body;
  const needy = images.find(
    (one: { min_ram: number; is_baremetal: boolean }) => one.min_ram > 2048 && !one.is_baremetal,
  );
  const { results: flavors } = (await http.get('/cloud/v1/flavors/1/1')).body;
  const of = (fits: (flavor: Flavor) => boolean): string =>
    flavors.find(
      (one: Flavor & { disabled: boolean; os_type: string }) =>
        !one.disabled &&
        one.architecture === needy.architecture &&
        one.os_type === needy.os_type &&
        !one.flavor_id.startsWith('bm') &&
        fits(one),
    ).flavor_id;
  const key = await http.post('/cloud/v1/ssh_keys/1', { name: 'needed' });
  const [large, small] = [of(({ ram }) => ram >= needy.min_ram), of(({ ram }) => ram < needy.min_ram)];
  const accepted = await http.post('/cloud/v2/instances/1/1', {
    name: 'needy',
    ssh_key_name: key.body.name,
    flavor: large,
    interfaces: [{ type: 'any_subnet', network_id: network }],
    volumes: [{ source: 'image', image_id: needy.id, size: 100 }],
  });
  expect(accepted.status, accepted.text).toBe(200);
  const task = await http.task(accepted.body[0]);
  const path = `${I}/${task.created_resources.instances[0]}`;
  const refused = await http.post(`${path}/changeflavor`, { flavor_id: small });
  expect(refused.status, refused.text).toBe(400);
  expect(refused.body.invalid_fields.flavor_id[0]).toContain(`${needy.min_ram} MiB`);
  const { results: offered } = (await http.get(`${path}/available_flavors`)).body;
  expect(offered.every(({ ram }: Flavor) => ram >= needy.min_ram)).toBe(true);
});

describe('limits', () => {
  const check = (body: object) => http.post('/cloud/v2/instances/1/1/check_limits', body);

  it('are empty while there is room, and name what would be exceeded', async () => {
    const one = {
      flavor: 'g1-standard-1-2',
      interfaces: [{ type: 'any_subnet', network_id: network, floating_ip: { source: 'new' } }],
      volumes: [
        { source: 'new-volume', size: 1 },
        { source: 'existing-volume', volume_id: unknown },
      ],
    };
    const room = await check(one);
    expect(room.status, room.text).toBe(200);
    expect(room.body).toEqual({});
    const names = Array.from({ length: 1000 }, (_, index) => `web-${index}`);
    const { rows } = await service.pool.query(
      `select used::int from quota_usage where attribute = 'vm_count' and region_id = 1`,
    );
    const full = await check({ ...one, names });
    expect(full.body).toMatchObject({
      vm_count_limit: 1000,
      vm_count_requested: 1000,
      vm_count_usage: rows[0].used,
      volume_count_requested: 1000,
    });
    expect(full.body).not.toHaveProperty('floating_count_limit');
    await http.post('/cloud/v1/floatingips/1/1', {});
    expect((await check({ ...one, names })).body).toMatchObject({
      floating_count_limit: 1000,
      floating_count_requested: 1000,
      floating_count_usage: 1,
    });
  });

  it('are known of instances that are only sketched', async () => {
    for (const sketch of [
      {},
      { volumes: [{ source: 'image' }, { source: 'snapshot', size: 5, type_name: 'standard' }] },
      { interfaces: [{}, { network_id: network }, { subnet_id: unknown, port_group: 0 }] },
      { name_templates: ['web-{ip_octets}', null] },
    ]) {
      const answer = await check(sketch);
      expect([answer.status, answer.body], answer.text).toEqual([200, {}]);
    }
    const names = Array.from({ length: 999 }, (_, index) => `web-${index}`);
    const many = await check({ names, name_templates: [null], volumes: [{ source: 'image' }] });
    expect(many.body).toMatchObject({ vm_count_requested: 1000, volume_count_requested: 1000 });
  });

  it.each([
    [{ flavor: 'no-such-flavor' }, 'flavor'],
    [{ names: [] }, 'names'],
    [{ interfaces: [{ type: 'subnet' }] }, 'interfaces.0.subnet_id'],
    [{ interfaces: [{ type: 'external', ip_family: 'ipv5' }] }, 'interfaces.0.ip_family'],
    [{ volumes: [{ source: 'apptemplate', apptemplate_id: 'x' }] }, 'volumes.0.source'],
  ])('are refused for %j', async (body, field) => {
    const refused = await check(body);
    expect(refused.status, refused.text).toBe(400);
    expect(Object.keys(refused.body.invalid_fields)).toEqual([field]);
  });
});

it('restricts no names, and takes one of a template as it says', async () => {
  const { body } = await http.get(`${I}/available_names`);
  expect(body).toEqual({
    custom_name_allowed: true,
    name_templates_limited: false,
    allowed_name_templates: null,
    allowed_name_win_templates: null,
    allowed_bm_name_templates: null,
    allowed_bm_name_win_templates: null,
  });
});

describe('direct actions', () => {
  const act = (path: string, body?: object) => http.post(`${I}/${id}/${path}`, body);

  it('answer the instance in its new state, with no task', async () => {
    for (const [path, status, vm_state] of [
      ['stop', 'SHUTOFF', 'stopped'],
      ['start', 'ACTIVE', 'active'],
      ['suspend', 'SUSPENDED', 'suspended'],
      ['resume', 'ACTIVE', 'active'],
      ['reboot', 'ACTIVE', 'active'],
      ['stop', 'SHUTOFF', 'stopped'],
      ['powercycle', 'ACTIVE', 'active'],
    ] as const) {
      const answer = await act(path);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body).toMatchObject({ id, status, vm_state, task_id: null, task_state: null });
      expect((await http.get(`${I}/${id}`)).body).toEqual(answer.body);
    }
    await act('stop');
    expect((await act('start', { activate_profile: null })).status).toBe(200);
  });

  it('are refused in the wrong state and while a task holds the instance, as those of version 2', async () => {
    for (const path of ['start', 'resume']) {
      const direct = await act(path);
      const later = await http.post(`/cloud/v2/instances/1/1/${id}/action`, { action: path });
      expect([direct.status, later.status]).toEqual([409, 409]);
      expect(direct.body.message).toBe(later.body.message);
    }
    const task = crypto.randomUUID();
    await service.pool.query('update instances set task_id = $1 where id = $2', [task, id]);
    const held = await act('stop');
    await service.pool.query('update instances set task_id = null where id = $1', [id]);
    expect(held.status).toBe(409);
    expect(held.body.message).toContain(task);
    expect((await act('start', { colour: 'red' })).status).toBe(400);
    expect((await http.post(`${I}/${unknown}/stop`)).status).toBe(404);
  });

  it('are one of many that come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => act('suspend')));
    expect(
      answers
        .map(({ status }) => `${status}`)
        .toSorted()
        .join(),
    ).toBe('200,409,409,409,409,409');
    expect((await act('resume')).status).toBe(200);
  });
});

describe('port security', () => {
  it('goes off with the groups that work by it, and on again', async () => {
    const [{ port_id: port }] = (await http.get(`${I}/${id}/interfaces`)).body.results;
    const turn = (to: 'enable' | 'disable', one = port) => http.post(`/cloud/v1/ports/1/1/${one}/${to}_port_security`);
    const groups = async () => (await http.get(`/cloud/v1/ports/1/1/${port}`)).body.security_group_ids;
    expect((await turn('enable')).body).toMatchObject({ port_id: port, port_security_enabled: true });
    expect(await groups()).toHaveLength(1);
    const off = await turn('disable');
    expect(off.status, off.text).toBe(200);
    expect(await groups()).toEqual([]);
    const [shown] = (await http.get(`${I}/${id}/interfaces`)).body.results;
    expect(off.body).toEqual(shown);
    expect(shown).toMatchObject({ port_security_enabled: false, network_details: { id: network } });
    const added = await http.post(`${I}/${id}/addsecuritygroup`, { name: 'default' });
    expect(added.status).toBe(409);
    expect((await turn('enable')).status).toBe(200);
    await http.post(`${I}/${id}/addsecuritygroup`, { name: 'default' });
    expect((await turn('disable', unknown)).status).toBe(404);
    const task = crypto.randomUUID();
    await service.pool.query('update ports set task_id = $1 where id = $2', [task, port]);
    const held = await turn('disable');
    await service.pool.query('update ports set task_id = null where id = $1', [port]);
    expect(held.status).toBe(409);
  });

  it('stays on while address pairs need it, and in the external network', async () => {
    const [{ port_id: port }] = (await http.get(`${I}/${id}/interfaces`)).body.results;
    const set = (allowed_address_pairs: object[]) =>
      done(http.patch(`/cloud/v1/ports/1/1/${port}`, { allowed_address_pairs }));
    const turnOff = (one: string) => http.post(`/cloud/v1/ports/1/1/${one}/disable_port_security`);
    await set([{ ip_address: '10.0.0.77' }]);
    expect((await turnOff(port)).status).toBe(409);
    await set([]);
    const { created_resources: made } = await done(http.post(`${I}/${id}/attach_interface`, { type: 'external' }));
    const outside = await turnOff(made.ports[0]);
    expect([outside.status, outside.body.message]).toEqual([409, expect.stringContaining('external')]);
    const patched = await http.patch(`/cloud/v1/ports/1/1/${made.ports[0]}`, {
      port_security_enabled: false,
      security_group_ids: [],
    });
    expect([patched.status, patched.body.message]).toEqual([409, outside.body.message]);
  });
});
