import fs from 'node:fs';
import { expect, it } from 'vitest';
import { MAILS_FILE, mailsPage } from '../../scripts/mails-page.ts';
import { METRICS_FILE, metricsPage } from '../../scripts/metrics-page.ts';
import { misplacedSettings, SETTINGS_FILE, settingsPage } from '../../scripts/settings-page.ts';

it('lists every setting once; "npm run openapi" writes it', () => {
  expect(misplacedSettings()).toEqual([]);
  expect(fs.readFileSync(SETTINGS_FILE, 'utf8')).toBe(settingsPage());
});

it('lists every kind of mail', () => {
  expect(fs.readFileSync(MAILS_FILE, 'utf8')).toBe(mailsPage());
});

it('lists every metric', async () => {
  expect(fs.readFileSync(METRICS_FILE, 'utf8')).toBe(await metricsPage());
});
