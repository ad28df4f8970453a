import type { Logger } from 'pino';
import type { Backends } from './backends/backends.ts';
import type { Catalog } from './cloud/ground/catalog/service.ts';
import type { Rates } from './cloud/ground/prices/rates.ts';
import type { ProjectRow } from './cloud/ground/projects/store.ts';
import type { TaskWaiting } from './cloud/ground/tasks/waiting.ts';
import type { InTurn } from './cloud/money/costs/turns.ts';
import type { Measures } from './convergence/measures.ts';
import type { TaskEnd } from './convergence/task-kind.ts';
import type { WorkTraces } from './convergence/traces.ts';
import type { ChangeFeed } from './db/changes.ts';
import type { Database } from './db/database.ts';
import type { RowCache } from './db/row-cache.ts';
import type { Authenticator } from './iam/identity/service.ts';
import type { SignedTokens } from './iam/identity/signed-tokens.ts';
import type { Guesses } from './iam/logins/guesses/service.ts';
import type { PasswordReports } from './iam/logins/password-reports.ts';
import type { AllowedHosts } from './lib/outside-request.ts';
import type { Clock } from './lib/time.ts';
import type { Mailer } from './mail/mailer.ts';
import type { ActionLog } from './requests/action-log.ts';
import type { RequestMeasures } from './requests/measures.ts';
import type { Refusals } from './requests/refusals.ts';
import type { RequestLog } from './requests/request-log.ts';
import type { Secrets } from './secrets/secrets.ts';
import type { AiTaskCounts } from './streaming/ai-tasks/counts.ts';
import type { Events } from './tradewind/events/service.ts';

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
  /** Hosts that are allowed as webhooks although they aren't on the public internet. */
  webhookHosts?: AllowedHosts | undefined;
  requestMeasures?: RequestMeasures | undefined;
  /** Measures the tasks that end. */
  measures?: Measures | undefined;
  /** Tells of tasks that end. */
  traces?: WorkTraces | undefined;
}

/**
 * What every use case works on: the first parameter of each, called `on`. The API of a process has one, and so has its
 * worker. Everything that outlives a request in memory is here, so that the modules themselves keep nothing.
 */
export interface Platform extends Foundation {
  webhookHosts: AllowedHosts;
  /** How tasks end, by their type. */
  taskEnds: ReadonlyMap<string, TaskEnd>;
  /** Requests that wait for the end of a task. */
  taskWaiting: TaskWaiting;
  /** Projects by their IDs. Forget a project here after the commit that changed it, besides announcing the change. */
  projectRows: RowCache<ProjectRow>;
  rates: Rates;
  /** Lets reports be made one after the other. */
  inTurn: InTurn;
  aiTaskCounts: AiTaskCounts;
  mailer: Mailer;
  actionLog: ActionLog;
  refusals: Refusals;
  requestLog: RequestLog;
  events: Events;
  signedTokens: SignedTokens;
  authenticator: Authenticator;
  guesses: Guesses;
  passwordReports: PasswordReports;
}
