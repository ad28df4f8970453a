import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../../test/support/service.ts';

const V = '/cloud/v1/volumes/1/1';
const V2 = '/cloud/v2/volumes/1/1';
const S = '/cloud/v1/snapshots/1/1';
const I = '/cloud/v1/instances/1/1';

let service: TestService;
let instanceId: string;
beforeAll(async () => {
  service = await borrowService();
  instanceId = await newInstance();
});
afterAll(() => service.stop());

type Answer = Awaited<ReturnType<TestService['http']['get']>>;

/** Waits for the one task that the answer names. */
async function done(answer: Answer) {
  expect(answer.status, answer.text).toBe(200);
  const task = await service.http.task(String(answer.body[0]));
  expect(task.state, task.error).toBe('FINISHED');
  return task;
}

async function newVolume(body: object = {}): Promise<string> {
  const made = await service.http.post(V, { source: 'new-volume', name: 'data', size: 10, ...body });
  return (await done(made)).created_resources.volumes[0];
}

async function newSnapshot(volume_id: string): Promise<string> {
  return (await done(await service.http.post(S, { volume_id, name: 'before' }))).created_resources.snapshots[0];
}

async function newInstance(): Promise<string> {
  const network = (await service.http.get('/cloud/v1/networks/1/1')).body.results[0].id;
  const made = await service.http.post('/cloud/v2/instances/1/1', {
    name: 'host',
    flavor: 'g1-standard-1-2',
    interfaces: [{ type: 'any_subnet', network_id: network }],
    volumes: [{ source: 'image', image_id: 'd30931af-8845-4913-a690-021a990a917f', size: 20 }],
  });
  return (await done(made)).created_resources.instances[0];
}

const read = async (id: string) => (await service.http.get(`${V}/${id}`)).body;

describe('update', () => {
  it('has no size under /gcore: a larger one is asked for elsewhere', async () => {
    const id = await newVolume();
    const answer = await service.http.patch(`/gcore${V}/${id}`, { name: 'larger', size: 20 });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.get('tradewind-ignored')).toBe('size');
    expect(answer.body).toMatchObject({ name: 'larger', size: 10 });
  });

  it('renames, and merges the tags', async () => {
    const id = await newVolume({ tags: { env: 'test', owner: 'me' } });
    const answer = await service.http.patch(`${V}/${id}`, {
      name: 'renamed',
      tags: { owner: null, tier: 'gold' },
    });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.name).toBe('renamed');
    expect(answer.body.tags.map(({ key }: { key: string }) => key).sort()).toEqual(['env', 'tier']);
    expect((await service.http.patch(`${V}/${id}`, { tags: null })).body).toMatchObject({
      name: 'renamed',
      tags: [],
    });
  });

  it('renames and tags a snapshot too', async () => {
    const id = await newSnapshot(await newVolume());
    const answer = await service.http.patch(`${S}/${id}`, { name: 'after', tags: { a: 'b' } });
    expect(answer.body).toMatchObject({ name: 'after', tags: [{ key: 'a', value: 'b' }] });
    expect((await service.http.patch(`${S}/${crypto.randomUUID()}`, { name: 'after' })).status).toBe(404);
    expect((await service.http.get(`${S}?schedule_id=nightly`)).body.count).toBe(0);
  });
});

describe('extend', () => {
  it('makes it larger, never smaller', async () => {
    const id = await newVolume();
    const task = await done(await service.http.post(`${V}/${id}/extend`, { size: 25 }));
    expect(task).toMatchObject({ task_type: 'extend_volume', data: { volume_id: id, size: 25 } });
    expect(await read(id)).toMatchObject({ size: 25, status: 'available', task_id: null });
    const same = await service.http.post(`${V}/${id}/extend`, { size: 25 });
    expect(same.body.invalid_fields).toEqual({ size: ['Must be larger than the current size of 25 GiB.'] });
  });

  it('has one winner', async () => {
    const id = await newVolume();
    const answers = await Promise.all([20, 30, 40].map((size) => service.http.post(`${V}/${id}/extend`, { size })));
    // A request that arrives after the first has ended may succeed as well, with a larger size.
    const won = answers.filter(({ status }) => status === 200);
    expect(won.length).toBeGreaterThan(0);
    for (const { status } of answers) expect([200, 400, 409]).toContain(status);
    for (const answer of won) await done(answer);
  });

  it('refuses a type that keeps its size', async () => {
    const id = await newVolume({ type_name: 'ssd_lowlatency' });
    expect((await service.http.post(`${V}/${id}/extend`, { size: 25 })).status).toBe(409);
  });
});

describe('retype', () => {
  it('changes the type with a task whose end the answer waits for, but not below a snapshot', async () => {
    const id = await newVolume();
    const answer = await service.http.post(`${V}/${id}/retype`, { volume_type: 'ssd_hiiops' });
    expect(answer.body).toMatchObject({ volume_type: 'ssd_hiiops', status: 'available', task_id: null });
    const tasks = async () => (await service.http.get('/cloud/v1/tasks?task_type=retype_volume')).body;
    expect(await tasks()).toMatchObject({
      count: 1,
      results: [{ state: 'FINISHED', data: { volume_id: id, volume_type: 'ssd_hiiops' } }],
    });
    const same = await service.http.post(`${V}/${id}/retype`, { volume_type: 'ssd_hiiops' });
    expect([same.status, same.body.invalid_fields]).toEqual([
      400,
      { volume_type: ['The volume already has type ssd_hiiops; choose another one.'] },
    ]);
    expect((await tasks()).count).toBe(1);
    expect((await service.http.post(`${V}/${id}/retype`, { volume_type: 'cold' })).status).toBe(400);
    const snapshot = await newSnapshot(id);
    const refused = await service.http.post(`${V}/${id}/retype`, { volume_type: 'standard' });
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain(snapshot);
  });
});

describe('revert', () => {
  it('puts the last snapshot back', async () => {
    const id = await newVolume();
    expect((await service.http.post(`${V}/${id}/revert`)).status).toBe(409);
    const snapshot = await newSnapshot(id);
    const task = await done(await service.http.post(`${V}/${id}/revert`));
    expect(task).toMatchObject({ task_type: 'revert_volume', data: { snapshot_id: snapshot } });
    expect(await read(id)).toMatchObject({ status: 'available', task_id: null });
    expect((await service.http.get(`${S}/${snapshot}`)).body).toMatchObject({
      status: 'available',
      task_id: null,
    });
  });

  it('refuses once the size is another', async () => {
    const id = await newVolume();
    await newSnapshot(id);
    await done(await service.http.post(`${V}/${id}/extend`, { size: 11 }));
    expect((await service.http.post(`${V}/${id}/revert`)).status).toBe(409);
  });
});

describe('attach and detach', () => {
  it('shows the volume on the instance, and takes it off again', async () => {
    const id = await newVolume();
    const body = { instance_id: instanceId, attachment_tag: 'data' };
    const task = await done(await service.http.post(`${V2}/${id}/attach`, body));
    expect(task.task_type).toBe('attach_volume');
    expect(await read(id)).toMatchObject({
      status: 'in-use',
      is_root_volume: false,
      attachments: [{ server_id: instanceId, device: '/dev/vdb', attached_at: expect.any(String) }],
    });
    expect((await service.http.get(`${I}/${instanceId}`)).body.volumes).toContainEqual({
      id,
      delete_on_termination: false,
    });
    await done(await service.http.post(`${V}/${id}/extend`, { size: 25 }));
    expect(await read(id)).toMatchObject({ size: 25, status: 'in-use' });
    expect((await service.http.post(`${V2}/${id}/attach`, body)).status).toBe(409);
    expect((await service.http.delete(`${V}/${id}`)).status).toBe(409);
    await done(await service.http.post(`${V2}/${id}/detach`, { instance_id: instanceId }));
    expect(await read(id)).toMatchObject({ status: 'available', attachments: [] });
    const again = await service.http.post(`${V2}/${id}/detach`, { instance_id: instanceId });
    expect(again.body.invalid_fields).toHaveProperty('instance_id');
  });

  it('attaches a new one to the instance that it is made for', async () => {
    const id = await newVolume({ instance_id_to_attach_to: instanceId, attachment_tag: 'logs' });
    expect(await read(id)).toMatchObject({
      status: 'in-use',
      task_id: null,
      attachments: [{ server_id: instanceId, attached_at: expect.any(String) }],
    });
  });

  it.each([
    [{ attachment_tag: 'logs' }, 'attachment_tag'],
    [{ lifecycle_policy_ids: [1] }, 'lifecycle_policy_ids'],
    [{ instance_id_to_attach_to: crypto.randomUUID() }, 'instance_id_to_attach_to'],
  ])('refuses %j for a new one', async (body, field) => {
    const given = { source: 'new-volume', name: 'data', size: 1, ...body };
    expect((await service.http.post(V, given)).body.invalid_fields).toHaveProperty(field);
  });

  it('attaches to one instance when many want it', async () => {
    const [id, other] = await Promise.all([newVolume(), newInstance()]);
    const hosts = [instanceId, other, instanceId, other];
    const answers = await Promise.all(
      hosts.map((instance_id) => service.http.post(`${V2}/${id}/attach`, { instance_id })),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409, 409, 409]);
    for (const answer of answers.filter(({ status }) => status === 200)) await done(answer);
    expect((await read(id)).attachments).toHaveLength(1);
  });

  it('gives each of many a device of its own', async () => {
    const ids = await Promise.all([newVolume(), newVolume(), newVolume()]);
    const answers = await Promise.all(
      ids.map((id) => service.http.post(`${V2}/${id}/attach`, { instance_id: instanceId })),
    );
    for (const answer of answers) await done(answer);
    const devices = await Promise.all(ids.map(async (id) => (await read(id)).attachments[0].device));
    expect(new Set(devices).size).toBe(3);
  });

  it('leaves the instance what it boots from', async () => {
    const { results } = (await service.http.get(`${V}?instance_id=${instanceId}&bootable=true`)).body;
    const refused = await service.http.post(`${V2}/${results[0].id}/detach`, { instance_id: instanceId });
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain('is the boot volume of');
  });

  it('names an instance that is not there', async () => {
    const id = await newVolume();
    const unknown = await service.http.post(`${V2}/${id}/attach`, { instance_id: crypto.randomUUID() });
    expect(unknown.body.invalid_fields).toHaveProperty('instance_id');
  });
});

it.each(['extend', 'retype', 'revert'])('%s of an unknown volume is 404', async (action) => {
  const body = { extend: { size: 20 }, retype: { volume_type: 'standard' }, revert: {} }[action];
  const answer = await service.http.post(`${V}/${crypto.randomUUID()}/${action}`, body);
  expect(answer.status, answer.text).toBe(404);
});

it('answers 401 and 403 before anything else, and 404 to strangers', async () => {
  const id = await newVolume();
  const other = await service.otherTenant();
  const users = await service.withRole('Users');
  for (const path of [`${V}/${id}/extend`, `${V}/${id}/retype`, `${V2}/${id}/attach`, `${V2}/${id}/detach`]) {
    expect((await service.anonymous.post(path, {})).status).toBe(401);
    expect((await users.post(path, {})).status).toBe(403);
  }
  expect((await other.http.post(`${V}/${id}/extend`, { size: 20 })).status).toBe(404);
  const own = `/cloud/v1/volumes/${other.projectId}/1/${id}`;
  expect((await other.http.post(`${own}/extend`, { size: 20 })).status).toBe(404);
});

describe('price of a snapshot', () => {
  const P = '/cloud/v1/pricing/1/1';

  it('is that of a volume of the same size and type', async () => {
    const id = await newVolume({ type_name: 'ssd_hiiops' });
    const price = await service.http.post(`${P}/snapshots`, { volume_id: id });
    const same = await service.http.post(`${P}/volumes`, {
      source: 'new-volume',
      size: 10,
      type_name: 'ssd_hiiops',
    });
    expect(price.body).toEqual(same.body);
    expect(price.body.price_status).toBe('show');
  });

  it('is refused for unknown volumes and types without snapshots', async () => {
    const unknown = await service.http.post(`${P}/snapshots`, { volume_id: crypto.randomUUID() });
    expect(unknown.status).toBe(404);
    const fast = await newVolume({ type_name: 'ssd_lowlatency' });
    const refused = await service.http.post(`${P}/snapshots`, { volume_id: fast });
    expect(refused.body.invalid_fields).toHaveProperty('volume_id');
  });
});
