import fs from 'node:fs';
import { expect, it } from 'vitest';
import { misplacedSettings, SETTINGS_FILE, settingsPage } from '../../scripts/settings-page.ts';

it('lists every setting once; "npm run openapi" writes it', () => {
  expect(misplacedSettings()).toEqual([]);
  expect(fs.readFileSync(SETTINGS_FILE, 'utf8')).toBe(settingsPage());
});
