import fs from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it, vi } from 'vitest';
import { accessibilityFaults, describeInBrowser, setUpBrowser } from '../support/browser.ts';
import { type HttpClient, SOON } from '../support/http-client.ts';
import { asResellerOf } from '../support/reseller.ts';
import type { Tenant } from '../support/service.ts';

const COMPANY = { company: 'Müller & Söhne', address: 'Weg 2\n20095 Hamburg', country: 'DE' };

describeInBrowser('money in the console', () => {
  let ahead = Date.UTC(2026, 2, 10) - Date.now();
  const browser = setUpBrowser({}, { now: () => new Date(Date.now() + ahead) });
  let tenant: Tenant;
  /** The administrator of the tenant's reseller. */
  let own: HttpClient;

  /** Sends what the open form says, and looks at the form and the review of it. */
  async function send(page: Page, label: string) {
    expect(await accessibilityFaults(page, '[role=dialog]')).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: label, exact: true }).click();
    const review = page.getByRole('dialog', { name: /: what it does$/ });
    await review.getByText('Tasks', { exact: true }).waitFor();
    await review.getByRole('button', { name: label, exact: true }).click();
    await page.getByRole('dialog').first().waitFor({ state: 'detached' });
  }

  async function put(http: HttpClient, path: string, body: object): Promise<void> {
    const set = await http.request('PUT', `/tradewind/v1/${path}`, { body });
    expect(set.status, set.text).toBe(200);
  }

  /** Lets the tenant have a volume from now on. */
  async function volume(type_name: string, size: number): Promise<void> {
    const body = { source: 'new-volume', name: type_name, size, type_name };
    const made = await tenant.http.post(`/cloud/v1/volumes/${tenant.projectId}/1`, body);
    expect(made.status, made.text).toBe(200);
    await tenant.http.task(made.body[0]);
  }

  async function invoiced(): Promise<void> {
    expect((await own.get('/tradewind/v1/invoices?state=open')).body.results).toHaveLength(1);
  }

  beforeAll(async () => {
    const { service } = browser;
    tenant = await service.otherTenant();
    own = await asResellerOf(service, 1);
    await put(own, 'issuer', {
      ...COMPANY,
      company: 'First Cloud GmbH',
      vat_id: 'DE123456789',
      vat_rates: [{ country: 'DE', percent: 19 }],
      reverse_charge: true,
      invoice_prefix: 'ONE',
    });
    await put(tenant.http, 'billing_profile', COMPANY);
    await volume('standard', 1_000);
    await volume('ssd_hiiops', 200);
    ahead = Date.UTC(2026, 3, 5) - Date.now();
    await vi.waitFor(invoiced, SOON);
  });

  it('shows an account its invoice, also as a file', async () => {
    const { page, open } = await browser.visit({ token: tenant.http.token });
    await open('account/invoices');
    await page.getByLabel('Month').fill('2026');
    await page.getByRole('alert').filter({ hasText: 'Months are like' }).waitFor();
    await page.getByLabel('Month').fill('2026-03');
    await page.getByLabel('State').selectOption('open');
    await vi.waitFor(() => expect(page.url()).toContain('month=2026-03&state=open'), SOON);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'ONE-2026-000001' }).click();
    await page.getByRole('heading', { level: 1, name: 'Invoice ONE-2026-000001' }).waitFor();
    await page.getByText('First Cloud GmbH').waitFor();
    const { gross } = (await tenant.http.get('/tradewind/v1/invoices')).body.results[0];
    const total = page.getByRole('row').filter({ hasText: /^Total/ });
    expect((await total.getByRole('cell').allTextContents()).at(-1)).toBe(`€${gross.toFixed(2)}`);
    expect(await page.getByRole('button', { name: 'Record a payment' }).count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    for (const [ending, beginning] of Object.entries({ pdf: '%PDF-', csv: 'line,project_id' })) {
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: `Download ${ending.toUpperCase()}` }).click();
      const file = await saved;
      expect(file.suggestedFilename()).toBe(`ONE-2026-000001.${ending}`);
      expect((await fs.readFile(await file.path(), 'latin1')).startsWith(beginning)).toBe(true);
    }
  });

  it('records what was paid and credits the rest, for who has issued the invoice', async () => {
    const { page, open } = await browser.visit({ token: own.token });
    await open(`account/invoices?client_id=${tenant.clientId}&kind=retail`);
    await page.getByRole('link', { name: 'ONE-2026-000001' }).click();
    await page.getByRole('button', { name: 'Record a payment' }).click();
    await page.getByLabel('Amount').fill('50.5');
    await page.getByLabel('Paid (UTC)').fill('2026-04-03T10:00');
    await page.getByLabel('Reference').fill('bank-7');
    await send(page, 'Record');
    await page.getByText('partly paid').waitFor();
    await page
      .getByRole('row')
      .filter({ hasText: /bank-7.*2026-04-03.*€50\.50/ })
      .waitFor();

    await page.getByRole('button', { name: 'Credit', exact: true }).click();
    await page.getByLabel('Why').fill('A region was not reachable');
    await page.getByLabel('What is credited').selectOption('lines');
    await page.getByRole('textbox', { name: /^Lines/ }).fill('2');
    await page.getByLabel('Amount of each, with VAT').fill('1.25');
    await send(page, 'Credit');
    await page
      .getByRole('row')
      .filter({ hasText: /ONE-C-2026-000001: A region.*€1\.25/ })
      .waitFor();
    await page.getByRole('button', { name: 'Credit', exact: true }).click();
    await page.getByLabel('Why').fill('Too slow');
    await page.getByLabel('What is credited').selectOption('amount');
    await page.getByLabel('Amount with VAT').fill('2');
    await send(page, 'Credit');
    await page
      .getByRole('row')
      .filter({ hasText: /ONE-C-2026-000002: Too slow/ })
      .waitFor();
    await page.getByRole('button', { name: 'Credit', exact: true }).click();
    await page.getByLabel('Why').fill('All of it');
    await send(page, 'Credit');
    const credit = page.locator('button[title="It is credited as a whole"]');
    await credit.waitFor();
    expect(await credit.isDisabled()).toBe(true);
    expect(await accessibilityFaults(page)).toEqual([]);
    const [{ credited, gross }] = (await own.get('/tradewind/v1/invoices')).body.results;
    expect(credited).toBe(gross);
  });

  it('makes a budget, shows what was spent of it, and lets it be changed and deleted', async () => {
    const { page, open } = await browser.visit({ token: tenant.http.token });
    await open('account/budgets');
    await page.getByText('No budget says what may be spent.').waitFor();
    await page.getByRole('button', { name: 'Create budget' }).click();
    await page.getByLabel('Amount a month').fill('1000');
    await page.getByLabel('Warn at').fill('90, 100');
    await send(page, 'Create');
    const row = page.getByRole('row').filter({ hasText: 'whole account' });
    await row.getByText(/^\d %$/).waitFor();
    await row.getByRole('cell', { name: '90\u00a0%, 100\u00a0%' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await row.getByRole('button', { name: 'Change' }).click();
    await page.getByLabel('Amount a month').fill('2');
    await page.getByLabel('Let nothing new be made once it is spent').check();
    await send(page, 'Change');
    await row.locator('.bad', { hasText: 'nothing new is made' }).waitFor();
    expect((await tenant.http.get('/tradewind/v1/budgets')).body.results).toMatchObject([
      { amount: 2, warn_at: [90, 100], stops_creation: true, is_spent: true },
    ]);
    expect(await accessibilityFaults(page)).toEqual([]);
    await row.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No budget says what may be spent.').waitFor();
  });

  it('shows a budget of the reseller to the account, which can’t change it', async () => {
    const manager = await browser.visit({ token: own.token });
    await manager.open('account/budgets');
    await manager.page.getByRole('button', { name: 'Create budget' }).click();
    await manager.page.getByRole('spinbutton', { name: 'Client ID' }).fill(String(tenant.clientId));
    await manager.page.getByLabel('Project ID').fill(String(tenant.projectId));
    await manager.page.getByLabel('Amount a month').fill('30');
    await send(manager.page, 'Create');
    await manager.page.getByRole('link', { name: `client ${tenant.clientId}` }).waitFor();
    const { page, open } = await browser.visit({ token: tenant.http.token });
    await open('account/budgets');
    const row = page.getByRole('row').filter({ hasText: 'Default' });
    await row.locator('button[title="Your reseller has set it"]').first().waitFor();
    expect(await row.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true);
  });

  it('has the billing profile, which the reseller confirms', async () => {
    const { page, open } = await browser.visit({ token: tenant.http.token });
    await open('account/billing');
    await page.getByText('not confirmed').waitFor();
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByLabel('VAT ID').fill('de987654321');
    await page.getByLabel('E-mail address for invoices').fill('bills@example.com');
    await send(page, 'Save');
    await page.getByText('VAT ID DE987654321').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const manager = await browser.visit({ token: own.token });
    await manager.open(`admin/clients/${tenant.clientId}?tab=billing`);
    await manager.page.getByRole('button', { name: 'Confirm for VAT' }).click();
    await manager.page.getByRole('dialog').getByRole('button', { name: 'Confirm for VAT' }).click();
    await manager.page.getByText('confirmed', { exact: true }).waitFor();
    expect((await tenant.http.get('/tradewind/v1/billing_profile')).body).toMatchObject({
      ...COMPANY,
      vat_id: 'DE987654321',
      email: 'bills@example.com',
      vat_confirmed: true,
    });
    expect(await accessibilityFaults(manager.page)).toEqual([]);
  });

  it('says who issues invoices, with the VAT of each country', async () => {
    // Nobody has set the platform's.
    browser.expectFaults(/404/);
    const { page, open } = await browser.visit();
    await open('account/billing?tab=issuer');
    await page.getByText('Nobody has set this yet.').waitFor();
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByLabel('Company').fill('Platform AG');
    await page.getByRole('textbox', { name: /^Address/ }).fill('Am Ring 1\n1010 Wien');
    await page.getByRole('textbox', { name: /^Country/ }).fill('at');
    await page.getByLabel('VAT by the country of the client').fill('at 20\nDE 19,5\nfr much');
    await page.getByLabel('Numbers of invoices begin with').fill('PLAT');
    await page.getByLabel('Reverse charge').check();
    const save = page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true });
    await save.click();
    await page.getByRole('dialog').getByRole('alert').first().waitFor();
    await page.getByLabel('VAT by the country of the client').fill('at 20\nDE 19.5 %');
    await send(page, 'Save');
    await page.getByText('AT 20 %, DE 19.5 %').waitFor();
    expect((await browser.service.http.get('/tradewind/v1/issuer')).body).toMatchObject({
      company: 'Platform AG',
      address: 'Am Ring 1\n1010 Wien',
      country: 'AT',
      vat_rates: [
        { country: 'AT', percent: 20 },
        { country: 'DE', percent: 19.5 },
      ],
      reverse_charge: true,
      invoice_prefix: 'PLAT',
    });
    await page.getByLabel('Reseller ID').fill('1');
    await page.getByText('First Cloud GmbH').waitFor();
    await page.getByRole('button', { name: 'Confirm for VAT' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Confirm for VAT' }).click();
    await page.getByText('confirmed', { exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});
