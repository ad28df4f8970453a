import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DocumentedOperation, documentedOperations } from '../../../../../test/support/openapi.ts';
import { createPossessions } from '../../../../../test/support/possessions.ts';
import { borrowService, type TestService } from '../../../../../test/support/service.ts';

let service: TestService;
let path: string;
beforeAll(async () => {
  service = await borrowService();
  const possessions = createPossessions(service.http);
  await possessions.make('snapshot_id');
  path = `/cloud/v1/snapshots/1/1/${possessions.values.snapshot_id}/metadata`;
});
afterAll(() => service.stop());
const put = (body: object, http = service.http, prefix = '/gcore') => http.request('PUT', `${prefix}${path}`, { body });

it('all tags of a snapshot are replaced at once', async () => {
  expect((await put({ env: 'a', owner: 'b' })).status).toBe(200);
  const replaced = await put({ env: ' c ', owner: null });
  expect(replaced.status, replaced.text).toBe(200);
  expect(replaced.body).toMatchObject({ tags: [{ key: 'env', value: 'c', read_only: false }] });
  expect((await service.http.get(path.replace('/metadata', ''))).body.tags).toEqual(replaced.body.tags);
});

it('is refused for bad tags, a snapshot held by a task, everybody else, and at the other address', async () => {
  const bad = await put({ 'a b': 'c' });
  expect([bad.status, Object.keys(bad.body.invalid_fields)]).toEqual([400, ['a b']]);
  expect((await put({ n: 1 })).status).toBe(400);
  const other = await service.otherTenant();
  expect((await put({}, other.http)).status).toBe(404);
  expect((await put({}, service.anonymous)).status).toBe(401);
  expect((await put({}, await service.withRole('Users'))).status).toBe(403);
  expect((await put({}, service.http, '')).status).toBe(404);
  const id = path.split('/').at(-2);
  const unknown = `/gcore${path.replace(String(id), '00000000-0000-4000-8000-000000000000')}`;
  expect((await service.http.request('PUT', unknown, { body: {} })).status).toBe(404);
  await service.pool.query(`update snapshots set status = 'deleting', task_id = gen_random_uuid() where id = $1`, [id]);
  expect((await put({})).status).toBe(409);
});

it('the task that made a snapshot is a text in every answer, as published', async () => {
  const [{ document }] = (await documentedOperations()).filter(({ prefix }) => prefix === '/gcore') as [
    DocumentedOperation,
  ];
  const { Snapshot } = document.components.schemas as Record<string, { properties: Record<string, object> }>;
  expect(Snapshot?.properties.creator_task_id).toMatchObject({ type: 'string' });
});
