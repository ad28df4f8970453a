import { expect, it } from 'vitest';
import { BOOT_VOLUME } from '../support/boot-volume.ts';
import { accessibilityFaults, describeInBrowser, setUpBrowser } from '../support/browser.ts';
import { createHttpClient, type HttpClient, SOON } from '../support/http-client.ts';
import { addReseller } from '../support/reseller.ts';
import type { Tenant } from '../support/service.ts';

const FAULTS = '/tradewind/v1/test/faults';
const BROKEN = 'the rack has no power';
const REASON = 'New switches, until 14:00 UTC';

describeInBrowser('the pages for operators', () => {
  const browser = setUpBrowser();

  /** A client of the reseller of that token. */
  async function clientOf(http: HttpClient, company: string): Promise<Tenant> {
    const { service } = browser;
    const made = await http.post('/iam/clients/create', { company });
    expect(made.status, made.text).toBe(201);
    const token = await service.http.post(`/iam/v2/clients/${made.body.id}/tokens`, {
      name: 'test',
      exp_date: null,
      client_user: { role: { name: 'Administrators' } },
    });
    const own = createHttpClient(service.url, token.body.token);
    const projects = await own.get('/cloud/v1/projects');
    return { clientId: made.body.id, projectId: projects.body.results[0].id, http: own };
  }

  /** Makes something, and returns the task once it has ended. */
  async function make({ http, projectId }: Tenant, what: string, body: object) {
    const made = await http.post(`/cloud/${what}/${projectId}/1`, body);
    expect(made.status, made.text).toBe(200);
    return await http.task(made.body.tasks?.[0] ?? made.body[0]);
  }

  async function failing<T>(fault: object, work: () => Promise<T>): Promise<T> {
    const { http } = browser.service;
    await http.post(FAULTS, { ...fault, do: { fail: BROKEN } });
    const done = await work();
    await http.delete(FAULTS);
    return done;
  }

  const volume = (tenant: Tenant, name: string) => make(tenant, 'v1/volumes', { source: 'new-volume', name, size: 1 });
  const failedVolume = (tenant: Tenant, name: string) =>
    failing({ task: 'create_volume', name }, async () => {
      const task = await volume(tenant, name);
      expect(task.state).toBe('ERROR');
      return task;
    });

  it('lead from an address to the task that failed, and to its page in the account of the client', async () => {
    const tenant = await clientOf(browser.service.http, 'Calling Ltd');
    const { projectId, http } = tenant;
    const { created_resources } = await make(tenant, 'v2/instances', {
      name: 'shop',
      flavor: 'g1-standard-2-8',
      volumes: [BOOT_VOLUME],
      interfaces: [{ type: 'external' }],
    });
    const shop = `/cloud/v1/instances/${projectId}/1/${created_resources.instances[0]}`;
    const [[{ addr }]] = Object.values((await http.get(shop)).body.addresses) as [[{ addr: string }]];
    const task = await failing({ task: 'stop_vm' }, async () => {
      const { body } = await http.post(`/cloud/v2${shop.slice('/cloud/v1'.length)}/action`, { action: 'stop' });
      return await http.task(body[0]);
    });
    expect(task).toMatchObject({ state: 'ERROR', error: expect.stringContaining(BROKEN) });

    const { page } = await browser.visit();
    await page.getByRole('link', { name: 'Look up' }).click();
    await page.getByText('An ID of anything').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('searchbox', { name: 'What somebody calls about' }).fill(addr);
    const resources = page.getByRole('region', { name: 'Resources' });
    await resources.getByRole('row').filter({ hasText: 'shop' }).waitFor();
    await page.getByRole('region', { name: 'Who had the address' }).getByText('now').waitFor();
    const tasks = page.getByRole('region', { name: 'Tasks about it' });
    const failed = tasks.getByRole('row').filter({ hasText: BROKEN });
    expect(await failed.textContent()).toMatch(/stop vm.*ERROR/);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(new URL(page.url()).searchParams.get('q')).toBe(addr);

    await failed.getByRole('button', { name: `Open as account ${tenant.clientId}` }).click();
    await page.getByText('You act for Calling Ltd.').waitFor();
    await page.getByRole('heading', { name: /^stop vm/, level: 1 }).waitFor();
    await page.getByRole('alert').getByText(BROKEN).waitFor();
    await page.getByRole('button', { name: 'Back to your own account' }).click();
    await page.getByRole('heading', { name: 'Calling Ltd', level: 1 }).waitFor();
  });

  it('find accounts, users, requests, tasks, and what never came to be', async () => {
    const { http } = browser.service;
    const tenant = await clientOf(http, 'Northern Lights');
    const { id, request_id } = await failedVolume(tenant, 'never-came');
    const { page, open } = await browser.visit();
    const rowIn = (region: string, text: string | RegExp) =>
      page.getByRole('region', { name: region, exact: true }).getByRole('row').filter({ hasText: text });
    await open('admin/find?q=northern');
    await rowIn('Accounts', 'Northern Lights').getByRole('link', { name: 'Its tasks' }).waitFor();
    await rowIn('What else failed last in its account', BROKEN).waitFor();
    await open('admin/find?q=never');
    await rowIn('Gone, or never came to be', /never-came.*createVolume/).waitFor();
    await rowIn('Tasks about it', BROKEN).waitFor();
    await open(`admin/find?q=${id}`);
    await rowIn('Tasks about it', BROKEN).waitFor();
    await open(`admin/find?q=${request_id}`);
    await rowIn('Tasks about it', BROKEN).waitFor();
    await rowIn('Requests', 'accepted').getByRole('link', { name: 'createVolume, answered 200' }).click();
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
    await page.getByRole('cell', { name: /createVolume/ }).waitFor();
    expect(new URL(page.url()).searchParams.get('request_id')).toBe(request_id);
    // What is one’s own opens at once.
    const own = await http.post('/cloud/v1/volumes/1/1', { source: 'new-volume', name: 'own-one', size: 1 });
    await http.task(own.body[0]);
    await open('admin/find?q=own-o');
    await rowIn('Resources', 'volume').getByRole('link', { name: 'own-one' }).click();
    await page.getByRole('heading', { name: 'own-one', level: 1 }).waitFor();
    await open('admin/find?q=nothing-of-that-name');
    await page.getByText('Nothing was found in the accounts that you manage.').waitFor();
  });

  it('list tasks and resources of all accounts by filters in the address, page by page', async () => {
    const { http } = browser.service;
    const [one, other] = [await clientOf(http, 'One'), await clientOf(http, 'Other')];
    await failedVolume(one, 'wanted-one');
    await failedVolume(other, 'wanted-other');
    await volume(one, 'fine');
    const { page, open } = await browser.visit();
    await open('admin/find?tab=tasks');
    const rows = page.getByRole('table').getByRole('row').filter({ hasText: 'create volume' });
    await rows.first().waitFor();
    await page.getByRole('searchbox', { name: 'Error has' }).fill('POWER');
    await expect.poll(() => rows.filter({ hasText: BROKEN }).count(), SOON).toBeGreaterThan(1);
    await page.getByText('FINISHED', { exact: true }).and(page.locator('td *')).first().waitFor({ state: 'detached' });
    await page.getByRole('searchbox', { name: 'Account ID' }).fill(String(one.clientId));
    await expect.poll(() => rows.count(), SOON).toBe(1);
    await page.getByLabel('From (UTC)').fill('2020-01-01T14:05');
    await page.waitForURL(/from=2020-01-01T14%3A05/);
    const { searchParams } = new URL(page.url());
    expect(Object.fromEntries(searchParams)).toEqual({
      tab: 'tasks',
      error: 'POWER',
      client_id: String(one.clientId),
      from: '2020-01-01T14:05',
    });
    await page.reload();
    await expect.poll(() => rows.count(), SOON).toBe(1);
    await page.getByLabel('Before (UTC)').fill('2020-01-01T14:10');
    await page.getByText('Nothing on this page matches the filters').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    await page.getByRole('link', { name: 'Resources', exact: true }).click();
    await page.getByRole('searchbox', { name: 'Name' }).fill('fin*');
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('volume');
    await page.getByRole('row').filter({ hasText: 'fine' }).getByText('available').waitFor();
    await page.waitForURL(/name=fin/);
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      tab: 'resources',
      name: 'fin*',
      kind: 'volume',
    });
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Its tasks' }).click();
    await page.getByRole('cell', { name: 'FINISHED' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
  });

  it('show a reseller its own clients, and not the platform', async () => {
    const reseller = await addReseller(browser.service, 'Seller');
    const mine = await clientOf(reseller.http, 'Mine');
    const others = await clientOf(browser.service.http, 'Others');
    await failedVolume(mine, 'ours-mine');
    await failedVolume(others, 'ours-theirs');
    const { page, open } = await browser.visit({ token: reseller.http.token });
    await page.getByRole('link', { name: 'Look up' }).waitFor();
    expect(await page.getByRole('link', { name: 'Maintenance' }).count()).toBe(0);
    await open('admin/find?q=ours');
    await page.getByRole('cell', { name: 'ours-mine' }).waitFor();
    expect(await page.getByRole('cell', { name: 'ours-theirs' }).count()).toBe(0);
    await open('admin/find?tab=tasks&state=ERROR');
    await page.getByRole('cell', { name: BROKEN }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
  });

  it('begin and end a maintenance, which a customer sees with its reason', async () => {
    const { service } = browser;
    const tenant = await clientOf(service.http, 'Customer');
    const region = (await tenant.http.get('/cloud/v1/regions/2')).body.display_name;
    const { page, open } = await browser.visit();
    await page.getByRole('link', { name: 'Maintenance' }).click();
    await page.getByText('Nothing is in maintenance.').waitFor();
    await page.getByRole('button', { name: 'Begin' }).click();
    const form = page.getByRole('dialog', { name: 'Begin a maintenance', exact: true });
    await form.getByLabel('What').selectOption('A backend, in all its regions');
    await form.getByLabel('Reason').fill(REASON);
    await form.getByLabel('Backend').fill('nowhere');
    browser.expectFaults(/400|503/);
    const apply = form.getByRole('button', { name: 'Begin' });
    await apply.click();
    await form.getByText('The catalogue has no backend nowhere.').waitFor();
    await form.getByLabel('What').selectOption(region);
    expect(await accessibilityFaults(page)).toEqual([]);
    await apply.click();
    await page.getByRole('dialog').last().getByRole('button', { name: 'Begin', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: REASON });
    await row.getByText(region).waitFor();
    await row.getByText('drained', { exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    const customer = await browser.visit({ token: tenant.http.token });
    await customer.open(`p/${tenant.projectId}/r/2/networks?new=yes`);
    await customer.page.getByText(`${region} is in maintenance.`).waitFor();
    expect(await accessibilityFaults(customer.page)).toEqual([]);
    await customer.page.getByRole('textbox', { name: 'Name' }).fill('refused');
    await customer.page.getByRole('button', { name: 'Create', exact: true }).first().click();
    await customer.page.getByRole('dialog').getByText(REASON).waitFor();

    await open('admin/maintenance');
    await row.getByRole('button', { name: 'End' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
    await page.getByText('Nothing is in maintenance.').waitFor();
    await customer.page.reload();
    await customer.page.getByRole('heading', { name: 'Networks', level: 1 }).waitFor();
    await customer.page.getByText(`${region} is in maintenance.`).waitFor({ state: 'detached' });
  });

  it('show the addresses that are left, and what waits and fails', async () => {
    const { http } = browser.service;
    const tenant = await clientOf(http, 'Waiting');
    await http.post(FAULTS, { task: 'create_volume', name: 'waits', do: { hold: true } });
    const made = await tenant.http.post(`/cloud/v1/volumes/${tenant.projectId}/1`, {
      source: 'new-volume',
      name: 'waits',
      size: 1,
    });
    const { page, open } = await browser.visit();
    await open('admin/platform');
    const addresses = page.getByRole('region', { name: 'Public addresses' }).getByRole('row');
    await addresses.filter({ hasText: /Port HaldenIPv4[\d,.]+/ }).waitFor();
    await addresses.filter({ hasText: /Port HaldenIPv6plenty/ }).waitFor();
    const backlog = page.getByRole('region', { name: 'Backlog' });
    await backlog.getByRole('row').filter({ hasText: 'Port Haldensimulatedvolume' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await backlog.getByRole('link', { name: 'create volume' }).click();
    await page
      .getByRole('region', { name: 'Tasks about it' })
      .getByText(/^volume: .*, backend simulated$/)
      .waitFor();
    await http.delete(FAULTS);
    await tenant.http.task(made.body[0]);
  });
});
