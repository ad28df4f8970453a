import type { Logger } from 'pino';
import { clusterApi, hosted } from '../../kubernetes/index.ts';
import { openstack } from '../../openstack/index.ts';
import { simulated } from '../../simulation/index.ts';
import type { Host, Makers } from '../backends/maker.ts';
import type { Config } from '../config.ts';
import { folderOutlet, type Outlet, smtpOutlet } from '../mail/sending/outlets.ts';
import type { Letterhead } from '../mail/sending/queue.ts';
import { readTemplates } from '../mail/sending/templates.ts';

/** The makers of all kinds of backends. */
export const MAKERS: Makers = { simulated, hosted, 'cluster-api': clusterApi, openstack };

/** Returns what backends may know of the settings. */
export function hostOf(config: Config): Omit<Host, 'secrets' | 'sql'> {
  const { simulationSpeed, dataDir, kubernetesDir, searchPath } = config;
  return { simulationSpeed, dataDir, kubernetesDir, searchPath };
}

/** Returns where mails leave. */
export function outletOf({ mail }: Pick<Config, 'mail'>, log: Logger): Outlet {
  return mail.smtpUrl === undefined ? folderOutlet(mail.folder, log) : smtpOutlet(mail.smtpUrl);
}

/** Returns how mails present themselves. Their templates are read when the first mail is written. */
export function letterheads(config: Pick<Config, 'mail'>): () => Letterhead {
  let read: Letterhead | undefined;
  return () => (read ??= letterheadOf(config));
}

/** @throws SettingError for templates that can't be used */
export function letterheadOf({ mail: { from, publicUrl, templates } }: Pick<Config, 'mail'>): Letterhead {
  return { from, publicUrl, templates: readTemplates(templates) };
}
