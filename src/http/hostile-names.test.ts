import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

// Every JavaScript object knows these names, so a look-up in `{}` finds something there.
const NAMES = ['constructor', 'toString', 'hasOwnProperty', '__proto__'];

it.each(NAMES)('refuses an unknown query parameter named %s by that name', async (name) => {
  const answer = await service.http.get(`/cloud/v1/securitygroups/1/1?${name}=1`);
  expect(answer.status, answer.text).toBe(400);
  expect(Object.entries(answer.body.invalid_fields)).toEqual([[name, ['Unknown query parameter.']]]);
});

it.each(NAMES)('refuses an unknown field named %s', async (name) => {
  const answer = await service.http.request('POST', '/cloud/v1/pricing/1/1/volumes', {
    raw: `{"source":"new-volume","size":1,"${name}":1}`,
  });
  expect(answer.status, answer.text).toBe(400);
});
