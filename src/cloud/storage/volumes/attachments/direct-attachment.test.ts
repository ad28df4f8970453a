import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPossessions } from '../../../../../test/support/possessions.ts';
import { borrowService, type TestService } from '../../../../../test/support/service.ts';

const V1 = '/cloud/v1/volumes/1/1';

let service: TestService;
let instance_id: string;
let id: string;
beforeAll(async () => {
  service = await borrowService();
  const possessions = createPossessions(service.http);
  await possessions.make('instance_id', 'volume_id');
  instance_id = String(possessions.values.instance_id);
  id = String(possessions.values.volume_id);
});
afterAll(() => service.stop());

it('attaches and detaches, and answers the volume when that is done', async () => {
  const attached = await service.http.post(`${V1}/${id}/attach`, { instance_id, attachment_tag: 'data' });
  expect(attached.status, attached.text).toBe(200);
  expect(attached.body).toMatchObject({
    id,
    status: 'in-use',
    task_id: null,
    attachments: [{ server_id: instance_id, attached_at: expect.any(String) }],
  });
  expect((await service.http.post(`${V1}/${id}/attach`, { instance_id })).status).toBe(409);
  const detached = await service.http.post(`${V1}/${id}/detach`, { instance_id });
  expect(detached.status, detached.text).toBe(200);
  expect(detached.body).toMatchObject({ id, status: 'available', task_id: null, attachments: [] });
  const again = await service.http.post(`${V1}/${id}/detach`, { instance_id });
  expect([again.status, Object.keys(again.body.invalid_fields)]).toEqual([400, ['instance_id']]);
  const { body } = await service.http.get('/cloud/v1/tasks?task_type=detach_volume');
  expect(body.results[0]).toMatchObject({ state: 'FINISHED', data: { volume_id: id } });
});

it('refuses what is unknown, and everyone else', async () => {
  const { http } = await service.otherTenant();
  const user = await service.withRole('Users');
  for (const verb of ['attach', 'detach']) {
    const url = `${V1}/${id}/${verb}`;
    expect((await service.http.post(`${V1}/${randomUUID()}/${verb}`, { instance_id })).status).toBe(404);
    const unknown = await service.http.post(url, { instance_id: randomUUID() });
    expect([unknown.status, Object.keys(unknown.body.invalid_fields)]).toEqual([400, ['instance_id']]);
    expect((await http.post(url, { instance_id })).status).toBe(404);
    expect((await user.post(url, { instance_id })).status).toBe(403);
    expect((await service.anonymous.post(url, { instance_id })).status).toBe(401);
  }
});
