import type { Pool } from 'pg';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, it, vi } from 'vitest';
import { activateAiFeatures, createAiTask } from '../support/ai-tasks.ts';
import { accessibilityFaults, describeInBrowser, painted, setUpBrowser } from '../support/browser.ts';
import { finishAiTask } from '../support/finished-ai-tasks.ts';
import { furnish } from '../support/furnishing.ts';
import { createHttpClient, type HttpClient, SOON } from '../support/http-client.ts';
import { anyEmail, comes, logIn } from '../support/logins.ts';
import { type DocumentedOperation, documentedOperations, exampleBody, filledPath } from '../support/openapi.ts';
import { createPossessions } from '../support/possessions.ts';

/** What is said to those who have no right, and not because nothing is chosen or the like. */
const REFUSAL = /^(This operation needs|Only the platform administrator|You have rights in single|The role) /;
const MINUTE = 60_000;
/** In pixels: a desk, a tablet, and a phone, which is also a desk at a zoom of 300 %. */
const [DESK, TABLET, PHONE] = [1280, 768, 400];
/** Nothing but a failed test of the browser itself would need more. */
const MOST_TAB_STOPS = 1_000;
/** Buttons that save or show something at once, or lead elsewhere. */
const AT_ONCE = /Export as|Download|Fetch the file|See what would be deleted|Connect$|Act for/;
const FOCUSABLE =
  'a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary, [tabindex="0"]:not(:disabled)';

describeInBrowser('every page', () => {
  const browser = setUpBrowser();
  /** Of each route and tab, the address of one page. */
  let addresses: string[];
  /** Somebody with fewer rights than all who look at their page. */
  let other: number;

  beforeAll(async () => {
    const { http, pool } = browser.service;
    await furnish(http, 1);
    await createPossessions(http).make('delivery_id', 'price_list_id', 'provider_id', 'quota_list_id');
    other = await comes({ http, clientId: 1 }, anyEmail(), { name: 'Users' });
    await moneyOf(http, pool);
    await activateAiFeatures(http, 1);
    const task = await createAiTask(http, { url: 'https://example.com/film.mp4', task_name: 'transcription' });
    const phrase = { start_time: '00:00:00.250', end_time: '00:00:01.000', text: 'good morning' };
    await finishAiTask(pool, task, { subtitles: [phrase] });
    const { page } = await browser.visit();
    addresses = (await crawl(page)).map((address) => address.replace(/(?<=users\/)\d+/, String(other)));
    await page.context().close();
  }, 5 * MINUTE);

  it('is reached by links from the first one', async () => {
    const { page } = await browser.visit();
    const routes = await page.evaluate<string[]>('Object.keys(__TSR_ROUTER__.routesById)');
    const reached = new Set(await Promise.all(addresses.map((address) => routeOf(page, address))));
    const groups = ['__root__', '/', '/p/$project/r/$region'];
    expect(routes.filter((route) => !reached.has(route) && !groups.includes(route))).toEqual([]);
    expect(addresses.length).toBeGreaterThan(60);
  });

  it('has no fault that axe finds, and doesn’t scroll sideways', { timeout: 15 * MINUTE }, async () => {
    const { page } = await browser.visit({ reducedMotion: 'reduce' });
    const faults: string[] = [];
    for (const address of addresses) {
      // What is folded on a phone is opened there.
      await page.setViewportSize({ width: PHONE, height: 800 });
      await show(page, address);
      for (const width of [PHONE, TABLET, DESK]) {
        await page.setViewportSize({ width, height: 800 });
        await painted(page);
        // A tablet has the frame of a phone, and forms as a desk has them.
        const found = [...(await tooWide(page)), ...(width === TABLET ? [] : await faultsAt(page, width))];
        faults.push(...found.map((fault) => `${address} at ${width}: ${fault}`));
      }
    }
    expect(faults).toEqual([]);
  });

  it('can be used with the keyboard alone, and shows where the focus is', { timeout: 15 * MINUTE }, async () => {
    const { page } = await browser.visit({ reducedMotion: 'reduce' });
    const faults: string[] = [];
    for (const address of addresses) {
      await show(page, address);
      faults.push(...(await unreached(page)).map((fault) => `${address}: ${fault}`));
    }
    expect(faults).toEqual([]);
  });

  it('has popups without faults, which give the focus back', { timeout: 15 * MINUTE }, async () => {
    const { page } = await browser.visit({ reducedMotion: 'reduce' });
    const faults: string[] = [];
    const seen = new Set<string>();
    for (const address of addresses) {
      await show(page, address);
      const route = await routeOf(page, address);
      const openers = page.locator('#main').locator('[aria-haspopup=dialog]:enabled, [data-operation]:enabled');
      for (let at = 0; at < (await openers.count()); at += 1) {
        const opener = openers.nth(at);
        const name = `${route} ${await opener.textContent()}`;
        if (seen.has(name) || AT_ONCE.test(name)) continue;
        seen.add(name);
        faults.push(...(await faultsOfPopup(page, opener)).map((fault) => `${name}: ${fault}`));
      }
    }
    expect(faults).toEqual([]);
    expect(seen.size).toBeGreaterThan(100);
    expect([...seen]).toContain('/p/$project/r/$region/reserved-ips Reserve');
  });

  it.each(['Administrators', 'Engineers', 'Users', 'Observer of one project'])(
    'has each button disabled exactly if the API refuses its operation: %s',
    { timeout: 15 * MINUTE },
    async (role) => {
      const { http } = browser.service;
      const { caller, userId } = await somebody(http, role);
      // What they may not read is said on the page.
      browser.expectFaults(/403/);
      const { page } = await browser.visit({ token: caller.token });
      const buttons: Button[] = [];
      for (const address of addresses) {
        await show(page, address);
        buttons.push(...(await buttonsOn(page)).map((button) => ({ ...button, address })));
      }
      const refusals = new Map<string, string | undefined>();
      for (const of of await documentedOperations()) {
        const { operationId } = of.operation;
        if (of.prefix === '' && buttons.some(({ operation }) => operation === operationId))
          refusals.set(operationId, await refusalOf(caller, of, operationId === 'changePassword' ? userId : other));
      }
      expect(buttons.filter(({ operation }) => !refusals.has(operation))).toEqual([]);
      const wrong = buttons
        .map((button) => ({ ...button, refused: refusals.get(button.operation) }))
        .filter(({ why, refused }) => (REFUSAL.test(why) ? why : undefined) !== refused);
      expect(wrong).toEqual([]);
      expect(refusals.size).toBeGreaterThan(50);
    },
  );
});

/** Who pays and who issues, a budget, and an invoice, which would take a month. */
async function moneyOf(http: HttpClient, pool: Pool): Promise<void> {
  const company = { company: 'Example GmbH', address: 'Hauptstraße 1\n10115 Berlin', country: 'DE' };
  const issuer = { ...company, vat_rates: [], reverse_charge: true, invoice_prefix: 'INV' };
  for (const [path, body] of Object.entries({ billing_profile: company, issuer })) {
    const set = await http.request('PUT', `/tradewind/v1/${path}`, { body });
    expect(set.status, set.text).toBe(200);
  }
  const budget = await http.post('/tradewind/v1/budgets', { amount: 100 });
  expect(budget.status, budget.text).toBe(201);
  await pool.query(
    `with made as (
      insert into invoices (kind, issuer_id, reseller_id, client_id, month, currency, state, number, issuer, customer, taxes, net, vat, gross, created_at, finalized_at)
      values ('retail', 1, 1, 1, '2026-03', 'EUR', 'open', 'INV-2026-000001', $1, $1,
        '[{"tax_percent": "19", "reverse_charge": false, "net": "100", "vat": "19", "gross": "119"}]', 100, 19, 119, now(), now())
      returning id)
    insert into invoice_lines (invoice_id, line, project, project_name, region_id, type, sku, tax_percent, reverse_charge, quantity, exact, amount)
    select id, 1, 1, 'Default', 1, 'volume', 'standard', 19, false, 3600, 119, 119 from made`,
    [company],
  );
}

/** A member of the account who has that role, or may only look at the first project. */
async function somebody(http: HttpClient, role: string): Promise<{ caller: HttpClient; userId: number }> {
  const isObserver = role === 'Observer of one project';
  const group = { name: isObserver ? 'Users' : role };
  const email = anyEmail();
  const userId = await comes({ http, clientId: 1 }, email, group);
  if (isObserver) {
    const assignment = { user_id: userId, client_id: 1, project_id: 1, role: 'Observer' };
    const assigned = await http.post('/cloud/v1/users/assignments', assignment);
    expect(assigned.status, assigned.text).toBe(200);
  }
  const { access } = await logIn(http, email);
  const made = await createHttpClient(http.base, access, 'Bearer').post('/iam/v2/clients/1/tokens', {
    name: 'walks',
    exp_date: null,
    client_user: { role: group },
  });
  expect(made.status, made.text).toBe(200);
  return { caller: createHttpClient(http.base, made.body.token), userId };
}

interface Button {
  address?: string;
  operation: string;
  /** Why it does nothing; empty if it does. */
  why: string;
}

const buttonsOn = (page: Page): Promise<Button[]> =>
  page.evaluate<Button[]>(
    `[...document.querySelectorAll('#main [data-operation]')].map(({ dataset: { operation }, disabled, title }) => ({ operation, why: disabled ? title : '' }))`,
  );

/** Why the API refuses an operation on that user to a caller, as far as that is about rights; it is asked by a dry run. */
async function refusalOf(http: HttpClient, of: DocumentedOperation, userId: number): Promise<string | undefined> {
  const known = { clientId: 1, client_id: 1, resellerId: 1, userId, project_id: 1, region_id: 1 };
  const { status, body } = await http.request(of.method, filledPath(of, known), {
    ...(of.method !== 'GET' && of.method !== 'DELETE' && { body: exampleBody(of) ?? {} }),
    headers: { 'tradewind-dry-run': 'true', accept: 'application/problem+json' },
  });
  return status === 403 ? body.detail : undefined;
}

/** Goes where links lead, from the first page on, to one page of each route and tab. */
async function crawl(page: Page): Promise<string[]> {
  const found = new Map<string, string>();
  const queue = ['/console/p/1/r/1'];
  for (let address = queue.shift(); address; address = queue.shift()) {
    const tab = new URL(address, 'http://any').searchParams.get('tab') ?? '';
    const key = `${await routeOf(page, address)} ${tab}`;
    // The first address leads to the overview.
    if (found.has(key) || address === '/console/') continue;
    found.set(key, address);
    await show(page, address);
    queue.push(
      ...(await page.evaluate<string[]>(
        `[...document.querySelectorAll('a[href^="/console/"]')].map((link) => link.getAttribute('href'))`,
      )),
    );
  }
  return [...found.values()];
}

const routeOf = (page: Page, address: string): Promise<string> =>
  page.evaluate<string>(
    `__TSR_ROUTER__.getMatchedRoutes(${JSON.stringify(address.replace(/^\/console|\?.*$/g, ''))})[2]?.id`,
  );

/** Opens a page without loading all of them again, and all that is folded there, and waits until it has read what it shows. */
async function show(page: Page, address: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(address)})`);
  await vi.waitFor(async () => {
    expect(await page.evaluate('__TSR_ROUTER__.state.resolvedLocation?.publicHref')).toBe(address);
  }, SOON);
  await settled(page);
  await page.evaluate(`for (const one of document.querySelectorAll('#main details')) one.open = true`);
  await painted(page);
  await settled(page);
}

const settled = (page: Page): Promise<void> =>
  vi.waitFor(async () => {
    expect(await page.evaluate('__TSR_ROUTER__.state.status')).toBe('idle');
    const main = page.locator('#main');
    expect(await main.locator('h1').count()).toBe(1);
    expect(await main.getByText('Reading …', { exact: true }).count()).toBe(0);
    expect(await main.getByTitle('Reading what you may do …').count()).toBe(0);
  }, SOON);

/** What makes the whole page scroll sideways. */
const tooWide = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`document.documentElement.scrollWidth <= innerWidth ? [] :
    [...document.querySelectorAll('#main *')]
      .filter((one) => one.getBoundingClientRect().right > innerWidth && !one.closest('.scroll'))
      .map((one) => 'too wide: ' + one.outerHTML.slice(0, 150))`);

/** What the Tab key doesn't come to, and what doesn't show that it has the focus. */
async function unreached(page: Page): Promise<string[]> {
  await page.evaluate(`{
    document.activeElement?.blur();
    const all = [...document.querySelectorAll(${JSON.stringify(FOCUSABLE)})];
    globalThis.toReach = new Set(all.filter((one) =>
      one.checkVisibility({ visibilityProperty: true }) && one.tabIndex >= 0 && !(one.type === 'radio' && !one.checked)));
    globalThis.unseen = [];
  }`);
  const nameOf = `(one) => one.outerHTML.slice(0, 150)`;
  let rounds = 0;
  for (let at = 0; at < MOST_TAB_STOPS && rounds < 2; at += 1) {
    await page.keyboard.press('Tab');
    const { left, isOver } = await page.evaluate<{ left: number; isOver: boolean }>(`{
      const one = document.activeElement;
      const isOver = one === document.body;
      // A field for a date has parts, which show by themselves that they have it.
      const shows = (it) => getComputedStyle(it).outlineStyle !== 'none' || it.type?.startsWith('date');
      if (!isOver && !shows(one)) unseen.push((${nameOf})(one));
      toReach.delete(one);
      ({ left: toReach.size, isOver });
    }`);
    if (left === 0) break;
    if (isOver) rounds += 1;
  }
  return page.evaluate<string[]>(
    `[...[...toReach].map((one) => 'not reached: ' + (${nameOf})(one)), ...unseen.map((one) => 'no focus seen: ' + one)]`,
  );
}

async function faultsOfPopup(page: Page, opener: Locator, depth = 0): Promise<string[]> {
  await opener.focus();
  await page.keyboard.press('Enter');
  const popup = page.locator('[role=dialog]').nth(depth);
  // A form that isn't complete leads to what is missing.
  const asks = page.locator(':focus:invalid');
  const opens = async () => (await popup.count()) + (await asks.count()) > 0;
  if (!(await vi.waitUntil(opens, { timeout: 20_000, interval: 20 }).catch(() => false))) return ['opens nothing'];
  await vi.waitFor(async () => expect(await popup.getByText(/…$/).count()).toBe(0), SOON);
  // So does one that the server refuses.
  await painted(page);
  if ((await popup.count()) === 0) {
    const isSomewhere = (await page.locator('#main :focus, [role=dialog] :focus').count()) === 1;
    return isSomewhere ? [] : ['the focus is nowhere'];
  }
  const faults: string[] = [];
  for (const width of [PHONE, DESK]) {
    await page.setViewportSize({ width, height: 800 });
    faults.push(...(await faultsAt(page, width, '[role=dialog]')).map((fault) => `at ${width}: ${fault}`));
  }
  const review = popup.locator('[aria-haspopup=dialog][data-operation]:enabled');
  for (let at = 0; at < (await review.count()); at += 1) {
    faults.push(...(await faultsOfPopup(page, review.nth(at), depth + 1)).map((fault) => `its review: ${fault}`));
  }
  await page.keyboard.press('Escape');
  await popup.waitFor({ state: 'detached' });
  const hasFocus = async () => (await opener.and(page.locator(':focus')).count()) === 1;
  const back = await vi.waitUntil(hasFocus, { timeout: 20_000, interval: 20 }).catch(() => false);
  return back ? faults : [...faults, 'the focus is elsewhere'];
}

/** What axe finds at that width. Colours don't depend on it, so that dark ones are tried on a desk only. */
async function faultsAt(page: Page, width: number, within?: string): Promise<string[]> {
  const find = () => accessibilityFaults(page, within, width === PHONE ? ['light'] : undefined);
  let faults = await find();
  // While colours change, or what was greyed is shown again, the contrast is too low for a moment.
  for (let again = 0; again < 5 && faults.length > 0; again += 1) {
    await page.waitForTimeout(1_000);
    faults = await find();
  }
  return faults;
}
