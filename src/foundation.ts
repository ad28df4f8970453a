import type { Logger } from 'pino';
import type { Backends } from './backends/backends.ts';
import type { Catalog } from './cloud/ground/catalog/service.ts';
import type { WorkTraces } from './convergence/traces.ts';
import type { ChangeFeed } from './db/changes.ts';
import type { Database } from './db/database.ts';
import type { AllowedHosts } from './lib/allowed-hosts.ts';
import type { Clock } from './lib/clock.ts';
import type { RequestMeasures } from './requests/measures.ts';
import type { Secrets } from './secrets/secrets.ts';

/** What all features are built on. */
export interface Foundation {
  database: Database;
  changes: ChangeFeed;
  catalog: Catalog;
  clock: Clock;
  log: Logger;
  /** Finds the backend of a region and kind. */
  backends: Backends;
  secrets: Secrets;
  /** Whether mails are sent, and not only put into a folder. */
  smtp?: boolean | undefined;
  /** Hosts that are allowed as webhooks although they aren't on the public internet. */
  webhookHosts?: AllowedHosts | undefined;
  requestMeasures?: RequestMeasures | undefined;
  /** Tells of tasks that a request ends. */
  traces?: WorkTraces | undefined;
}
