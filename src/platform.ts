import type { Region } from './cloud/ground/catalog/service.ts';
import type { Rates } from './cloud/ground/prices/rates.ts';
import type { ProjectRow } from './cloud/ground/projects/store.ts';
import type { TaskWaiting } from './cloud/ground/tasks/waiting.ts';
import type { InTurn } from './cloud/money/costs/turns.ts';
import type { Notices, TaskEnd } from './convergence/task-kind.ts';
import type { RowCache } from './db/changes.ts';
import type { Place } from './db/database.ts';
import type { Foundation } from './foundation.ts';
import type { Authenticator } from './iam/identity/service.ts';
import type { SignedTokens } from './iam/identity/signed-tokens.ts';
import type { Guesses } from './iam/logins/guesses/service.ts';
import type { PasswordReports } from './iam/logins/password-reports.ts';
import type { Mailer } from './mail/mailer.ts';
import type { ActionLog } from './requests/action-log.ts';
import type { Principal } from './requests/principal.ts';
import type { Refusals } from './requests/refusals.ts';
import type { RequestLog } from './requests/request-log.ts';
import type { AiTaskCounts } from './streaming/ai-tasks/page.ts';
import type { Events } from './tradewind/events/service.ts';

/**
 * What every use case works on: the first parameter of each, called `on`. The API of a process has one, and so has its
 * worker. Everything that outlives a request in memory is here, so that the modules themselves keep nothing.
 */
export interface Platform extends Foundation {
  webhookHosts: NonNullable<Foundation['webhookHosts']>;
  taskEnds: ReadonlyMap<string, TaskEnd>;
  notices: Notices;
  taskWaiting: TaskWaiting;
  /** Projects by their IDs. Forget a project here after the commit that changed it, besides announcing the change. */
  projectRows: RowCache<ProjectRow>;
  /** What is in maintenance, under the key 0. */
  maintenances: RowCache<{ region_id: number | null; backend: string | null; reason: string }[]>;
  rates: Rates;
  /** Lets reports be made one after the other. */
  inTurn: InTurn;
  aiTaskCounts: AiTaskCounts;
  /** How many files of AI tasks each account is reading just now. */
  mediaReads: Map<number, number>;
  /** How many consoles of machines each account looks at just now. */
  consoles: Map<number, number>;
  /** How many conversations with each identity provider are going on just now. */
  providerTalks: Map<string, number>;
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

/** Project and region of a cloud request: a project of the caller, and a region of the catalogue. */
export interface Scope extends Place {
  region: Region;
  /** The account that owns the project. For the platform's administrator, this is not the caller's account. */
  clientId: number;
  principal: Principal;
  requestId: string;
  /** The task that the work is for, if it was accepted before and had to wait. */
  taskId?: string;
}
