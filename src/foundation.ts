import type { Logger } from 'pino';
import type { Backends } from './backends/backends.ts';
import type { Catalog } from './cloud/ground/catalog/service.ts';
import type { Measures } from './convergence/measures.ts';
import type { WorkTraces } from './convergence/traces.ts';
import type { ChangeFeed } from './db/changes.ts';
import type { Database } from './db/database.ts';
import type { AllowedHosts } from './lib/outside-request.ts';
import type { Clock } from './lib/time.ts';
import type { Letterhead } from './mail/sending/queue.ts';
import type { RequestMeasures } from './requests/measures.ts';
import type { Secrets } from './secrets/secrets.ts';
import type { OpenOptions } from './streaming/ai-tasks/fetching/fetch-media.ts';
import type { Orphans, PlatformChecks } from './tradewind/platform/schema.ts';

/** How a process looks at itself and its backends, by what the commands of its server do. */
export interface Inspection {
  checks(): Promise<PlatformChecks>;
  orphans(): Promise<Orphans>;
}

/** What a process is given: its connections, its settings, and what it has started. */
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
  /** Whether the console is served. */
  console?: boolean | undefined;
  /** Whether the machines of a suspended account stop. */
  suspensionStopsMachines?: boolean | undefined;
  /** How mails present themselves. */
  letterhead(): Letterhead;
  /** Hosts that are allowed as webhooks although they aren't on the public internet. */
  webhookHosts?: AllowedHosts | undefined;
  /** From where and how long the files of AI tasks are fetched, and how large they may be. */
  media: Pick<OpenOptions, 'limits' | 'allowedHosts'>;
  inspection: Inspection;
  requestMeasures?: RequestMeasures | undefined;
  /** Measures the tasks that end. */
  measures?: Measures | undefined;
  /** Tells of tasks that end. */
  traces?: WorkTraces | undefined;
}
