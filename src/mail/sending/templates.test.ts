import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readTemplates } from './templates.ts';

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'templates-'));
});
afterEach(() => fs.rmSync(folder, { recursive: true }));

const write = (name: string, text: string) => fs.writeFileSync(path.join(folder, name), text);
const VALUES = { reseller: 'R & D', company: '<b>Acme</b>', link: null, token: 'secret', expires: 'soon' };

it('takes the templates of a folder, and for the others those of Tradewind', () => {
  write('invitation.txt.liquid', 'Subject: Come to {{ company }}\n\nBis {{ expires }}: {{ token }}\n');
  const { render } = readTemplates(folder);
  const { subject, text, html } = render('invitation', VALUES);
  expect([subject, text]).toEqual(['Come to <b>Acme</b>', 'Bis soon: secret\n']);
  expect(html).toContain('&lt;b&gt;Acme&lt;/b&gt;</b> at R &amp; D');
  expect(html).not.toContain('<b>Acme');
});

it.each([
  ['a misspelt name', 'Subject: Hello\n\n{{ tokn }}', /undefined variable: tokn/],
  ['a misspelt filter', 'Subject: Hello\n\n{{ token | upcas }}', /undefined filter: upcas/],
  ['no subject', 'Hello\n', /first line must be "Subject: \.\.\."/],
  ['an open tag', 'Subject: Hello\n\n{% if link %}', /tag .*not closed/],
  ['another file', 'Subject: Hello\n\n{% render "../../etc/passwd" %}', /ENOENT/],
])('refuses a template with %s', (_what, text, why) => {
  write('password_reset.txt.liquid', text);
  expect(() => readTemplates(folder)).toThrow(why);
  expect(() => readTemplates(folder)).toThrow(/^The templates for password_reset are not usable/);
});

it('refuses a folder that is not there', () => {
  expect(() => readTemplates(path.join(folder, 'none'))).toThrow('there is no folder');
});
