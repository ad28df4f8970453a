import { expect, it } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { makeConsoleCode } from '../../src/iam/logins/console/service.ts';
import { describeInBrowser, setUpBrowser } from '../support/browser.ts';

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
