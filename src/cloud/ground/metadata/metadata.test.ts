import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Values } from '../../../../test/support/openapi.ts';
import { createPossessions } from '../../../../test/support/possessions.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

let service: TestService;
let values: Values;
const FAMILIES: [base: string, parameter: string, held: string][] = [
  ['/cloud/v1/instances', 'instance_id', 'instances'],
  ['/cloud/v2/instances', 'instance_id', 'instances'],
  ['/cloud/v1/networks', 'network_id', 'networks'],
  ['/cloud/v1/subnets', 'subnet_id', 'subnets'],
  ['/cloud/v1/volumes', 'volume_id', 'volumes'],
  ['/cloud/v1/file_shares', 'file_share_id', 'file_shares'],
  ['/cloud/v1/images', 'image_id', 'images'],
  ['/cloud/v1/floatingips', 'floating_ip_id', 'floating_ips'],
];
const urlOf = (base: string, parameter: string) => `${base}/1/1/${values[parameter]}`;

beforeAll(async () => {
  service = await borrowService();
  const possessions = createPossessions(service.http);
  await possessions.make(...FAMILIES.map(([, parameter]) => parameter));
  values = possessions.values;
});
afterAll(() => service.stop());

describe.each(FAMILIES)('%s by %s', (base, parameter, table) => {
  it('sets, replaces, shows and removes tags', async () => {
    const url = `${urlOf(base, parameter)}/metadata`;
    const tags = async () => {
      const { status, body, text } = await service.http.get(url);
      expect(status, text).toBe(200);
      expect(body.count).toBe(body.results.length);
      return Object.fromEntries(body.results.map((tag: { key: string; value: string }) => [tag.key, tag.value]));
    };
    expect((await service.http.put(url, { env: 'a', owner: 'b' })).status).toBe(204);
    expect((await service.http.post(url, { env: ' c ', zone: 'd' })).status).toBe(204);
    expect(await tags()).toEqual({ env: 'c', owner: 'b', zone: 'd' });
    const item = `${url}_item?key=`;
    expect((await service.http.get(`${item}env`)).body).toEqual({ key: 'env', value: 'c', read_only: false });
    expect((await service.http.delete(`${item}env`)).status).toBe(204);
    expect((await service.http.delete(`${item}env`)).status).toBe(404);
    expect((await service.http.get(`${item}env`)).status).toBe(404);
    expect((await service.http.get(`${url}_item`)).status).toBe(400);
    const bad = await service.http.post(url, { 'a b': 'c' });
    expect([bad.status, Object.keys(bad.body.invalid_fields)]).toEqual([400, ['a b']]);
    expect((await service.http.put(url, { n: 1 })).status).toBe(400);
    expect(await tags()).toEqual({ owner: 'b', zone: 'd' });
    const shown = await service.http.get(urlOf(base.replace('v2', 'v1'), parameter));
    expect(shown.status, shown.text).toBe(200);
    expect(shown.body.tags ?? shown.body.tags_v2).toEqual([
      { key: 'zone', value: 'd', read_only: false },
      { key: 'owner', value: 'b', read_only: false },
    ]);
  });

  it('refuses others, the unknown, and while a task holds the resource', async () => {
    const url = urlOf(base, parameter);
    const other = await service.otherTenant();
    const user = await service.withRole('Users');
    for (const path of [url, url.replace(String(values[parameter]), randomUUID())]) {
      const client = path === url ? other.http : service.http;
      expect((await client.get(`${path}/metadata`)).status).toBe(404);
      expect((await client.post(`${path}/metadata`, { a: 'b' })).status).toBe(404);
      expect((await client.put(`${path}/metadata`, { a: 'b' })).status).toBe(404);
      expect((await client.get(`${path}/metadata_item?key=owner`)).status).toBe(404);
      expect((await client.delete(`${path}/metadata_item?key=owner`)).status).toBe(404);
    }
    expect((await user.get(`${url}/metadata`)).status).toBe(200);
    expect((await user.put(`${url}/metadata`, {})).status).toBe(403);
    expect((await service.anonymous.get(`${url}/metadata`)).status).toBe(401);

    const taskId = randomUUID();
    const status = table === 'images' ? `status = 'pending_delete', ` : '';
    await service.pool.query(`update ${table} set ${status} task_id = $1 where id = $2`, [taskId, values[parameter]]);
    const held = await service.http.post(`${url}/metadata`, { a: 'b' });
    expect(held.status).toBe(409);
    expect(held.body.message).toContain(taskId);
    expect((await service.http.get(`${url}/metadata`)).status).toBe(200);
    const free = table === 'images' ? `status = 'active', ` : '';
    await service.pool.query(`update ${table} set ${free} task_id = null where id = $1`, [values[parameter]]);
  });
});

it('instances have each tag at an address of its own as well', async () => {
  const url = `${urlOf('/cloud/v1/instances', 'instance_id')}/metadata`;
  await service.http.put(url, { 'a/b_c': 'slash', env: 'x' });
  expect((await service.http.get(`${url}/env`)).body).toEqual({ key: 'env', value: 'x', read_only: false });
  expect((await service.http.get(`${url}/a%2Fb_c`)).body.value).toBe('slash');
  expect((await service.http.delete(`${url}/env`)).status).toBe(204);
  expect((await service.http.delete(`${url}/env`)).status).toBe(404);
  expect((await service.http.get(`${url}/env`)).status).toBe(404);
  expect((await service.http.get(url)).body.count).toBe(1);
});

it("the platform's network shows its tags and takes none", async () => {
  const { body } = await service.http.get('/cloud/v1/networks/1/1?owned_by=any');
  const network = body.results.find((row: { external: boolean }) => row.external);
  const url = `/cloud/v1/networks/1/1/${network.id}/metadata`;
  expect((await service.http.get(url)).status).toBe(200);
  expect((await service.http.post(url, { a: 'b' })).status).toBe(403);
});
