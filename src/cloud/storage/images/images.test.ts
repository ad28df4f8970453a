import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../../../../test/support/http-client.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const IMAGES = '/cloud/v1/images/1/1';
const VOLUMES = '/cloud/v1/volumes/1/1';

let service: TestService;
let publicImages: { id: string }[];
/** Nothing is known of what is in it. */
let plainImage: string;
beforeAll(async () => {
  service = await borrowService();
  publicImages = (await service.http.get(`${IMAGES}?visibility=public`)).body.results;
  const plain = { name: 'plain', url: 'https://images.example.com/plain.qcow2' };
  const task = await finished(await service.http.post('/cloud/v1/downloadimage/1/1', plain));
  [plainImage = ''] = task.created_resources.images;
});
afterAll(() => service.stop());

async function finished(answer: Answer) {
  expect(answer.status, answer.text).toBe(200);
  const task = await service.http.task(answer.body[0]);
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  return task;
}
async function volume(from: object = { source: 'image', image_id: plainImage }): Promise<string> {
  const task = await finished(await service.http.post(VOLUMES, { name: 'for image', size: 10, ...from }));
  return task.created_resources.volumes[0];
}
const unique = () => `image ${randomUUID().slice(0, 8)}`;
async function image(more: object = {}): Promise<string> {
  const body = { name: unique(), volume_id: await volume(), ...more };
  return (await finished(await service.http.post(IMAGES, body))).created_resources.images[0];
}
const listed = async (query: string) => {
  const { status, body, text } = await service.http.get(`${IMAGES}?${query}`);
  expect(status, text).toBe(200);
  return { count: body.count, ids: body.results.map(({ id }: { id: string }) => id) };
};
const imageQuota = async () =>
  (await service.pool.query(`select used from quota_usage where attribute = 'image_count' and client_id = 1`)).rows[0]
    ?.used ?? 0;

describe('an image made of a volume', () => {
  it('costs what the preview says, as a dry run knows before it is there', async () => {
    const body = { name: unique(), volume_id: await volume() };
    const headers = { 'tradewind-dry-run': 'true' };
    const dry = await service.http.request('POST', IMAGES, { body, headers });
    const preview = await service.http.post('/cloud/v1/pricing/1/1/images', { size: 10 });
    expect([dry.status, preview.status], dry.text + preview.text).toEqual([200, 200]);
    expect(dry.body.price_per_month_difference).toBe(preview.body.price_per_month);
  });

  it('is private, has every field, and knows what the volume was made from', async () => {
    const volumeId = await volume({ source: 'image', image_id: publicImages[0]?.id });
    const name = unique();
    const before = await imageQuota();
    const answer = await service.http.post(IMAGES, {
      name,
      volume_id: volumeId,
      source: 'volume',
      ssh_key: 'required',
      hw_firmware_type: 'uefi',
      tags: { env: ' test ' },
    });
    const task = await finished(answer);
    expect(task).toMatchObject({ task_type: 'create_image' });
    expect(await imageQuota()).toBe(before + 1);
    const [id] = task.created_resources.images;
    const { body } = await service.http.get(`${IMAGES}/${id}`);
    expect(body).toMatchObject({
      id,
      name,
      status: 'active',
      visibility: 'private',
      architecture: 'x86_64',
      os_type: 'linux',
      os_distro: 'ubuntu',
      os_version: '24.04',
      min_disk: 10,
      size: 10 * 2 ** 30,
      is_baremetal: false,
      ssh_key: 'required',
      hw_firmware_type: 'uefi',
      hw_machine_type: 'q35',
      display_order: null,
      price_status: null,
      tags_v2: [{ key: 'env', value: 'test', read_only: false }],
      project_id: 1,
      region_id: 1,
      creator_task_id: task.id,
      task_id: null,
    });
    const open = (await service.http.get(`${IMAGES}/${publicImages[0]?.id}`)).body;
    expect(Object.keys(body).sort()).toEqual(Object.keys(open).sort());
    expect((await service.http.get(`${VOLUMES}/${volumeId}`)).body).toMatchObject({
      status: 'available',
      task_id: null,
    });
  });

  it('can be what volumes and instances start from, each a copy that outlives it', async () => {
    const id = await image();
    const copy = await volume({ source: 'image', image_id: id });
    expect((await service.http.get(`${VOLUMES}/${copy}`)).body).toMatchObject({
      bootable: true,
      volume_image_metadata: { image_id: id, os_type: 'linux' },
    });
    const small = await service.http.post(VOLUMES, { source: 'image', image_id: id, size: 9, name: 'small' });
    expect(Object.keys(small.body.invalid_fields)).toEqual(['size']);
    const network = (await service.http.get('/cloud/v1/networks/1/1?name=default')).body.results[0].id;
    const machine = await finished(
      await service.http.post('/cloud/v2/instances/1/1', {
        name: 'from own image',
        flavor: 'g1-standard-1-2',
        interfaces: [{ type: 'any_subnet', network_id: network }],
        volumes: [{ source: 'image', image_id: id, size: 10 }],
      }),
    );
    const gone = await finished(await service.http.delete(`${IMAGES}/${id}`));
    expect(gone).toMatchObject({ task_type: 'delete_image', created_resources: null });
    expect((await service.http.get(`${IMAGES}/${id}`)).status).toBe(404);
    expect((await service.http.get(`${VOLUMES}/${copy}`)).status).toBe(200);
    const [instance] = machine.created_resources.instances;
    expect((await service.http.get(`/cloud/v1/instances/1/1/${instance}`)).status).toBe(200);
    const late = await service.http.post(VOLUMES, { source: 'image', image_id: id, size: 10, name: 'late' });
    expect(Object.keys(late.body.invalid_fields)).toEqual(['image_id']);
  });

  it('takes null for the hardware that it does not care about', async () => {
    const id = await image({ hw_firmware_type: null, hw_machine_type: null });
    expect((await service.http.get(`${IMAGES}/${id}`)).body).toMatchObject({
      hw_firmware_type: 'bios',
      hw_machine_type: 'q35',
    });
  });

  it('changes at once', async () => {
    const id = await image({ tags: { env: 'a', owner: 'b' } });
    const name = unique();
    const { status, body } = await service.http.patch(`${IMAGES}/${id}`, {
      name,
      os_type: 'windows',
      ssh_key: 'deny',
      is_baremetal: true,
      hw_firmware_type: 'uefi',
      hw_machine_type: 'i440',
      tags: { env: 'c', owner: null },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name,
      os_type: 'windows',
      ssh_key: 'deny',
      is_baremetal: true,
      hw_firmware_type: 'uefi',
      hw_machine_type: 'i440',
      tags_v2: [{ key: 'env', value: 'c', read_only: false }],
    });
    expect((await service.http.patch(`${IMAGES}/${id}`, {})).body).toMatchObject({
      name,
      os_type: 'windows',
    });
    const untouched = await service.http.patch(`${IMAGES}/${id}`, { is_baremetal: null });
    expect(untouched.body, untouched.text).toMatchObject({ is_baremetal: true, name });
    // The price book has 0.02 EUR for Windows; tax is 17 %.
    const priced = await service.http.get(`${IMAGES}/${id}?include_prices=true`);
    expect(priced.body).toMatchObject({
      price_per_hour: 0.0234,
      price_per_month: 16.848,
      price_status: 'show',
    });
  });
});

describe('the list', () => {
  it('has the own images behind those of the platform, and pages through both exactly', async () => {
    const mark = randomUUID().slice(0, 8);
    const first = await image({ name: `own ${mark} a`, tags: { mark } });
    const second = await image({ name: `own ${mark} b`, architecture: 'aarch64', tags: { mark } });
    const open = publicImages.map(({ id }) => id);
    const all = await listed('');
    expect(all.ids.slice(0, open.length + 2)).toEqual([...open, second, first]);
    expect(all.count).toBe(all.ids.length);
    const pages: string[] = [];
    for (let offset = 0; offset < all.count + 2; offset += 2) {
      const page = await listed(`limit=2&offset=${offset}`);
      expect(page.count).toBe(all.count);
      pages.push(...page.ids);
    }
    expect(pages).toEqual(all.ids);

    expect(await listed(`name=${mark.toUpperCase()}`)).toEqual({ count: 2, ids: [second, first] });
    expect((await listed('private=yes')).ids).toEqual(all.ids.slice(open.length));
    expect((await listed('visibility=private')).ids).toEqual(all.ids.slice(open.length));
    expect(await listed('visibility=public')).toEqual({ count: open.length, ids: open });
    expect(await listed('visibility=shared')).toEqual({ count: 0, ids: [] });
    expect((await listed(`tag_key=mark&architecture=aarch64&name=${mark}`)).ids).toEqual([second]);
    expect((await listed(`tag_key_value={"mark":"${mark}"}&limit=1&offset=1`)).ids).toEqual([first]);
    expect((await listed(`os_distro=ubuntu&name=${mark}`)).ids).toEqual([]);
    const known = await volume({ source: 'image', image_id: publicImages[0]?.id });
    const third = await image({ name: `own ${mark} c`, volume_id: known });
    expect((await listed(`os_distro=UBUNTU&os_version=24.04&name=${mark}`)).ids).toEqual([third]);
    const own = await service.http.get('/cloud/v1/projectimages/1/1');
    expect(own.body).toEqual((await service.http.get(`${IMAGES}?visibility=private`)).body);
    expect(own.body.results.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining([first]));
    const ownPriced = await service.http.get('/cloud/v1/projectimages/1/1?include_prices=true');
    expect(ownPriced.body.results[0]).toMatchObject({ price_status: 'show' });
    const priced = await service.http.get(`${IMAGES}?include_prices=true`);
    for (const { price_status, price_per_hour } of priced.body.results) {
      expect([price_status, typeof price_per_hour]).toEqual(['show', 'number']);
    }
    expect((await service.http.get(`${IMAGES}?include_prices=perhaps`)).status).toBe(400);
  });
});

describe('refuses', () => {
  it.each<[object, string]>([
    [{ name: 'x' }, 'name'],
    [{ volume_id: undefined }, 'volume_id'],
    [{ volume_id: 'no-uuid' }, 'volume_id'],
    [{ volume_id: randomUUID() }, 'volume_id'],
    [{ source: 'snapshot' }, 'source'],
    [{ os_type: 'plan9' }, 'os_type'],
    [{ hw_machine_type: 'pc' }, 'hw_machine_type'],
    [{ tags: { 'a b': 'c' } }, 'tags.a b'],
    [{ min_disk: 1 }, 'min_disk'],
  ])('%j', async (change, field) => {
    const body = { name: 'refused', volume_id: await volume(), ...change };
    const answer = await service.http.post(IMAGES, body);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body.invalid_fields)).toEqual([field]);
  });

  it('a volume that nothing boots from', async () => {
    const blank = await volume({ source: 'new-volume' });
    const answer = await service.http.post(IMAGES, { name: 'refused', volume_id: blank });
    expect([answer.status, answer.body.invalid_fields]).toEqual([
      400,
      { volume_id: [`Volume ${blank} is not bootable; choose one that was made from an image.`] },
    ]);
  });

  it('to change or delete what the platform offers', async () => {
    const url = `${IMAGES}/${publicImages[0]?.id}`;
    const answers = [
      await service.http.patch(url, { name: 'mine now' }),
      await service.http.delete(url),
      await service.http.post(`${url}/metadata`, { mine: 'yes' }),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(403);
      expect(body.message).toContain('belongs to the platform');
    }
    expect((await service.http.get(`${url}/metadata`)).body).toEqual({ count: 0, results: [] });
  });

  it('others: the image of one project is nowhere in another', async () => {
    const id = await image();
    const other = await service.otherTenant();
    const theirs = `/cloud/v1/images/${other.projectId}/1`;
    expect((await other.http.get(`${IMAGES}/${id}`)).status).toBe(404);
    expect((await other.http.get(`${theirs}/${id}`)).status).toBe(404);
    expect((await other.http.patch(`${theirs}/${id}`, { name: 'taken' })).status).toBe(404);
    expect((await other.http.delete(`${theirs}/${id}`)).status).toBe(404);
    expect((await other.http.get(theirs)).body.count).toBe(publicImages.length);
    const ofTheirs = await other.http.get(`/cloud/v1/projectimages/${other.projectId}/1`);
    expect(ofTheirs.body).toEqual({ count: 0, results: [] });
    const used = await other.http.post(`/cloud/v1/volumes/${other.projectId}/1`, {
      source: 'image',
      image_id: id,
      size: 10,
      name: 'stolen',
    });
    expect(used.status).toBe(400);
    expect((await service.http.get(`/cloud/v1/images/1/2/${id}`)).status).toBe(404);
    const stolen = await other.http.post(theirs, { name: 'of a foreign disk', volume_id: await volume() });
    expect(Object.keys(stolen.body.invalid_fields)).toEqual(['volume_id']);
    const user = await service.withRole('Users');
    expect((await user.delete(`${IMAGES}/${id}`)).status).toBe(403);
    expect((await service.anonymous.post(IMAGES, {})).status).toBe(401);
  });
});
