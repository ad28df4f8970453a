import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

it.each([
  '/cloud/v1/projects?limit=0',
  '/streaming/ai/tasks?limit=0',
  '/iam/users/0?no=1',
  '/gcore/cloud/v1/projects?limit=0',
])('answers %s in the form of RFC 9457 where that is asked for', async (path) => {
  const answer = await service.http.request('GET', path, {
    headers: { accept: 'application/json, application/problem+json' },
  });
  expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(answer.body).toMatchObject({
    type: 'about:blank',
    status: answer.status,
    detail: expect.any(String),
    request_id: answer.headers.get('x-request-id'),
  });
});

it('names the fields of a request that can not be taken', async () => {
  const answer = await service.http.request('GET', '/cloud/v1/projects?limit=0&colour=red', {
    headers: { accept: 'application/problem+json' },
  });
  expect(answer.body).toMatchObject({
    title: 'Bad Request',
    code: 'invalid',
    errors: expect.arrayContaining([
      { field: 'limit', detail: 'Must be at least 1.' },
      { field: 'colour', detail: 'Unknown query parameter.' },
    ]),
  });
});

it('keeps the body of the area for everybody else', async () => {
  const answer = await service.http.get('/cloud/v1/projects?limit=0');
  expect(answer.headers.get('content-type')).toContain('application/json');
  expect(answer.body.exception_class).toBe('ValidationError');
});
