import type { Page } from 'playwright-core';
import { expect, it, vi } from 'vitest';
import { accessibilityFaults, describeInBrowser, setUpBrowser, type Visit } from '../support/browser.ts';
import { createHttpClient, type HttpClient, SOON } from '../support/http-client.ts';
import { comes, logIn, newPerson } from '../support/logins.ts';
import { addReseller } from '../support/reseller.ts';

/** An operation as the document has it. */
interface Operation {
  method: string;
  path: string;
}
/** What a request needs so that it is about something that exists. */
interface Known {
  [parameter: string]: string | number;
}

/** Buttons that change nothing. */
const HARMLESS = /^(As code|Export as .*|Close|Copy|Try again)$/;
/** Each is about another project: they are looked at by row. */
const OF_ROW = 'of the row';
/** Of each page, which operation stands behind a button. */
const PAGES: Record<string, Record<string, string>> = {
  'account/projects': { 'Create project': 'createProject', Change: OF_ROW, Delete: OF_ROW },
  'account/quotas': {
    'Ask for more': 'createLimitRequest',
    Change: 'changeRegionalQuotas',
    'Change the percentage': 'setQuotaThreshold',
    'Back to the usual one': 'deleteQuotaThreshold',
  },
  'account/quotas?tab=requests': {
    'Ask for more': 'createLimitRequest',
    Grant: 'decideLimitRequest',
    Reject: 'decideLimitRequest',
    Delete: 'deleteLimitRequest',
  },
  'account/costs': {},
  'account/users': { 'Invite a user': 'inviteUser' },
  'account/tokens': { 'Create token': 'createApiToken', Delete: 'deleteApiToken' },
  'account/logins': {
    'Log out everywhere': 'endOwnLogins',
    End: 'endOwnLogin',
    'Change password': 'changePassword',
  },
  'account/webhooks': { 'Create webhook': 'createWebhook' },
  'account/features': { 'Switch off': 'deactivateFreeFeature' },
  'p/$project/r/1/clusters': { 'Create cluster': 'createKubernetesClusterV2' },
  'p/$project/r/1/security-groups': { 'Create security group': 'createSecurityGroup' },
};
/** What is said to those who have no right, and not because nothing is chosen or the like. */
const REFUSAL = /^(This operation needs|Only the platform administrator|You have rights in single|The role) .*$/;
/** Pages that others add buttons to: those that are not named above are their own tests’ concern. */
const OF_OTHERS = /^p\//;
/** Without these, a request would be refused before it is known whether the caller may send it. */
const BODIES: Record<string, object> = {
  changeRegionalQuotas: { vm_count_limit: 7 },
  decideLimitRequest: { status: 'done' },
  createRoleAssignment: { role: 'Observer' },
};

describeInBrowser('the account in the console', () => {
  const browser = setUpBrowser();

  async function readOperations(): Promise<Map<string, Operation>> {
    const { body } = await browser.service.http.get('/openapi.json');
    const paths = Object.entries(body.paths as Record<string, Record<string, { operationId: string }>>);
    return new Map(
      paths.flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { operationId }]) => [
          operationId,
          { method: method.toUpperCase(), path },
        ]),
      ),
    );
  }

  /** Asks the API, by a dry run: why the caller may not do it; undefined if that isn't refused. */
  async function refusalOf(
    http: HttpClient,
    { method, path }: Operation,
    known: Known,
    body: object,
  ): Promise<string | undefined> {
    const filled = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => String(known[name] ?? 1));
    const { status, body: answer } = await http.request(method, filled, {
      ...(method !== 'DELETE' && { body }),
      headers: { 'tradewind-dry-run': 'true' },
    });
    return status === 403 ? (answer.message ?? answer.detail) : undefined;
  }

  /** Opens a page and waits until it knows what the person may do. */
  async function openKnowing({ page, open }: Visit, path: string): Promise<void> {
    await open(path);
    await vi.waitFor(async () => {
      const main = page.getByRole('main');
      expect(await main.getByText('Reading …', { exact: true }).count()).toBe(0);
      expect(await main.getByTitle('Reading what you may do …').count()).toBe(0);
    }, SOON);
  }

  /** The buttons of the page, with what disables them if that is a right that the person doesn’t have. */
  async function buttonsOf(page: Page): Promise<{ name: string; refusal: string | undefined }[]> {
    const buttons = await page.getByRole('main').getByRole('button').all();
    return Promise.all(
      buttons.map(async (button) => {
        const [name, disabled, title] = [
          await button.textContent(),
          await button.isDisabled(),
          await button.getAttribute('title'),
        ];
        return { name: name ?? '', refusal: (disabled && title?.match(REFUSAL)?.[0]) || undefined };
      }),
    );
  }

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

  it.each(['Administrators', 'Engineers', 'Users', 'single projects'])(
    'has each button disabled exactly if the API refuses its request: %s',
    async (role) => {
      browser.expectFaults(/403/);
      const operations = await readOperations();
      const of = await account();
      const { clientId, projectId, admin, tokenOf } = of;
      const second = (await admin.post('/cloud/v1/projects', { name: 'second' })).body.id;
      await admin.post('/cloud/v2/limits_request', {
        description: 'more',
        requested_limits: { global_limits: { project_count_limit: 20_000 } },
      });
      const [{ id: requestId }] = (await admin.get('/cloud/v2/limits_request')).body.results;
      await browser.service.http.post('/iam/admin/free_features', { client_id: clientId, feature_id: 6 });
      const http =
        role === 'single projects'
          ? await inProjects(of, { [projectId]: 'ProjectAdministrator', [second]: 'Observer' })
          : await tokenOf(admin, role);
      const visit = await browser.visit({ token: http.token });
      const known: Known = {
        clientId,
        client_id: clientId,
        project_id: projectId,
        region_id: 1,
        request_id: requestId,
      };
      let seen = 0;
      for (const [path, names] of Object.entries(PAGES)) {
        await openKnowing(visit, path.replace('$project', String(projectId)));
        for (const { name, refusal } of await buttonsOf(visit.page)) {
          const id = names[name];
          if (id === undefined && !OF_OTHERS.test(path))
            expect(name, `which operation it is, on ${path}`).toMatch(HARMLESS);
          if (id === undefined || id === OF_ROW) continue;
          const refused = await refusalOf(http, operations.get(id) as Operation, known, BODIES[id] ?? {});
          expect([path, name, refusal]).toEqual([path, name, refused]);
          seen++;
        }
      }
      expect(seen).toBeGreaterThan(5);

      // In the list of projects, each row is about another one.
      await openKnowing(visit, 'account/projects');
      for (const [name, project_id] of Object.entries({ Default: projectId, second })) {
        const link = visit.page.getByRole('link', { name, exact: true });
        const button = visit.page.getByRole('row').filter({ has: link }).getByRole('button', { name: 'Change' });
        const refused = await refusalOf(http, operations.get('updateProject') as Operation, { project_id }, {});
        expect([name, await button.isDisabled()]).toEqual([name, refused !== undefined]);
      }
    },
    300_000,
  );

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
    await page.getByText('deployments').waitFor({ state: 'detached' });
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

  it.each(['light', 'dark'] as const)(
    'has no faults of accessibility, also with dialogs open: %s',
    async (colorScheme) => {
      const visit = await browser.visit({ colorScheme });
      const { page } = visit;
      const { http } = browser.service;
      await http.post('/tradewind/v1/webhooks', { url: 'https://hooks.invalid/a', types: ['*'] });
      const dialogs: [path: string, button?: string][] = [
        ['account/projects', 'Create project'],
        ['account/quotas', 'Ask for more'],
        ['account/costs?by=day'],
        ['account/prices'],
        ['account/users', 'Invite a user'],
        ['account/users/1', 'Assign a role'],
        ['account/tokens', 'Create token'],
        ['account/logins', 'Log out everywhere'],
        ['account/audit', 'As code'],
        ['account/audit?tab=resources'],
        ['account/webhooks', 'Create webhook'],
        ['account/features', 'Switch on'],
        ['admin/clients', 'Create client'],
        ['admin/clients/1', 'Change'],
        ['admin/clients/1?tab=services'],
        ['admin/resellers', 'Create reseller'],
        ['admin/prices', 'Create price list'],
        ['admin/notifications', 'Add an address'],
        ['admin/products', 'Withhold'],
        ['admin/test'],
      ];
      for (const [path, button] of dialogs) {
        await openKnowing(visit, path);
        expect([path, await accessibilityFaults(page)]).toEqual([path, []]);
        if (button === undefined) continue;
        await page.getByRole('button', { name: button, exact: true }).first().click();
        await page.getByRole('dialog').waitFor();
        expect([path, button, await accessibilityFaults(page)]).toEqual([path, button, []]);
      }
    },
    300_000,
  );
});
