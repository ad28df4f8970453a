import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

it.each([
  '0x1',
  '0b1',
  '1e0',
  '1.0',
  '+1',
  '01',
  '-0',
  '%201',
  '1%20',
  '1%0a',
  '%0a',
  '%D9%A1',
  '1,2',
  'null',
  'true',
])('takes %s for no id in a path, and for no number in a query', async (text) => {
  const path = await service.http.get(`/cloud/v1/projects/${text}`);
  expect(path.body.invalid_fields).toEqual({ project_id: ['Must be an integer.'] });
  const query = await service.http.get(`/cloud/v1/projects?limit=${text}`);
  // In a query "+" is a space.
  expect(query.body.invalid_fields).toEqual({ limit: ['Must be an integer.'] });
});

it.each(['-1', '9007199254740992', '1'.repeat(400)])(
  'says of the integer %s that it is out of range',
  async (id) => {
    const answer = await service.http.get(`/cloud/v1/projects/${id}`);
    expect(answer.body.invalid_fields).toEqual({
      project_id: [expect.stringMatching(/^Must be at (least|most)/)],
    });
  },
);

it.each([3, 101, 499])('answers 405 with Allow where a path parameter has %i characters', async (length) => {
  const answer = await service.http.request('PATCH', `/v1/tasks/${'x'.repeat(length)}`);
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});
