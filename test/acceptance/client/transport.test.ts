import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';
import { createClient } from './client.ts';
import { queryString } from './query.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_RATE_LIMIT: '3' });
});
afterAll(() => service.stop());

it('comes through a rate limit by waiting as long as it is told to', async () => {
  const { request, token } = service.http;
  const client = createClient(request, { authorization: `APIKey ${token}` });
  for (const _ of [1, 2, 3, 4]) await client.get('/cloud/v1/regions');
  expect(client.repeated).toEqual([429]);
});

it('repeats the keys of lists, puts dots between those of objects, and leaves out what is not given', () => {
  const query = { state: ['NEW', 'RUNNING'], filter: { name: 'a b', deep: { on: true } }, limit: undefined };
  expect(queryString(query)).toBe('?state=NEW&state=RUNNING&filter.name=a+b&filter.deep.on=true');
  expect(queryString({ limit: undefined })).toBe('');
});
