import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { specOf } from '../../../../test/support/infrastructure.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const IMAGES = '/cloud/v1/images/1/1';
const VOLUMES = '/cloud/v1/volumes/1/1';
const DOWNLOAD = '/cloud/v1/downloadimage/1/1';
const ADDRESS = 'https://user:hunter2@images.example.com/debian.qcow2?signature=hunter3#hunter4';

let service: TestService;
let logged = '';
beforeAll(async () => {
  const lines = new PassThrough();
  lines.on('data', (line: Buffer) => {
    logged += line.toString();
  });
  service = await startService({}, { log: pino({ level: 'trace' }, lines) });
});
afterAll(() => service.stop());

const finished = async ({ status, text, body }: { status: number; text: string; body: string[] }) => {
  expect(status, text).toBe(200);
  const task = await service.http.task(String(body[0]));
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  return task;
};
const download = async (more: object = {}): Promise<string> =>
  (await finished(await service.http.post(DOWNLOAD, { name: 'from afar', url: ADDRESS, ...more }))).created_resources
    .images[0];
const volume = async (image_id: string): Promise<string> =>
  (await finished(await service.http.post(VOLUMES, { source: 'image', image_id, size: 1, name: 'disk' })))
    .created_resources.volumes[0];

describe('an image from an address', () => {
  it('is made by a task with what the request says of it, and counts for the quota', async () => {
    const used = async () =>
      (await service.pool.query(`select used from quota_usage where attribute = 'image_count'`)).rows[0]?.used ?? 0;
    const before = await used();
    const task = await finished(
      await service.http.post(DOWNLOAD, {
        name: 'debian 13',
        url: ADDRESS,
        os_type: 'windows',
        os_distro: 'debian',
        os_version: '13',
        architecture: 'aarch64',
        ssh_key: 'deny',
        is_baremetal: true,
        hw_firmware_type: 'uefi',
        hw_machine_type: null,
        cow_format: false,
        tags: { env: 'test' },
      }),
    );
    expect(task.task_type).toBe('download_image');
    const [id] = task.created_resources.images;
    expect((await service.http.get(`${IMAGES}/${id}`)).body).toMatchObject({
      id,
      name: 'debian 13',
      status: 'active',
      visibility: 'private',
      os_type: 'windows',
      os_distro: 'debian',
      os_version: '13',
      architecture: 'aarch64',
      ssh_key: 'deny',
      is_baremetal: true,
      hw_firmware_type: 'uefi',
      hw_machine_type: 'q35',
      min_disk: 1,
      size: 1_073_741_824,
      tags_v2: [{ key: 'env', value: 'test', read_only: false }],
      creator_task_id: task.id,
      task_id: null,
    });
    expect(await used()).toBe(before + 1);
    expect((await specOf(service.pool, 'image', id)).wanted).toMatchObject({
      sourceUrl: 'https://images.example.com/debian.qcow2',
    });
  });

  it('can do with a name and an address, and be changed', async () => {
    const id = await download();
    expect((await service.http.get(`${IMAGES}/${id}`)).body).toMatchObject({
      os_type: 'linux',
      os_distro: '',
      os_version: '',
      architecture: 'x86_64',
      ssh_key: 'allow',
      is_baremetal: false,
      hw_firmware_type: 'bios',
      tags_v2: [],
    });
    const changed = await service.http.patch(`${IMAGES}/${id}`, { name: 'renamed', tags: { a: 'b' } });
    expect(changed.body, changed.text).toMatchObject({ name: 'renamed', size: 1_073_741_824 });
    const { wanted } = await specOf(service.pool, 'image', id);
    expect(wanted).toMatchObject({ name: 'renamed', sourceUrl: 'https://images.example.com/debian.qcow2' });
  });

  it('keeps to itself what may be secret in the address', async () => {
    await download();
    expect(logged).not.toBe('');
    expect(logged).not.toMatch(/hunter/);
    const { rows: tables } = await service.pool.query<{ name: string }>(
      `select quote_ident(table_name) as name from information_schema.tables
       where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    for (const { name } of tables) {
      const { rows } = await service.pool.query(`select 1 from ${name} as one where one::text like '%hunter%'`);
      expect([name, rows.length]).toEqual([name, 0]);
    }
    const { rows } = await service.pool.query(`select data from tasks where task_type = 'download_image'`);
    expect(rows[0].data.url).toBe('https://images.example.com/debian.qcow2');
  });

  it('fits on no volume that is smaller than it', async () => {
    const image_id = await download();
    const set = 'update images set size_bytes = $1 where id = $2';
    await service.pool.query(set, [3 * 2 ** 30 + 1, image_id]);
    const wish = { source: 'image', image_id, name: 'disk' };
    const refused = await service.http.post(VOLUMES, { ...wish, size: 3 });
    expect([refused.status, refused.body.invalid_fields]).toEqual([
      400,
      { size: ['Image from afar requires at least 4 GiB.'] },
    ]);
    await finished(await service.http.post(VOLUMES, { ...wish, size: 4 }));
  });

  it('of Windows starts no instance with another user than Admin', async () => {
    const image_id = await download({ os_type: 'windows' });
    const create = (body: object) =>
      service.http.post('/cloud/v2/instances/1/1', {
        name: 'windows-1',
        flavor: 'g1-standard-1-2',
        interfaces: [{ type: 'external' }],
        volumes: [{ source: 'image', image_id, size: 1 }],
        password: 'Secret-123',
        ...body,
      });
    const refused = await create({ username: 'me' });
    expect([refused.status, Object.keys(refused.body.invalid_fields)]).toEqual([400, ['username']]);
    await finished(await create({ username: '' }));
  });

  it('is what volumes are copied from, unless they share its data: then they go before it', async () => {
    const [copied, shared] = [await download(), await download({ cow_format: true })];
    const [copy, sharing] = [await volume(copied), await volume(shared)];
    const refused = await service.http.delete(`${IMAGES}/${shared}`);
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining(sharing)]);
    await finished(await service.http.delete(`${IMAGES}/${copied}`));
    await finished(await service.http.delete(`${VOLUMES}/${sharing}`));
    await finished(await service.http.delete(`${IMAGES}/${shared}`));
    expect((await service.http.get(`${VOLUMES}/${copy}`)).status).toBe(200);
  });

  it('is logged as a download', async () => {
    const id = await download();
    const { body } = await service.http.get('/cloud/v1/user_actions?limit=1');
    expect(body.results[0]).toMatchObject({ api_group: 'image', action_type: 'download' });
    expect(body.results[0].resources).toMatchObject([{ resource_id: id }]);
  });
});

describe('refuses', () => {
  it.each<[object, string]>([
    [{ url: undefined }, 'url'],
    [{ url: '' }, 'url'],
    [{ url: 'images.example.com/a.qcow2' }, 'url'],
    [{ url: 'ftp://images.example.com/a.qcow2' }, 'url'],
    [{ url: 'file:///etc/passwd' }, 'url'],
    [{ url: `https://example.com/${'a'.repeat(4096)}` }, 'url'],
    [{ name: 'x' }, 'name'],
    [{ os_type: 'plan9' }, 'os_type'],
    [{ architecture: 'riscv64' }, 'architecture'],
    [{ cow_format: null }, 'cow_format'],
    [{ volume_id: crypto.randomUUID() }, 'volume_id'],
    [{ tags: { 'a b': 'c' } }, 'tags.a b'],
  ])('%j', async (change, field) => {
    const answer = await service.http.post(DOWNLOAD, { name: 'refused', url: ADDRESS, ...change });
    expect(answer.status, answer.text).toBe(400);
    expect(Object.keys(answer.body.invalid_fields)).toEqual([field]);
    expect(answer.text).not.toContain('hunter');
  });

  it('others', async () => {
    const other = await service.otherTenant();
    const body = { name: 'foreign', url: ADDRESS };
    expect((await other.http.post(DOWNLOAD, body)).status).toBe(404);
    expect((await (await service.withRole('Users')).post(DOWNLOAD, body)).status).toBe(403);
    expect((await service.anonymous.post(DOWNLOAD, body)).status).toBe(401);
  });
});
