import { afterAll, beforeAll, expect, it } from 'vitest';
import { accessibilityFaults, describeInBrowser, setUpBrowser } from '../support/browser.ts';
import { createHttpClient } from '../support/http-client.ts';
import { CLIENT, type IdentityProviderServer, startIdentityProvider } from '../support/identity-provider.ts';
import { anyEmail, newPerson } from '../support/logins.ts';
import { addReseller } from '../support/reseller.ts';

describeInBrowser('how people sign in, in the console', () => {
  // The port is known only once the server listens, and the provider leads back to it.
  const port = 20_000 + (process.pid % 20_000);
  const address = `http://localhost:${port}`;
  const callback = `${address}/tradewind/v1/sign_in/callback`;
  const browser = setUpBrowser({
    TRADEWIND_PUBLIC_URL: address,
    TRADEWIND_PORT: String(port),
    TRADEWIND_WEBHOOK_ALLOW_HOSTS: '127.0.0.1',
  });
  let company: IdentityProviderServer;
  beforeAll(async () => {
    company = await startIdentityProvider(callback);
  });
  afterAll(() => company?.stop());

  async function administrator() {
    const { http, clientId } = await newPerson(browser.service.http);
    const body = { name: 'console', exp_date: null, client_user: { role: { name: 'Administrators' } } };
    const made = await http.post(`/iam/v2/clients/${clientId}/tokens`, body);
    const visit = await browser.visit({ token: made.body.token, address });
    await visit.open('account/sign-in');
    return { http: createHttpClient(http.base, made.body.token), clientId, ...visit };
  }

  it('has a form for the provider of a company, through which its people come until it is deleted', async () => {
    const { http, page } = await administrator();
    await page.getByText('There is none: people sign in with passwords.').waitFor();
    await page.getByRole('code').getByText(callback).waitFor();
    await page.getByRole('button', { name: 'Copy the callback address' }).waitFor();
    await page.getByRole('button', { name: 'Create an identity provider' }).press('Enter');
    const form = page.getByRole('dialog', { name: 'Create an identity provider', exact: true });
    await form.getByLabel('Name', { exact: false }).first().fill('Example Ltd');
    await form.getByLabel('Issuer').fill('https://10.0.0.7');
    await form.getByLabel('Client ID').fill(CLIENT.oidc_client_id);
    await form.getByLabel('Client secret').fill(CLIENT.oidc_client_secret);
    await form.getByLabel('Domains of e-mail addresses').fill('example.com, example.org');
    await form.getByRole('textbox', { name: 'Group 1' }).fill('developers');
    await form.getByLabel('Role of group 1').selectOption('Engineers');
    await form.getByRole('button', { name: 'Add a group' }).click();
    await form.getByRole('textbox', { name: 'Group 2' }).fill('gardeners');
    expect(await form.getByLabel('For all clients').count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    browser.expectFaults(/400/);
    await form.getByRole('button', { name: 'Create', exact: true }).click();
    await form.getByText('1 field needs attention').waitFor();
    await form.getByLabel('Issuer').fill(company.issuer);
    await form.getByRole('button', { name: 'Create', exact: true }).click();
    const review = page.getByRole('dialog', { name: 'Create an identity provider: what it does' });
    await review.getByRole('listitem').filter({ hasText: 'example.org' }).waitFor();
    expect(await review.getByText(CLIENT.oidc_client_secret).first().isVisible()).toBe(false);
    await review.getByRole('button', { name: 'Create', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: company.issuer });
    await row.getByText('developers: Engineers').waitFor();
    const { results } = (await http.get('/tradewind/v1/identity_providers')).body;
    expect(results).toMatchObject([
      { name: 'Example Ltd', has_client_secret: true, email_domains: ['example.com', 'example.org'], required: false },
    ]);
    expect(await page.content()).not.toContain(CLIENT.oidc_client_secret);
    expect(await accessibilityFaults(page)).toEqual([]);

    company.person = { sub: 'jo', email: anyEmail(), email_verified: true, name: 'Jo Doe', groups: ['developers'] };
    const roles = async () => {
      const { body } = await http.get('/iam/users');
      return body.results.find((one: { email: string }) => one.email === company.person.email)?.groups[0].name;
    };
    const { page: theirs } = await browser.visitAsStranger({ address });
    // The provider is another server, and asks for the picture of a tab.
    browser.expectFaults(/elsewhere: http:\/\/127\.0\.0\.1/);
    const come = async () => {
      await theirs.goto(`${address}${results[0].sign_in_path}`);
      await theirs.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    };
    await come();
    expect(theirs.url()).not.toContain('code');
    await theirs.getByText(company.person.email ?? '').waitFor();
    expect(await roles()).toBe('Engineers');

    await row.getByRole('button', { name: 'Change' }).click();
    const change = page.getByRole('dialog', { name: 'Change Example Ltd', exact: true });
    await change.getByText('Leave it empty to keep the present one.').waitFor();
    await change.getByLabel('Role of group 1').selectOption('Administrators');
    await change.getByRole('button', { name: 'Remove group 2' }).click();
    await change.getByRole('button', { name: 'Change', exact: true }).click();
    const reviewed = page.getByRole('dialog', { name: 'Change Example Ltd: what it does' });
    await reviewed.getByText('Engineers').first().waitFor();
    await reviewed.getByRole('button', { name: 'Change', exact: true }).click();
    await row.getByText('developers: Administrators').waitFor();
    await come();
    expect(await roles()).toBe('Administrators');

    await row.getByRole('button', { name: 'Delete' }).click();
    const end = page.getByRole('dialog', { name: 'Delete Example Ltd?' });
    await end.getByText('The logins of its people end.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    browser.expectFaults(/401/);
    await end.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('There is none: people sign in with passwords.').waitFor();
    await theirs.reload();
    await theirs.getByRole('heading', { name: 'Sign in to Tradewind' }).waitFor();
    expect(await roles()).toBe('Administrators');
  });

  it('offers a reseller a provider for all clients, each group of which leads to one', async () => {
    const reseller = await addReseller(browser.service, 'Bell');
    const client = await newPerson(reseller.http);
    const { page, open } = await browser.visit({ token: reseller.http.token, address });
    await open('account/sign-in');
    await page.getByRole('button', { name: 'Create an identity provider' }).click();
    const form = page.getByRole('dialog', { name: 'Create an identity provider', exact: true });
    await form.getByLabel('For all clients, and not for this account').check();
    expect(await form.getByLabel('People in none of the groups').count()).toBe(0);
    await form.getByLabel('Name', { exact: false }).first().fill('Bell');
    await form.getByLabel('Issuer').fill(company.issuer);
    await form.getByLabel('Client ID', { exact: false }).first().fill('bell');
    await form.getByLabel('Domains of e-mail addresses').fill('example.com');
    await form.getByRole('textbox', { name: 'Group 1' }).fill('helpers');
    await form.getByLabel('Client ID of group 1').fill(String(client.clientId));
    await form.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('dialog').last().getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('Bell, for all clients').waitFor();
    const { results } = (await reseller.http.get('/tradewind/v1/identity_providers')).body;
    const groups = [{ group: 'helpers', role: 'Users', client_id: client.clientId }];
    expect(results).toMatchObject([{ client_id: null, groups }]);
    await page.getByRole('button', { name: 'Switch off' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click();
    await page.getByRole('button', { name: 'Switch on' }).waitFor();
    await page.getByRole('cell', { name: 'off', exact: true }).waitFor();
  });

  it('says of whom a second factor is required, and changes it', async () => {
    const { http: admin, clientId, page, open } = await administrator();
    await page.getByText('A second factor beside the password is required of nobody').waitFor();
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByLabel('Of whom').selectOption('Administrators');
    await page.getByRole('button', { name: 'Require it' }).click();
    await page.getByRole('dialog').last().getByRole('button', { name: 'Require it' }).click();
    await page.getByText('A second factor beside the password is required of Administrators').waitFor();
    const { body } = await admin.get(`/tradewind/v1/clients/${clientId}/sign_in_policy`);
    expect(body).toEqual({ second_factor: 'required', roles: ['Administrators'] });
    await open('account/users');
    await page.getByRole('columnheader', { name: 'Second factor' }).waitFor();
    await page.getByRole('cell', { name: 'no', exact: true }).waitFor();
  });
});
