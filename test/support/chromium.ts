import fs from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

export type { Browser, Page } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

export const hasChromium = (): boolean => fs.existsSync(CHROMIUM);

/** Starts Debian's Chromium. */
export const launchChromium = (...args: string[]): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', ...args] });

/** Signs in to the console at this address of a server. */
export async function signIn(page: Page, address: string, token: string): Promise<void> {
  await page.goto(`${address}/console/`);
  await page.getByRole('button', { name: 'Use an API token instead' }).click();
  await page.getByRole('textbox', { name: 'API token' }).fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  // The page to sign in has a title too.
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}
