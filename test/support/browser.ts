import fs from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import type { Clock } from '../../src/lib/time.ts';
import { type Browser, hasChromium, launchChromium, type Page, signIn } from './chromium.ts';
import { borrowService, startService, type TestService } from './service.ts';

/** A name of this machine that browsers don't take for it, so that it has no secure context. */
const PLAIN_NAME = 'console.test';
const AXE = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Groups tests of pages. Without Debian's Chromium they are skipped. */
export const describeInBrowser = hasChromium() ? describe : describe.skip;

/** A page of the console, in a browser context of its own: other pages of it share its worker and its cookie. */
export interface Visit {
  page: Page;
  /** Opens an address below /console, such as `p/1/r/1/clusters`, and waits until its title is there. */
  open(path: string): Promise<void>;
  /** Another tab of the same browser. */
  anotherTab(): Promise<Visit>;
}

export interface InBrowser {
  readonly service: TestService;
  /** Signs in with this token, by default that of the platform administrator, at this address of the server. */
  visit(options?: BrowserContextOptions & { token?: string | undefined; address?: string }): Promise<Visit>;
  /** Nobody is signed in. */
  visitAsStranger(options?: BrowserContextOptions & { address?: string | undefined }): Promise<Visit>;
  /** What the pages were told not to do, or wrote to their console, and is expected here. */
  expectFaults(...texts: RegExp[]): void;
}

/**
 * Sets a real server and a real browser up for the tests of a group. With settings, the server is one of its own, which may have its own clock. After each test, no page may have complained, broken
 * the policy, or asked anything of another server.
 */
export function setUpBrowser(settings?: Record<string, string>, clock?: Clock): InBrowser {
  let service: TestService;
  let browser: Browser;
  let faults: string[] = [];
  let expected: RegExp[] = [];

  beforeAll(async () => {
    service = settings ? await startService(settings, clock && { clock }) : await borrowService();
    browser = await launchChromium(`--host-resolver-rules=MAP ${PLAIN_NAME} 127.0.0.1`);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    const left = faults.filter((fault) => !expected.some((text) => text.test(fault)));
    [faults, expected] = [[], []];
    expect(left).toEqual([]);
  });

  function watch(page: Page, address: string): void {
    page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') faults.push(`console: ${message.text()}`);
    });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(address) && !url.startsWith('blob:')) faults.push(`elsewhere: ${url}`);
    });
  }

  function visitOf(page: Page, address = service.url): Visit {
    watch(page, address);
    return {
      page,
      async open(path) {
        await page.goto(`${address}/console/${path}`);
        await page.locator('#main h1').first().waitFor();
      },
      anotherTab: async () => visitOf(await page.context().newPage(), address),
    };
  }

  async function visitAsStranger({
    address,
    ...options
  }: BrowserContextOptions & { address?: string | undefined } = {}): Promise<Visit> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    // A busy machine may do nothing for a process for many seconds.
    context.setDefaultTimeout(90_000);
    return visitOf(await context.newPage(), address);
  }

  return {
    get service() {
      return service;
    },
    expectFaults: (...texts) => void expected.push(...texts),
    visitAsStranger,
    async visit({ token, address, ...options } = {}) {
      const visit = await visitAsStranger({ ...options, address });
      await signIn(visit.page, address ?? service.url, token ?? service.http.token ?? '');
      return visit;
    },
  };
}

/** Waits until the page has painted all that it was told before. */
export const painted = (page: Page): Promise<void> =>
  page.evaluate('new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))');

interface AxeResults {
  violations: { id: string; impact: string; nodes: { target: string[]; failureSummary: string }[] }[];
}

const SCHEMES = ['dark', 'light'] as const;

/** What axe finds wrong with the page, or what this selects of it: a line for each place. In dark colours, that is contrast only. */
export async function accessibilityFaults(
  page: Page,
  within = ':root',
  schemes: readonly (typeof SCHEMES)[number][] = SCHEMES,
): Promise<string[]> {
  // By the protocol of the browser's tools: the policy of the page forbids other scripts.
  if (!(await page.evaluate('"axe" in globalThis'))) {
    const session = await page.context().newCDPSession(page);
    await session.send('Runtime.evaluate', { expression: AXE });
    await session.detach();
  }
  const faults: string[] = [];
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    await painted(page);
    // Of all that it looks at, only the contrast depends on the colours.
    const rules = colorScheme === 'dark' ? `runOnly: ['color-contrast'], ` : '';
    const { violations } = await page.evaluate<AxeResults>(
      `axe.run('${within}', { ${rules}resultTypes: ['violations'], preload: false })`,
    );
    for (const { id, nodes } of violations)
      faults.push(...nodes.map(({ target }) => `${id}, ${colorScheme}: ${target.join(' ')}`));
  }
  return faults;
}
