import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Request } from 'playwright-core';
import { expect, it, onTestFinished, vi } from 'vitest';
import { describeInBrowser, setUpBrowser } from '../support/browser.ts';
import { signIn } from '../support/chromium.ts';
import { SOON } from '../support/http-client.ts';

describeInBrowser('a session of the console', () => {
  const browser = setUpBrowser();

  it('is one for ten tabs: one stream of events, one refresh, and all are signed out at once', async () => {
    const first = await browser.visit();
    const listeners = async () => {
      const { text } = await browser.service.anonymous.get('/metrics');
      return Number(/^tradewind_event_listeners (\d+)/m.exec(text)?.[1]);
    };
    await vi.waitFor(async () => expect(await listeners()).toBe(1), SOON);
    const others = await Promise.all(Array.from({ length: 9 }, () => first.anotherTab()));
    for (const tab of others) await tab.open('p/1/r/1/tasks');
    expect(await listeners()).toBe(1);
    const { rows } = await browser.service.pool.query('select count(*) from login_sessions');
    expect(rows).toEqual([{ count: 1 }]);
    await first.page.getByRole('button', { name: 'Sign out' }).click();
    for (const { page } of [first, ...others])
      await page.getByRole('heading', { name: 'Sign in to Tradewind' }).waitFor();
    await vi.waitFor(async () => expect(await listeners()).toBe(0), SOON);
  });

  it('shows times by the clock of the server, not by that of the browser', async () => {
    const { http: api } = browser.service;
    const { page, open } = await browser.visit();
    onTestFinished(() => void api.post('/tradewind/v1/test/clock', { at: new Date().toISOString() }));
    expect((await api.post('/tradewind/v1/test/clock', { advance_s: 20 * 3_600 })).status).toBe(200);
    expect((await api.post('/cloud/v1/ssh_keys/1', { name: 'of-another-day' })).status).toBe(201);
    await open('p/1/r/1/ssh-keys');
    const made = page.getByRole('row').filter({ hasText: 'of-another-day' }).getByRole('time');
    expect(await made.textContent()).toMatch(/^now$|seconds? ago|^1 minute ago/);
  });

  it('is of no use to a page of another port', async () => {
    const { page } = await browser.visit();
    // Cookies know no port: the browser sends ours.
    const other = http.createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<p>'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    try {
      const stranger = await page.context().newPage();
      await stranger.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
      const answered = stranger.waitForResponse((response) => response.url().startsWith(browser.service.url));
      await stranger.evaluate(
        `void fetch('${browser.service.url}/iam/auth/console/refresh', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}' })`,
      );
      expect((await answered).status()).toBe(403);
    } finally {
      other.close();
    }
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it('lasts while the server is away, and nothing that happened meanwhile is missed', async () => {
    const { page, open } = await browser.visit();
    await open('p/1/r/1/security-groups');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.context().setOffline(true);
    browser.expectFaults(/ERR_INTERNET_DISCONNECTED|Failed to load/);
    const made = await browser.service.http.post('/cloud/v1/securitygroups/1/1', {
      security_group: { name: 'made-meanwhile' },
    });
    expect(made.status, made.text).toBe(200);
    await page.context().setOffline(false);
    await page.getByText('made-meanwhile').waitFor();
  });
});

describeInBrowser('the pages', () => {
  const browser = setUpBrowser();

  it('show what others change, without a reload', async () => {
    const { page, open } = await browser.visit();
    await open('p/1/r/1/security-groups');
    await page.getByText('Live', { exact: true }).waitFor();
    await browser.service.http.post('/cloud/v1/securitygroups/1/1', { security_group: { name: 'made-elsewhere' } });
    await page.getByText('made-elsewhere').waitFor();
  });

  it('ask every three seconds where something holds streams back, and say so', async () => {
    const { hostname, port } = new URL(browser.service.url);
    // Like a proxy that waits for the end of an answer before it passes it on.
    const proxy = http.createServer((request, response) => {
      const { method, headers, url: path } = request;
      const onward = http.request({ hostname, port, method, path, headers }, (answer) => {
        if (answer.headers['content-type']?.startsWith('text/event-stream')) return;
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      // Ended by who asked: below.
      onward.on('error', () => response.destroy());
      request.pipe(onward);
      response.on('close', () => onward.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    try {
      const { page } = await browser.visit({ address: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` });
      await page.getByText('looking every 3 seconds').waitFor({ timeout: 60_000 });
      await page.getByRole('link', { name: 'Security groups' }).click();
      await browser.service.http.post('/cloud/v1/securitygroups/1/1', { security_group: { name: 'found-by-asking' } });
      await page.getByText('found-by-asking').waitFor();
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });

  it('copy on a name without TLS, where the clipboard is closed to pages', async () => {
    const { port } = new URL(browser.service.url);
    const { page } = await browser.visit({ address: `http://console.test:${port}` });
    expect(await page.evaluate('isSecureContext')).toBe(false);
    await page.getByRole('link', { name: 'All operations' }).click();
    await page.getByRole('link', { name: 'List regions' }).first().click();
    await page.getByRole('button', { name: 'As code' }).click();
    const code = await page.locator('pre.code').first().textContent();
    await page.getByRole('button', { name: 'Copy the code' }).click();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('link', { name: 'All operations' }).first().click();
    await page.getByLabel('Search').click();
    await page.keyboard.press('Control+V');
    const pasted = await page.getByLabel('Search').inputValue();
    expect(pasted.replaceAll(/\s+/g, ' ')).toBe(code?.replaceAll(/\s+/g, ' '));
  });

  it('begin with no more than 200 KB of script and 15 KB of style', async () => {
    const { page } = await browser.visitAsStranger();
    const requests: Request[] = [];
    page.on('requestfinished', (request) => requests.push(request));
    await signIn(page, browser.service.url, browser.service.http.token ?? '');
    await page.getByRole('heading', { name: 'Quotas' }).waitFor();
    const sizes = { script: 0, stylesheet: 0 };
    for (const request of requests) {
      const type = request.resourceType();
      if (type === 'script' || type === 'stylesheet') sizes[type] += (await request.sizes()).responseBodySize;
    }
    expect(sizes.script).toBeGreaterThan(50_000);
    expect(sizes.script).toBeLessThan(200_000);
    expect(sizes.stylesheet).toBeLessThan(15_000);
  });
});
