import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, startService, type TestService } from '../../test/support/service.ts';

describe('the console', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await borrowService();
  });
  afterAll(() => service?.stop());

  const get = (path: string, headers = {}) => fetch(service.url + path, { headers, redirect: 'manual' });

  it('is one page at all its addresses, which may load and call nothing of others', async () => {
    const page = await get('/console/');
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|https?:|data:|\*/);
    const text = await page.text();
    expect(await (await get('/console/p/1/r/1/clusters?page=2')).text()).toBe(text);
    // Neither scripts nor styles in the page itself.
    expect(text).not.toMatch(/<style|style=|<script(?![^>]*src=)| on\w+=/);
    expect((await get('/console')).headers.get('location')).toBe('/console/');
  });

  it('has files that browsers keep, named by what is in them', async () => {
    const text = await (await get('/console/')).text();
    const files = [...text.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, file]) => String(file));
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) {
      const { status, headers } = await get(file, { 'accept-encoding': 'br' });
      expect([status, headers.get('cache-control')], file).toEqual([200, 'public, max-age=31536000, immutable']);
      expect(headers.get('x-content-type-options'), file).toBe('nosniff');
    }
    expect((await get('/console/assets/main-AAAAAAAA.js')).status).toBe(404);
    expect((await get('/console/assets/..%2f..%2fsrc%2fbundle.js')).status).toBe(404);
  });
});

it('can be switched off', async () => {
  const service = await startService({ TRADEWIND_CONSOLE: 'off' });
  for (const [method, path] of [
    ['GET', '/console/'],
    ['POST', '/iam/auth/console/exchange'],
  ] as const) {
    expect((await fetch(service.url + path, { method })).status, path).toBe(404);
  }
  const { headers } = await fetch(service.url, { headers: { accept: 'text/html' }, redirect: 'manual' });
  expect(headers.get('location')).toBe('/docs');
  await service.stop();
});
