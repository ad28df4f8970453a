import fastify from 'fastify';
import { expect, it } from 'vitest';
import { keepRequests } from './requests.ts';

it('keeps neither what is secret nor much of what is long', async () => {
  const app = fastify();
  const seen = keepRequests(app, () => false);
  const long = { password: 'hidden', text: 'x'.repeat(100_000) };
  app.post('/echo', async ({ body }) => body);
  await app.inject({ method: 'POST', url: '/echo', payload: long });
  const [one] = seen.list();
  expect(String(one?.answer)).toMatch(/^{"password":"\*\*\*","text":"xxx.*…$/);
  expect(one?.request).toEqual(one?.answer);
  expect(JSON.stringify(one).length).toBeLessThan(40_000);
  await app.close();
});
