import path from 'node:path';
import { KIND_NAMES, MAIL_KINDS } from '../src/mail/kinds.ts';

export const MAILS_FILE = path.join(import.meta.dirname, '../docs/reference/mails.md');

/** What a value may be, if its name doesn't say so. */
const VALUES: Record<string, string> = {
  'second_factor.event': '`added`, `removed`, `reset` or `new_codes`',
  'second_factor.factor': 'its name',
  'deletion_request.event': '`requested`, `confirmed` or `withdrawn`',
  'deletion_request.setting': 'its ID',
  'failed_login.setting': 'its ID',
  'webhook_disabled.webhook': 'its ID',
  'webhook_disabled.reason': '`failing` or `gone`',
  'invoice.invoice': 'its ID',
  'budget_reached.project': 'its ID; empty for the whole account',
  'budget_reached.stops': 'empty unless nothing new can be made',
  'quota_nearly_used.region': '0 for quotas of the whole account',
};

const HEAD = `# Mails

\`npm run openapi\` writes this page from the code. [accounts.md](../accounts.md#mail) says how mail is set up.

"Most" is how many of the kind one address gets in an hour, and, after a slash, how many of them one account causes.

| mail | to | when | most |
|---|---|---|--:|
`;

const TEMPLATES = `
## Values of the templates
Every [template](../accounts.md#templates) also has \`reseller\`, \`company\` and \`link\`.

| mail | values |
|---|---|
`;

export function mailsPage(): string {
  const mails = KIND_NAMES.map((name) => {
    const { to, when, most, mostByAccount } = MAIL_KINDS[name];
    return `| \`${name}\` | ${to} | ${when} | ${[most, mostByAccount].filter(Boolean).join(' / ')} |\n`;
  });
  const values = KIND_NAMES.map((name) => {
    // "key" is only a part of the link.
    const names = Object.keys(MAIL_KINDS[name].example).filter((value) => value !== 'key');
    return `| \`${name}\` | ${names.map((value) => `\`${value}\`${noteOn(`${name}.${value}`)}`).join(', ')} |\n`;
  });
  return [HEAD, ...mails, TEMPLATES, ...values].join('');
}

function noteOn(value: string): string {
  const note = VALUES[value];
  return note === undefined ? '' : ` (${note})`;
}
