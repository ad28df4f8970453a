import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const GROUPS = '/cloud/v1/securitygroups/1/1';
const PRICE = '/cloud/v1/pricing/1/1/volumes';

it.each<[string, 'GET' | 'POST', string, object | undefined, object]>([
  [
    'a slip in a query',
    'GET',
    `${GROUPS}?limt=1`,
    undefined,
    { limt: ['Unknown query parameter. Did you mean limit?'] },
  ],
  ['no name like it', 'GET', `${GROUPS}?colour=1`, undefined, { colour: ['Unknown query parameter.'] }],
  ['a query without any', 'GET', `${GROUPS}/x?limit=1`, undefined, { limit: ['Unknown query parameter.'] }],
  ['a number twice', 'GET', `${GROUPS}?limit=1&limit=2`, undefined, { limit: ['Give it once.'] }],
  [
    'a bad boolean',
    'GET',
    '/cloud/v1/regions?show_volume_types=yes',
    undefined,
    { show_volume_types: ['Must be true or false.'] },
  ],
  [
    'a slip in a body',
    'POST',
    PRICE,
    { source: 'new-volume', size: 1, type_nmae: 'standard' },
    { type_nmae: ['Unknown field. Did you mean type_name?'] },
  ],
  ['no body', 'POST', GROUPS, undefined, { body: ['Must not be empty; send a JSON object.'] }],
])('says of %s what to send instead', async (_, method, path, body, fields) => {
  const answer = await service.http.request(method, path, body === undefined ? {} : { body });
  expect(answer.status, answer.text).toBe(400);
  expect(answer.body.invalid_fields).toEqual(fields);
});

it('tells the faults of several fields apart in one message', async () => {
  const answer = await service.http.get(`${GROUPS}?limit=0&offset=-1`);
  expect(answer.body.message).toMatch(/^Validation error: limit: .*[^.]; offset: .*\.$/);
});
