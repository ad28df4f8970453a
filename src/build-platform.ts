import { cacheMaintenances } from './cloud/ground/maintenance/service.ts';
import { createRates } from './cloud/ground/prices/rates.ts';
import { cacheProjects } from './cloud/ground/projects/service.ts';
import { createTaskWaiting } from './cloud/ground/tasks/waiting.ts';
import { createReportTurns } from './cloud/money/costs/turns.ts';
import { NOTICES, WINGS } from './cloud/wings.ts';
import type { TaskEnd } from './convergence/task-kind.ts';
import type { Foundation } from './foundation.ts';
import { createAuthenticator } from './iam/identity/service.ts';
import { createSignedTokens } from './iam/identity/signed-tokens.ts';
import { createGuesses } from './iam/logins/guesses/service.ts';
import { createPasswordReports } from './iam/logins/password-reports.ts';
import { createMailer } from './mail/mailer.ts';
import type { Platform } from './platform.ts';
import { createActionLog } from './requests/action-log.ts';
import { createRefusals } from './requests/refusals.ts';
import { createRequestLog } from './requests/request-log.ts';
import { createAiTaskCounts } from './streaming/ai-tasks/page.ts';
import { deletionTasks } from './tradewind/deletions/tasks.ts';
import { createEvents } from './tradewind/events/service.ts';

/** Puts together what a process keeps in memory besides what it was given. */
export function buildPlatform(foundation: Foundation): Platform {
  const { database, changes, webhookHosts = { allows: () => false } } = foundation;
  const actionLog = createActionLog(foundation);
  const refusals = createRefusals({ ...foundation, actionLog });
  const events = createEvents(foundation);
  const signedTokens = createSignedTokens(foundation);
  return {
    ...foundation,
    webhookHosts,
    taskEnds: createTaskEnds(foundation),
    notices: NOTICES,
    taskWaiting: createTaskWaiting(changes),
    projectRows: cacheProjects(foundation),
    maintenances: cacheMaintenances(foundation),
    rates: createRates(foundation),
    inTurn: createReportTurns(),
    aiTaskCounts: createAiTaskCounts(database),
    mediaReads: new Map(),
    consoles: new Map(),
    providerTalks: new Map(),
    mailer: createMailer(foundation),
    actionLog,
    refusals,
    requestLog: createRequestLog({ ...foundation, actionLog, refusals, events }),
    events,
    signedTokens,
    authenticator: createAuthenticator({ ...foundation, signedTokens }),
    guesses: createGuesses(database),
    passwordReports: createPasswordReports(),
  };
}

export function createTaskEnds(foundation: Pick<Foundation, 'clock' | 'secrets'>): ReadonlyMap<string, TaskEnd> {
  const ends = [...WINGS.flatMap((wing) => wing.ends(foundation)), ...deletionTasks()];
  return new Map(ends.map((end) => [end.type, end]));
}
