import fs from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, expect, it, vi } from 'vitest';
import { accessibilityFaults, describeInBrowser, setUpBrowser } from '../support/browser.ts';
import { changedCatalog } from '../support/catalogs.ts';
import { createHttpClient, type HttpClient, SOON } from '../support/http-client.ts';
import { anyEmail, comes, logIn, newPerson, PASSWORD } from '../support/logins.ts';
import { addReseller } from '../support/reseller.ts';

describeInBrowser('the account in the console', () => {
  const browser = setUpBrowser();

  /** The account of a person who has a cloud of their own, and tokens of it. */
  async function account() {
    const { http } = browser.service;
    const owner = await newPerson(http);
    const tokenOf = async (by: HttpClient, role: string): Promise<HttpClient> => {
      const made = await by.post(`/iam/v2/clients/${owner.clientId}/tokens`, {
        name: role,
        exp_date: null,
        client_user: { role: { name: role } },
      });
      expect(made.status, made.text).toBe(200);
      return createHttpClient(http.base, made.body.token);
    };
    const admin = await tokenOf(owner.http, 'Administrators');
    const [{ id: projectId }] = (await admin.get('/cloud/v1/projects')).body.results;
    return { clientId: owner.clientId, projectId: projectId as number, admin, tokenOf };
  }

  /** Somebody who has a role in single projects, and none elsewhere. */
  async function inProjects(
    { admin, clientId, tokenOf }: Awaited<ReturnType<typeof account>>,
    roles: Record<number, string>,
  ): Promise<HttpClient> {
    const email = `guest-${clientId}@example.com`;
    const userId = await comes({ http: admin, clientId }, email, { name: 'Users' });
    for (const [project, role] of Object.entries(roles)) {
      const made = await admin.post('/cloud/v1/users/assignments', {
        user_id: userId,
        client_id: clientId,
        project_id: Number(project),
        role,
      });
      expect(made.status, made.text).toBe(200);
    }
    const { access } = await logIn(admin, email);
    return tokenOf(createHttpClient(admin.base, access, 'Bearer'), 'Users');
  }

  it('has its audit log by who did it, and by what is looked for most often; on a phone, filters are folded', async () => {
    const { http } = browser.service;
    const { body: me } = await http.get('/iam/users');
    const { page, open } = await browser.visit();
    await open('account/audit');
    await page.getByLabel('User', { exact: true }).selectOption(String(me.results[0].id));
    await page.getByRole('button', { name: 'Last hour' }).click();
    await page.getByRole('button', { name: 'Failed requests' }).click();
    await page.getByRole('link', { name: 'the failed tasks' }).waitFor();
    await page.getByLabel('Type of event').fill('delete');
    await page.getByRole('alert').filter({ hasText: 'Types are like' }).waitFor();
    await page.getByText('Nothing matches.').waitFor();
    await page.getByLabel('Type of event').fill('');
    await page.getByRole('alert').filter({ hasText: 'Types are like' }).waitFor({ state: 'detached' });
    const { searchParams } = new URL(page.url());
    expect(Object.fromEntries(searchParams)).toEqual({
      user: String(me.results[0].id),
      from: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      outcome: 'failed',
    });

    const outcome = page.getByLabel('Outcome');
    expect(await outcome.isVisible()).toBe(true);
    expect(await page.getByText('Filters (3)').isVisible()).toBe(false);
    await page.setViewportSize({ width: 400, height: 800 });
    await page.getByText('Filters (3)').waitFor();
    expect(await outcome.isVisible()).toBe(false);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByText('Filters (3)').focus();
    await page.keyboard.press('Enter');
    await outcome.selectOption('');
    await page.getByText('Filters (2)').waitFor();
    expect(await page.getByRole('button', { name: 'Failed requests' }).getAttribute('aria-pressed')).toBe('false');
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('has the buttons of each project disabled exactly if the API refuses its request', async () => {
    const of = await account();
    const second = (await of.admin.post('/cloud/v1/projects', { name: 'second' })).body.id;
    const http = await inProjects(of, { [of.projectId]: 'ProjectAdministrator', [second]: 'Observer' });
    browser.expectFaults(/403/);
    const { page, open } = await browser.visit({ token: http.token });
    await open('account/projects');
    for (const [name, project_id] of Object.entries({ Default: of.projectId, second })) {
      const link = page.getByRole('link', { name, exact: true });
      const button = page.getByRole('row').filter({ has: link }).getByRole('button', { name: 'Change' });
      const { status } = await http.request('PATCH', `/cloud/v1/projects/${project_id}`, {
        body: {},
        headers: { 'tradewind-dry-run': 'true' },
      });
      await vi.waitFor(async () => expect([name, await button.isDisabled()]).toEqual([name, status === 403]), SOON);
    }
  });

  it('shows a token once, and nowhere afterwards', async () => {
    const { page, open } = await browser.visit();
    await open('account/tokens');
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('deployments');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const review = page.getByRole('dialog', { name: 'Create an API token: what it does' });
    await review.getByRole('button', { name: 'Create', exact: true }).click();
    const shown = page.getByRole('dialog', { name: 'The new token' });
    const line = await shown
      .getByText(/^export TRADEWIND_TOKEN=/)
      .first()
      .textContent();
    const token = (line ?? '').replace('export TRADEWIND_TOKEN=', '');
    expect(token).toMatch(/^\d+_.{20,}$/);
    const { http } = browser.service;
    expect((await createHttpClient(http.base, token).get('/iam/clients/me')).status).toBe(200);
    await shown.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('cell', { name: 'deployments' }).waitFor();
    const everything = async () =>
      (await page.content()) +
      (await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state])'));
    expect(await everything()).not.toContain(token);
    await page.reload();
    await page.getByRole('cell', { name: 'deployments' }).waitFor();
    expect(await everything()).not.toContain(token);
    await page.getByRole('button', { name: 'Delete' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    const used = () => createHttpClient(http.base, token).get('/iam/clients/me');
    await vi.waitFor(async () => expect((await used()).status).toBe(401), SOON);
    // The dialog names the token too, and hides the list from roles while it is open.
    await page.getByRole('dialog', { name: /^Delete/ }).waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'deployments' }).waitFor({ state: 'detached' });
  });

  it('makes a quota list that is not in force yet, and deletes it', async () => {
    const { page, open } = await browser.visit();
    const day = `${new Date().getFullYear() + 2}-01-01`;
    await open('account/quotas');
    await page.getByRole('link', { name: 'Lists', exact: true }).click();
    await page.getByText('Every account may have what the catalogue says.').waitFor();
    await page.getByRole('button', { name: 'Create quota list' }).click();
    const form = page.getByRole('dialog', { name: 'Create a quota list' });
    await form.getByLabel('From (UTC)').fill(`${day}T00:00`);
    await form.getByLabel('Quota 1', { exact: true }).selectOption({ label: 'load balancers' });
    await form.getByLabel('Region of quota 1').selectOption('1');
    await form.getByRole('spinbutton', { name: 'Limit of quota 1' }).fill('7');
    await form.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('dialog').last().getByRole('button', { name: 'Create', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: '7 load balancers in region 1' });
    await row.getByText('not yet in force').waitFor();
    const { results } = (await browser.service.http.get('/tradewind/v1/quota_lists')).body;
    expect(results).toMatchObject([
      {
        scope: 'everyone',
        valid_from: expect.stringContaining(day),
        limits: [{ quota: 'loadbalancer_count', region_id: 1, limit: 7 }],
      },
    ]);
    await row.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Every account may have what the catalogue says.').waitFor();
  });

  it('shows what a webhook gets without a reload', async () => {
    const { page, open } = await browser.visit();
    await open('account/webhooks');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByRole('textbox', { name: 'Address' }).fill('https://hooks.invalid/here');
    await page.getByRole('textbox', { name: 'Types of events' }).fill('tradewind.ssh_key.*');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('dialog').last().getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('link', { name: 'https://hooks.invalid/here' }).click();
    await page.getByText('Nothing has been sent yet').waitFor();
    await browser.service.http.post('/cloud/v1/ssh_keys/1', { name: 'told of' });
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'tradewind.ssh_key.created' }) });
    await row.waitFor();
    // It can't be reached, so there will be another attempt.
    await row.getByRole('time').last().waitFor();
    await row.getByRole('cell', { name: 'pending' }).waitFor();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send a test' }).click();
    await page.getByRole('link', { name: 'tradewind.webhook.test' }).waitFor();
  });

  it('offers to invite the administrator of a new client, and says whose limit is changed where', async () => {
    const { page, open } = await browser.visit();
    await open('admin/clients');
    await page.getByRole('button', { name: 'Create client' }).click();
    await page.getByRole('textbox', { name: 'Company' }).fill('Initech');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('dialog').last().getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'Initech', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Invite an administrator' }).click();
    await page.getByRole('textbox', { name: 'E-mail address' }).fill('boss@initech.example.com');
    expect(await page.getByLabel('Role').inputValue()).toBe('Administrators');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByRole('dialog').last().getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByRole('dialog', { name: 'The invitation' }).waitFor();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    const region = (await browser.service.http.get('/cloud/v1/regions')).body.results[0].display_name;
    await page.getByRole('link', { name: 'Quotas', exact: true }).last().click();
    const table = page.getByRole('region', { name: region });
    await table.getByRole('button', { name: 'Change' }).first().click();
    await page.getByRole('dialog', { name: new RegExp(` in ${region} for Initech$`) }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Prices', exact: true }).last().click();
    await page.getByRole('cell', { name: region, exact: true }).first().waitFor();
    await page.getByRole('cell', { name: 'one GiB', exact: true }).first().waitFor();
    await page.getByRole('link', { name: 'What it has', exact: true }).click();
    await page.getByText('It has nothing that costs.').waitFor();
    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.getByText('Machines that stop: 0. Machines that run on: 0.').waitFor();
    await page.keyboard.press('Escape');
  });

  it('says what is made as it was typed, also what only looks like a time', async () => {
    const of = await account();
    const { page, open } = await browser.visit({ token: of.admin.token });
    await open('account/projects');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('archive');
    for (const typed of ['2025-01-01T00:00:00 backup', '2025-13-01T00:00:00']) {
      await page.getByRole('textbox', { name: 'Description' }).fill(typed);
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      const review = page.getByRole('dialog').last();
      await review.getByText(typed, { exact: true }).waitFor();
      await page.keyboard.press('Escape');
    }
  });

  it('shows the mail that a notification setting sends', async () => {
    const { page, open } = await browser.visit({});
    await open('admin/notifications');
    await page.getByRole('button', { name: 'See the mail (A client asks to be deleted)' }).click();
    const mail = page.getByRole('dialog', { name: 'A client asks to be deleted: the mail' });
    await mail.getByText('Example Ltd asks to be deleted', { exact: true }).waitFor();
    await mail.getByText('Reason: We have moved elsewhere').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it('lets an invited person join by the address that the dialog shows, once', async () => {
    const email = anyEmail();
    // By the name with which the invited person reaches the server, over plain HTTP.
    const address = browser.service.url.replace('127.0.0.1', 'console.test');
    const { page, open } = await browser.visit({ address });
    await open('account/users');
    await page.getByRole('button', { name: 'Invite a user' }).click();
    await page.getByRole('textbox', { name: 'E-mail address' }).fill(email);
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByRole('dialog').last().getByRole('button', { name: 'Invite', exact: true }).click();
    const shown = page.getByRole('dialog', { name: 'The invitation' });
    await shown.getByText('to nobody else').waitFor();
    const link = (await shown.getByText('#invitation=').first().textContent()) ?? '';
    expect(link).toMatch(new RegExp(`^${address}/console/#invitation=invitation_\\d+_[0-9a-f]{64}$`));

    const { page: theirs } = await browser.visitAsStranger({ address });
    await theirs.goto(`${address}/console/`);
    await theirs.getByRole('heading', { name: 'Sign in to Tradewind' }).waitFor();
    // Where only what follows # differs, no page is loaded.
    await theirs.goto(link);
    await theirs.getByRole('heading', { name: 'Join' }).waitFor();
    const kept = () =>
      theirs.evaluate<string>('JSON.stringify([location, history.state, { ...localStorage }, { ...sessionStorage }])');
    expect(await kept()).not.toContain('invitation');
    expect(await accessibilityFaults(theirs)).toEqual([]);
    browser.expectFaults(/400/);
    const join = async (password: string) => {
      await theirs.getByRole('textbox', { name: 'Password' }).fill(password);
      await theirs.getByRole('button', { name: 'Join' }).click();
    };
    await join('short');
    const field = theirs.getByRole('textbox', { name: 'Password', description: /Must have 8 characters or more/ });
    await field.waitFor();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await join(PASSWORD);
    await theirs.getByText('You have joined.').waitFor();
    await theirs.getByLabel('E-mail address').fill(email);
    await theirs.getByLabel('Password').fill(PASSWORD);
    await theirs.getByRole('button', { name: 'Sign in', exact: true }).click();
    await theirs.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    expect(await kept()).not.toContain('invitation');

    await theirs.goto(link);
    await theirs.getByText(`You stay signed in as ${email}`).waitFor();
    await join(PASSWORD);
    await theirs.getByRole('alert').getByText('Not valid: it was used').waitFor();
    await theirs.getByRole('button', { name: 'Not now' }).click();
    await theirs.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  }, 120_000);

  it('lets a reseller act for a client, under a bar that says so, and come back', async () => {
    const reseller = await addReseller(browser.service, 'Northwind');
    await reseller.http.post('/iam/clients/create', { company: 'Acme' });
    const { page, open } = await browser.visit({ token: reseller.http.token });
    await open('admin/clients');
    await page.getByRole('button', { name: 'Act for Acme' }).click();
    await page.getByText('You act for Acme.').waitFor();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    // What is done now is done in the client’s account, and the client has no clients.
    await page.getByRole('link', { name: 'Projects' }).click();
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('made for Acme');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('dialog').last().getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('link', { name: 'made for Acme' }).waitFor();
    expect(await page.getByRole('region', { name: 'Administration' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Back to your own account' }).click();
    await page.getByRole('heading', { name: 'Acme', level: 1 }).waitFor();
    await page.getByText('You act for Acme.').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Projects' }).click();
    await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor();
    await page.getByText('One in all').waitFor();
    expect(await page.getByRole('link', { name: 'made for Acme' }).count()).toBe(0);
  });

  it('ends the other browser when one changes the password or logs out everywhere', async () => {
    const person = await newPerson(browser.service.http);
    const signIn = async (page: Page, password: string) => {
      await page.getByLabel('E-mail address').fill(person.email);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    };
    const [one, other] = [await browser.visitAsStranger(), await browser.visitAsStranger()];
    for (const { page } of [one, other]) {
      await page.goto(`${browser.service.url}/console/`);
      await signIn(page, person.password);
    }
    browser.expectFaults(/401/);
    const next = 'many small green apples';
    await one.page.getByRole('link', { name: 'Your logins' }).click();
    await one.page.getByLabel('Present password').fill(person.password);
    await one.page.getByLabel('New password required').fill(next);
    await one.page.getByLabel('New password again').fill(next);
    await one.page.getByRole('button', { name: 'Change password' }).click();
    await one.page.getByText('Password changed').waitFor();
    await other.page.getByRole('heading', { name: 'Sign in to Tradewind' }).waitFor();
    await signIn(other.page, next);
    await one.page.getByRole('cell', { name: 'this one' }).waitFor();
    await one.page.getByRole('button', { name: 'Log out everywhere' }).click();
    await one.page.getByRole('dialog').getByRole('button', { name: 'Log out everywhere' }).click();
    for (const { page } of [one, other]) await page.getByRole('heading', { name: 'Sign in to Tradewind' }).waitFor();
  }, 120_000);
});

describeInBrowser('outgoing traffic in the console', () => {
  const folder = changedCatalog('price-book.yaml', ({ prices = [], ...book }) => ({
    ...book,
    prices: prices.map((one) => ({ ...one, egress_traffic: { virtual: '0.02' } })),
  }));
  afterAll(() => fs.rmSync(folder, { recursive: true }));
  const browser = setUpBrowser({ TRADEWIND_CATALOG_DIR: folder });

  it('is counted in GB, and price lists price a GB of it', async () => {
    const { pool, http } = browser.service;
    await pool.query(
      `insert into usage_periods (client_id, project_id, region_id, type, resource_id, sku, amount, name, tags, details, started_at, ended_at)
       select 1, 1, 1, 'egress_traffic', gen_random_uuid(), 'virtual', 3250000000, 'web', '{}', '{}', hour - interval '1 hour', hour
       from date_trunc('hour', now()) as hour`,
    );
    const { page, open } = await browser.visit();
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    await open(`account/costs?type=egress_traffic&from=${yesterday}`);
    await page.getByRole('row', { name: 'virtual 3.25 GB' }).waitFor();
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByText('3.25 GB in all').waitFor();

    await open('admin/prices');
    await page.getByRole('button', { name: 'Create price list' }).click();
    await page.getByRole('button', { name: 'Add a price' }).click();
    await page.getByLabel('Item 1', { exact: true }).selectOption('egress_traffic.virtual');
    await page.getByLabel('Price of a GB of item 1').fill('0.03');
    await page.getByLabel('Currency').selectOption('EUR');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('dialog').last().getByRole('button', { name: 'Create', exact: true }).click();
    const made = async () => (await http.get('/tradewind/v1/price_lists')).body.results;
    await expect.poll(made, SOON).toMatchObject([{ prices: [{ item: 'egress_traffic.virtual', per_gb: 0.03 }] }]);
  });
});
