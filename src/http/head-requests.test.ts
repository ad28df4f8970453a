import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

it.each(['/cloud/v1/projects/1', '/gcore/cloud/v1/projects/1', '/cloud/v1/projects/99', '/docs', '/healthz'])(
  'answers a HEAD of %s like a GET, without the body',
  async (path) => {
    const [get, head] = [await service.http.get(path), await service.http.request('HEAD', path)];
    expect([head.status, head.text]).toEqual([get.status, '']);
    for (const name of ['content-type', 'content-length', 'etag', 'ratelimit-policy'])
      expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
  },
);

it('requires a token for a HEAD as well', async () => {
  const answer = await service.anonymous.request('HEAD', '/cloud/v1/projects/1');
  expect(answer.status).toBe(401);
});

it('answers 405 to a HEAD where nothing can be read', async () => {
  const answer = await service.http.request('HEAD', '/cloud/v1/pricing/1/1/volumes');
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
});

it('counts a HEAD as its GET', async () => {
  await service.http.request('HEAD', '/cloud/v1/projects');
  const { text } = await service.anonymous.get('/metrics');
  expect(text).toContain('_requests_total{method="GET",route="/cloud/v1/projects",status="2xx"} 1');
});
