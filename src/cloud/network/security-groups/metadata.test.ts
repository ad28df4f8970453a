import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const BASE = '/cloud/v1/securitygroups/1/1';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

async function made(tags: object = {}) {
  const name = `group ${randomUUID().slice(0, 8)}`;
  const { body } = await service.http.post(BASE, { security_group: { name, tags } });
  return `${BASE}/${body.id}`;
}
async function tagsOf(group: string) {
  const { body } = await service.http.get(`${group}/metadata`);
  expect(body.count).toBe(body.results.length);
  return Object.fromEntries(body.results.map((tag: { key: string; value: string }) => [tag.key, tag.value]));
}

it('sets some tags, replaces all, shows and removes one', async () => {
  const group = await made({ env: 'production', owner: 'a' });
  expect((await service.http.post(`${group}/metadata`, { env: 'staging', zone: ' b ' })).status).toBe(204);
  expect(await tagsOf(group)).toEqual({ env: 'staging', owner: 'a', zone: 'b' });
  expect((await service.http.put(`${group}/metadata`, { only: 'one', other: 'two' })).status).toBe(204);
  expect(await tagsOf(group)).toEqual({ only: 'one', other: 'two' });
  expect((await service.http.get(`${group}/metadata_item?key=only`)).body).toEqual({
    key: 'only',
    value: 'one',
    read_only: false,
  });
  expect((await service.http.delete(`${group}/metadata_item?key=only`)).status).toBe(204);
  expect((await service.http.delete(`${group}/metadata_item?key=only`)).status).toBe(404);
  expect((await service.http.get(`${group}/metadata_item?key=only`)).status).toBe(404);
  expect(await tagsOf(group)).toEqual({ other: 'two' });
  expect((await service.http.get(group)).body.revision_number).toBe(4);
});

it('refuses what a tag may not be, by its key, and too many of them', async () => {
  const group = await made({ env: 'production' });
  const bad = await service.http.post(`${group}/metadata`, { 'a b': 'c' });
  expect(bad.status).toBe(400);
  expect(Object.keys(bad.body.invalid_fields)).toEqual(['a b']);
  const full = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`k${i}`, 'v']));
  expect((await service.http.post(`${group}/metadata`, full)).status).toBe(400);
  expect(await tagsOf(group)).toEqual({ env: 'production' });
  expect((await service.http.put(`${group}/metadata`, full)).status).toBe(204);
  expect((await service.http.get(`${group}/metadata_item`)).status).toBe(400);
  expect((await service.http.get(`${BASE}/${randomUUID()}/metadata`)).status).toBe(404);
  expect((await service.http.post(`${BASE}/${randomUUID()}/metadata`, {})).status).toBe(404);
});
