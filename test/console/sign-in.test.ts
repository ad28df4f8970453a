import { expect, it } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { makeConsoleCode } from '../../src/iam/logins/console/service.ts';
import { accessibilityFaults, describeInBrowser, setUpBrowser } from '../support/browser.ts';
import type { Page } from '../support/chromium.ts';
import { newPerson, PASSWORD } from '../support/logins.ts';
import { codeAt } from '../support/second-factors.ts';

describeInBrowser('signing in to the console', () => {
  const browser = setUpBrowser();

  async function startAddress(): Promise<string> {
    const { connectionString } = browser.service.pool.options;
    const database = openDatabase({ connectionString }, 1);
    const code = await makeConsoleCode({ database });
    await database.close();
    return `${browser.service.url}/console/#code=${code}`;
  }

  it('takes no typing with the address of the start, which works once and keeps the code from the address bar', async () => {
    const address = await startAddress();
    const { page } = await browser.visitAsStranger();
    await page.goto(address);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    expect(page.url()).not.toContain('code');
    const { page: other } = await browser.visitAsStranger();
    browser.expectFaults(/400/);
    await other.goto(address);
    expect(await other.getByRole('alert').textContent()).toContain('was used or is older than ten minutes');
    expect(other.url()).not.toContain('code');
    // The other ways are there.
    await other.getByLabel('Password').waitFor();
    await other.getByRole('button', { name: 'Use an API token instead' }).click();
    expect(await other.evaluate('document.activeElement.id')).toBe('token');
  });

  it('leaves no token in what the browser stores', async () => {
    const { page } = await browser.visit();
    const { http } = browser.service;
    const stored = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    expect(stored).not.toContain(http.token ?? 'nothing');
    expect(stored).not.toMatch(/eyJ|"\d+_[\da-f]/);
  });

  it('goes on after a reload and in other tabs, until one of them signs out', async () => {
    const visit = await browser.visit();
    await visit.page.reload();
    await visit.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const second = await visit.anotherTab();
    await second.open('p/1/r/1/tasks');
    await visit.page.getByRole('button', { name: 'Sign out' }).click();
    for (const { page } of [visit, second]) await page.getByRole('heading', { name: 'Sign in to Tradewind' }).waitFor();
    browser.expectFaults(/401/);
    await second.page.reload();
    await second.page.getByRole('heading', { name: 'Sign in to Tradewind' }).waitFor();
  });

  it('says what is wrong with a password', async () => {
    const { page } = await browser.visitAsStranger();
    browser.expectFaults(/401/, /400/);
    await page.goto(`${browser.service.url}/console/`);
    await page.getByLabel('E-mail address').fill('nobody@example.com');
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    expect(await page.getByRole('alert').textContent()).not.toBe('');
  });
});

describeInBrowser('signing in with a second factor', () => {
  const browser = setUpBrowser();
  const signIn = async (page: Page, email: string) => {
    await page.goto(`${browser.service.url}/console/`);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  const overview = (page: Page) => page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();

  it('begins on the page of the logins, and takes codes of the app, and recovery codes', async () => {
    const person = await newPerson(browser.service.http);
    browser.expectFaults(/40[01]/);
    const visit = await browser.visitAsStranger();
    const { page } = visit;
    await signIn(page, person.email);
    await overview(page);
    await visit.open('account/logins');
    const add = page.getByRole('button', { name: 'Add an app' });
    await add.press('Enter');
    await page.getByRole('textbox', { name: 'Your password' }).fill('wrong');
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByText('Wrong password.').waitFor();
    await page.getByRole('textbox', { name: 'Your password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('img', { name: 'QR code for the app' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const uri = (await page.getByRole('link', { name: 'open the app' }).getAttribute('href')) ?? '';
    await page.getByRole('textbox', { name: 'Code' }).fill(codeAt(uri, Date.now()));
    await page.getByRole('button', { name: 'Confirm' }).click();
    const codes = page.getByRole('dialog').getByRole('listitem');
    await codes.first().waitFor();
    const [code = ''] = await codes.allTextContents();
    expect(await codes.count()).toBe(10);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('cell', { name: 'Phone' }).waitFor();
    expect(await add.isDisabled()).toBe(true);
    await page.getByText('You have 10 recovery codes left.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(page, person.email);
    await page.getByRole('heading', { name: 'Second step' }).waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('code');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('textbox', { name: 'Code' }).fill('000000');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').getByText('Wrong code').waitFor();
    await page.getByRole('button', { name: 'Use a recovery code instead' }).click();
    await page.getByRole('textbox', { name: 'Recovery code' }).fill(code);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await overview(page);

    await visit.open('account/logins');
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('textbox', { name: 'Your password' }).fill(PASSWORD);
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('your password alone signs you in').waitFor();
  });

  it('is asked for first by an account that requires one, and shows the recovery codes before anything else', async () => {
    const person = await newPerson(browser.service.http);
    const policy = `/tradewind/v1/clients/${person.clientId}/sign_in_policy`;
    await browser.service.http.put(policy, { second_factor: 'required' });
    browser.expectFaults(/401/);
    const { page } = await browser.visitAsStranger();
    await signIn(page, person.email);
    await page.getByRole('heading', { name: 'Add a second factor' }).waitFor();
    const link = page.getByRole('link', { name: 'open the app' });
    await link.waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('textbox', { name: 'Code' }).fill(codeAt((await link.getAttribute('href')) ?? '', Date.now()));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
    await page.getByRole('listitem').first().waitFor();
    expect(await page.getByRole('listitem').count()).toBe(10);
    await page.getByRole('button', { name: 'I have kept them' }).click();
    await overview(page);
  });
});

describeInBrowser('signing in with a passkey', () => {
  // The port is known only once the server listens, and the browser's origin has it.
  const port = 20_000 + (process.pid % 20_000);
  const address = `http://localhost:${port}`;
  const browser = setUpBrowser({ TRADEWIND_PUBLIC_URL: address, TRADEWIND_PORT: String(port) });

  it('adds one, and uses it after the password', async () => {
    const person = await newPerson(browser.service.http);
    browser.expectFaults(/401/);
    const visit = await browser.visitAsStranger({ address });
    const { page } = visit;
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    const options = {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    } as const;
    await devtools.send('WebAuthn.addVirtualAuthenticator', { options });
    const signIn = async () => {
      await page.goto(`${address}/console/`);
      await page.getByLabel('E-mail address').fill(person.email);
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    };
    await signIn();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await visit.open('account/logins');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('textbox', { name: 'Your password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('dialog').getByRole('listitem').first().waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('cell', { name: 'This device' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn();
    await page.getByRole('heading', { name: 'Second step' }).waitFor();
    await page.getByText('Your browser asks for your passkey.').waitFor();
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const { body } = await person.http.get('/iam/activity_log/logins?limit=1');
    expect(body.result).toMatchObject([{ auth_type: 'passkey', is_successful: true }]);
  });
});
