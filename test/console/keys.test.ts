import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { accessibilityFaults, describeInBrowser, setUpBrowser } from '../support/browser.ts';
import { pauseClusterWork } from '../support/clusters.ts';

describeInBrowser('the console by keys', () => {
  const browser = setUpBrowser();
  const palette = (page: Page) => page.getByRole('dialog', { name: 'Search' });
  const title = (page: Page, name: string) => page.getByRole('heading', { name, level: 1, exact: true });
  const focused = (page: Page) =>
    page.evaluate<string>('document.activeElement.textContent || document.activeElement.name');

  async function search(page: Page, text: string, found: RegExp): Promise<void> {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill(text);
    await page.getByRole('option', { name: found }).waitFor();
  }

  it('finds pages, resources and operations', async () => {
    const { page, open } = await browser.visit();
    const group = { security_group: { name: 'app-front' } };
    const made = await browser.service.http.post('/cloud/v1/securitygroups/1/1', group);
    expect(made.status, made.text).toBe(200);
    await open('p/1/r/1/volumes');

    const rail = page.getByRole('navigation', { name: 'Pages' });
    await rail.getByRole('link', { name: 'Clients' }).waitFor();
    const pages = await rail.getByRole('link').allTextContents();
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'Create a cluster' }).waitFor();
    const offered = page.getByRole('group', { name: 'Pages' }).getByRole('option').locator('> :first-child');
    expect(await offered.allTextContents()).toEqual(pages);
    await page.keyboard.press('Escape');
    await palette(page).waitFor({ state: 'detached' });

    await search(page, 'floating', /^Floating IPs/);
    await page.keyboard.press('Enter');
    await title(page, 'Floating IPs').waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('main');

    await search(page, 'FRONT', /^app-front/);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await title(page, 'app-front').waitFor();

    await search(page, 'regions', /^List regions/);
    const texts = await page.getByRole('option').allTextContents();
    const at = texts.findIndex((text) => text.startsWith('List regions'));
    for (let down = 0; down < at; down += 1) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await title(page, 'List regions').waitFor();
  });

  it('finds the form of the console before what the API can do', async () => {
    const { page, open } = await browser.visit();
    await open('p/1/r/1/volumes');
    await search(page, 'create security', /^Create a security group POST/);
    expect(await page.getByRole('option').first().textContent()).toBe('Create a security group');
    await page.keyboard.press('Enter');
    await title(page, 'Security groups').waitFor();
    await page.getByLabel('What it lets pass at first').waitFor();
  });

  it('shows where one is in the list of pages, in wide and in narrow windows', async () => {
    const { page, open } = await browser.visit();
    const item = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Clients' });
    const isInView = async () => {
      const box = await item.boundingBox();
      const size = page.viewportSize();
      if (!box || !size) return false;
      return box.x >= 0 && box.y >= 0 && box.x + box.width <= size.width && box.y + box.height <= size.height;
    };
    for (const size of [
      { width: 1280, height: 600 },
      { width: 500, height: 700 },
    ]) {
      await page.setViewportSize(size);
      await open('p/1/r/1/volumes');
      await title(page, 'Volumes').waitFor();
      expect(await isInView()).toBe(false);
      await open('admin/clients');
      await title(page, 'Clients').waitFor();
      await expect.poll(isInView).toBe(true);
      expect(await page.evaluate('scrollY')).toBe(0);
    }
  });

  it('gives the focus back, says what it does not find, and signs out', async () => {
    const { page, open } = await browser.visit();
    await open('p/1/r/1/volumes');
    const button = page.getByRole('button', { name: 'Search … Ctrl K' });
    await button.click();
    await page.getByRole('combobox', { name: 'Search' }).fill('nothing like it');
    await palette(page).getByText('Nothing has this name.').waitFor();
    await page.keyboard.press('Escape');
    await palette(page).waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Search … Ctrl K');
    await page.getByRole('link', { name: 'Images' }).focus();
    await search(page, 'sign', /^Sign out/);
    await page.keyboard.press('Escape');
    await palette(page).waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Images');
    await search(page, 'sign out', /^Sign out/);
    await page.getByRole('option', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Tradewind' }).waitFor();
  });

  it('opens pages and filters by single keys, which can be turned off', async () => {
    const { page, open } = await browser.visit();
    await open('p/1/r/1/tasks');
    await page.keyboard.type('gv');
    await title(page, 'Volumes').waitFor();
    // The name of the page doesn't get the key that leads to the field.
    await page.keyboard.press('/');
    await page.keyboard.type('gc?/');
    expect(await page.getByLabel('Part of the name').inputValue()).toBe('gc?/');
    await title(page, 'Volumes').waitFor();

    await page.getByRole('link', { name: 'Images' }).focus();
    await page.keyboard.press('?');
    const list = page.getByRole('dialog', { name: 'Keys' });
    await list.getByText('Security groups').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.type('gc');
    await list.getByLabel('Keys without Ctrl or Cmd').uncheck();
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Images');
    await page.keyboard.type('gc?');
    await page.reload();
    await title(page, 'Volumes').waitFor();
    await page.keyboard.type('gc?');

    await search(page, 'keys', /^Show the keys/);
    await page.getByRole('option', { name: 'Show the keys' }).click();
    await list.getByLabel('Keys without Ctrl or Cmd').check();
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    await title(page, 'Volumes').waitFor();
    await page.keyboard.type('gc');
    await title(page, 'Clusters').waitFor();
  });

  it('shows on each page what runs, how far it is, and how it ended', async () => {
    const { page, open } = await browser.visit();
    await open('account/tokens');
    const goOn = await pauseClusterWork(browser.service);
    const { http } = browser.service;
    const make = async (name: string): Promise<string> => {
      const made = await http.post('/cloud/v1/volumes/1/1', { source: 'new-volume', name, size: 1 });
      expect(made.status, made.text).toBe(200);
      return made.body[0];
    };
    await make('made');
    const failing = await make('cancelled');
    const button = page.getByRole('button', { name: 'Tasks 2 running' });
    await button.click();
    const tray = page.getByRole('dialog', { name: 'Tasks' });
    await tray.getByText('step 1 of 1').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect((await http.post(`/tradewind/v1/tasks/${failing}/cancel`)).status).toBeLessThan(300);
    await goOn();
    await tray.getByText('Nothing is being changed.').waitFor();
    const ended = tray.getByRole('region', { name: 'Ended just now' });
    await ended.getByText('FINISHED').waitFor();
    await ended.locator('.bad').getByText('ERROR').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await tray.waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Tasks0 running 1 failed');
    await page.getByRole('button', { name: 'Tasks 0 running' }).click();
    await ended.getByRole('link', { name: 'create volume made' }).click();
    await title(page, 'create volume made').waitFor();
    await tray.waitFor({ state: 'detached' });
  });
});
