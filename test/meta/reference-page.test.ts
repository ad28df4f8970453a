import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

it.each(['/docs', '/gcore/docs'])('is a page at %s whose parts all come from here', async (url) => {
  const page = await service.anonymous.get(url);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
  const links = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link]) => String(link));
  expect(links.length).toBeGreaterThan(4);
  for (const link of links) {
    expect(link).toMatch(/^(\/gcore)?\/(docs\/|openapi\.json)/);
    const part = await service.anonymous.get(link);
    expect([link, part.status]).toEqual([link, 200]);
    expect(part.text.length).toBeGreaterThan(100);
  }
});

it('offers the documents of both base addresses, and asks no stranger to check them', async () => {
  const { text } = await service.anonymous.get('/docs/reference.js');
  const urls = [...text.matchAll(/"url":"([^"]*)"/g)].map(([, url]) => String(url));
  expect(urls).toEqual(['/openapi.json', '/gcore/openapi.json']);
  for (const url of urls) expect((await service.anonymous.get(url)).body.openapi).toBe('3.1.0');
  expect(text).toContain('validatorUrl: null');
});

it('shows the document of its own base address first', async () => {
  const shownFirst = async (url: string) =>
    (await service.anonymous.get(url)).text.match(/'urls.primaryName': "(.*?)"/)?.[1];
  expect(await shownFirst('/docs/reference.js')).toBe('Base address /');
  expect(await shownFirst('/gcore/docs/reference.js')).toContain('Base address /gcore');
});

it('is where the base addresses themselves lead', async () => {
  const target = async (url: string, headers = {}) =>
    (await fetch(service.url + url, { redirect: 'manual', headers })).headers.get('location');
  for (const url of ['/', '/docs/']) expect(await target(url)).toBe('/docs');
  for (const url of ['/gcore', '/gcore/', '/gcore/docs/']) expect(await target(url)).toBe('/gcore/docs');
  expect(await target('/', { accept: 'text/html,*/*;q=0.8' })).toBe('/console/');
});

it('has styles that load no fonts or pictures from elsewhere', async () => {
  const { text } = await service.anonymous.get('/docs/swagger-ui.css');
  const targets = [...text.matchAll(/url\(["']?([^)"']{0,40})/g)].map(([, target]) => String(target));
  expect(targets.filter((target) => !target.startsWith('data:'))).toEqual([]);
  expect(text).not.toContain('@import');
});

it('serves its own files and no other', async () => {
  for (const name of ['package.json', '..%2fpackage.json', 'index.html', 'constructor']) {
    expect((await service.anonymous.get(`/docs/${name}`)).status).toBe(404);
  }
});
