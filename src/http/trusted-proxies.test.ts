import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../../test/support/service.ts';
import { loadConfig } from '../config.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_TRUST_PROXY: '127.0.0.0/8, 198.51.100.7' });
});
afterAll(() => service?.stop());

/** Returns the address from which a change seems to come. */
async function source(forwarded: string): Promise<string> {
  const made = await service.http.request('POST', '/cloud/v1/projects', {
    headers: { 'x-forwarded-for': forwarded },
    body: { name: 'any' },
  });
  const { body } = await service.http.get(`/cloud/v1/request_log?request_id=${made.headers.get('x-request-id')}`);
  return body.results[0].source_user_ip;
}

it('say where a request comes from, and a client in front of them does not', async () => {
  expect(await source('192.0.2.1')).toBe('192.0.2.1');
  expect(await source('203.0.113.1, 192.0.2.2, 198.51.100.7')).toBe('192.0.2.2');
});

it.each(['yes', '10.0.0.0/99', '10.0.0.1;10.0.0.2', 'proxy.example.com', '10.1/8'])('are not %s', (text) => {
  expect(() => loadConfig({ TRADEWIND_TRUST_PROXY: text })).toThrow(/TRADEWIND_TRUST_PROXY is not usable/);
});
