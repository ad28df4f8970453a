import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_RATE_LIMIT: '30' });
});
afterAll(() => service.stop());

it('says with every answer where the token stands', async () => {
  const tenant = await service.otherTenant();
  const first = await tenant.http.get('/cloud/v1/regions');
  expect(first.headers.get('ratelimit-policy')).toBe('"token";q=30;w=10');
  const left = (headers: Headers) => Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
  const second = await tenant.http.get('/cloud/v1/regions');
  expect(left(second.headers)).toBe(left(first.headers) - 1);
});

it('refuses the requests of a token that are too many, and only those', async () => {
  const tenant = await service.otherTenant();
  const answers = [];
  for (let n = 0; n < 35; n++) answers.push(await tenant.http.get('/cloud/v1/regions'));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThanOrEqual(5);
  const [one] = refused;
  expect(one?.body).toMatchObject({ exception_class: 'TooManyRequestsError' });
  expect(Number(one?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(one?.headers.get('ratelimit')).toMatch(/^"token";r=0;t=\d+$/);

  const write = await tenant.http.post('/cloud/v1/projects', { name: 'one too many' });
  expect(write.status).toBe(429);
  const other = await service.otherTenant();
  expect((await other.http.get('/cloud/v1/regions')).status).toBe(200);
});

it('does not count the polling of tasks', async () => {
  const tenant = await service.otherTenant();
  const disk = { name: 'disk', size: 1, source: 'new-volume' };
  const made = await tenant.http.post(`/cloud/v1/volumes/${tenant.projectId}/1`, disk);
  const polls = await Promise.all(
    Array.from({ length: 60 }, () => tenant.http.get(`/v1/tasks/${made.body[0]}`)),
  );
  expect(polls.map(({ status }) => status)).toEqual(Array(60).fill(200));
  expect(polls[0]?.headers.get('ratelimit')).toBeNull();
});
