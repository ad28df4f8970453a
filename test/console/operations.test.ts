import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { describeInBrowser, setUpBrowser } from '../support/browser.ts';

interface Described {
  operationId: string;
  parameters?: { schema?: { type?: string } }[];
}

describeInBrowser('all operations', () => {
  const browser = setUpBrowser();

  it('have a form in the console, also those without a page of their own', async () => {
    const { page, open } = await browser.visit();
    await open('operations');
    const { body } = await browser.service.anonymous.get('/openapi.json');
    const methods = Object.values<Record<string, { operationId?: string }>>(body.paths).flatMap(Object.values);
    const names = methods.flatMap(({ operationId }) => operationId ?? []);
    expect(names.length).toBeGreaterThan(400);
    await page.getByText(`${names.length} operations`).waitFor();
    const links = page.getByRole('main').getByRole('link');
    const addresses = await links.evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    expect(names.filter((name) => !addresses.includes(`/console/operations/${name}`))).toEqual([]);
  });

  it('have a form for their lists too, which the code repeats a parameter for', { timeout: 300_000 }, async () => {
    const { page, open } = await browser.visit();
    const { body } = await browser.service.anonymous.get('/openapi.json');
    const paths = Object.entries<Record<string, Described>>(body.paths);
    const withLists = paths.flatMap(([path, { get }]) =>
      get?.parameters?.some(({ schema }) => schema?.type === 'array') ? [{ path, id: get.operationId }] : [],
    );
    expect(withLists.length).toBeGreaterThan(10);
    await open('operations/listTasks');
    const projects = page.getByRole('group', { name: 'project_id' });
    await projects.getByRole('button', { name: 'Add project_id' }).click();
    await projects.getByLabel('2 required').fill('2');
    await page.getByRole('button', { name: 'As code' }).click();
    expect(await page.locator('pre.code').first().textContent()).toContain('project_id=1&project_id=2');
    await page.keyboard.press('Escape');
    for (const { path, id } of withLists) {
      await page.evaluate(`history.pushState(null, '', '/console/operations/${id}')`);
      const crumb = page.getByText(`GET ${path}`, { exact: true });
      await crumb.or(page.getByText('Something went wrong')).first().waitFor();
      expect(await page.getByRole('button', { name: 'Read', exact: true }).count(), id).toBe(1);
    }
  });

  it('are sent as the code beside them says, and the code works when it is pasted', async () => {
    const description = `it's "quoted" \\ and ünï`;
    const { page, open } = await browser.visit();
    await open('operations/createSecurityGroup');
    await page.getByLabel('name required').fill('as-code');
    await page.getByLabel('description', { exact: true }).fill(description);
    await page.getByRole('button', { name: 'As code' }).click();
    const code = await page.locator('pre.code').first().textContent();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('heading', { name: 'Answer' }).waitFor();
    const { http } = browser.service;
    const made = async () => (await http.get('/cloud/v1/securitygroups/1/1?name=as-code')).body.results;
    const [sent] = await made();
    await http.delete(`/cloud/v1/securitygroups/1/1/${sent.id}`);
    const env = { PATH: process.env.PATH, TRADEWIND_TOKEN: http.token };
    // Not in one go: the server is in this process.
    await promisify(execFile)('sh', ['-c', `${code} -fsS`], { env, timeout: 60_000 });
    const [pasted] = await made();
    expect([sent.description, pasted.description]).toEqual([description, description]);
    expect(pasted.id).not.toBe(sent.id);
  });
});
