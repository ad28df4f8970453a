import { afterAll, beforeAll, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service?.stop());

it.each(['Administrators', 'Engineers', 'Users'])('names for %s exactly what requests are refused', async (role) => {
  const http = await service.withRole(role);
  const { body } = await http.get('/tradewind/v1/permissions?project_id=1');
  const refused = new Map(
    body.refused.map((one: { operation: string; reason: string }) => [one.operation, one.reason]),
  );
  // Nothing has to exist: rights come first.
  for (const [operation, method, path] of [
    ['listVolumes', 'GET', '/cloud/v1/volumes/1/1'],
    ['deleteVolume', 'DELETE', '/cloud/v1/volumes/1/1/7c1a4a04-6b69-4d7b-8f0b-2f6fd2c0a0f1'],
    ['createApiToken', 'POST', '/iam/v2/clients/1/tokens'],
    ['createReseller', 'POST', '/tradewind/v1/resellers'],
    ['deleteProject', 'DELETE', '/cloud/v1/projects/999'],
  ] as const) {
    const answer = await http.request(method, path, { body: method === 'POST' ? {} : undefined });
    expect(answer.status === 403, `${operation}: ${answer.text}`).toBe(refused.has(operation));
    if (answer.status === 403) expect(answer.text).toContain(refused.get(operation));
  }
});

it('refuses nothing to the platform administrator', async () => {
  expect((await service.http.get('/tradewind/v1/permissions')).body).toEqual({ in_person: false, refused: [] });
});
