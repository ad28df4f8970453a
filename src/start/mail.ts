import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { folderOutlet, type Outlet, smtpOutlet } from '../mail/sending/outlets.ts';
import type { Letterhead } from '../mail/sending/queue.ts';
import { readTemplates } from '../mail/sending/templates.ts';

/** Returns where mails leave. */
export function outletOf({ mail }: Pick<Config, 'mail'>, log: Logger): Outlet {
  return mail.smtpUrl === undefined ? folderOutlet(mail.folder, log) : smtpOutlet(mail.smtpUrl);
}

/** @throws SettingError for templates that can't be used */
export function letterheadOf({ mail: { from, publicUrl, templates } }: Pick<Config, 'mail'>): Letterhead {
  return { from, publicUrl, templates: readTemplates(templates) };
}
