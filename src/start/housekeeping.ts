import type { Logger } from 'pino';
import { deleteOldUsage } from '../cloud/costs/retention.ts';
import { mailWarnings } from '../cloud/quotas/warnings/mailing.ts';
import { TASKS } from '../cloud/tasks/quarters.ts';
import { USER_ACTIONS } from '../cloud/user-actions/quarters.ts';
import type { UserActions } from '../cloud/user-actions/service.ts';
import { createDeliveries } from '../cloud/user-actions/subscriptions/deliveries.ts';
import type { Database } from '../db/database.ts';
import { keepQuarters, type QuarterlyTable } from '../db/quarters.ts';
import type { Logins } from '../iam/logins/service.ts';
import type { Tokens } from '../iam/tokens/service.ts';
import type { Invitations } from '../iam/users/invitations.ts';
import { type AllowedHosts, NO_HOSTS } from '../lib/allowed-hosts.ts';
import type { Clock } from '../lib/clock.ts';
import { loop } from '../lib/loop.ts';
import type { Mailer } from '../mail/mailer.ts';
import { forgetOldMails } from '../mail/sending/retention.ts';
import { forgetExpiredKeys } from '../requests/idempotency.ts';
import type { Refusals } from '../requests/refusals.ts';
import type { Secrets } from '../secrets/secrets.ts';
import { deleteOldTasks } from '../streaming/ai-tasks/retention.ts';
import { sealRecords, whileRemoving } from '../tradewind/audit/sealing.ts';
import { forgetOldEvents } from '../tradewind/events/retention.ts';
import { forgetOldDeliveries } from '../tradewind/webhooks/sending/retention.ts';

const FLUSH_MS = 1_000;
const SEND_MS = 1_000;
const WARN_MS = 2_000;
/** What was written in the meantime is not in the chain yet. */
const SEAL_MS = 10_000;
const FORGET_MS = 60_000;
/** Seldom: it looks through whole tables. */
const QUARTERS_MS = 6 * 3_600_000;
/** Seldom: lists of AI tasks are counted anew after it. */
const FORGET_AI_TASKS_MS = 3_600_000;

/** Starts what an API process does besides answering requests. */
export function startHousekeeping(deps: {
  database: Database;
  clock: Clock;
  userActions: UserActions;
  refusals: Pick<Refusals, 'flush'>;
  logins: Pick<Logins, 'forgetOld'>;
  tokens: Pick<Tokens, 'deleteExpired'>;
  invitations: Pick<Invitations, 'forgetOld'>;
  mailer: Mailer;
  webhookHosts?: AllowedHosts | undefined;
  /** For how many days; undefined for ever. */
  kept: { tasks: number | undefined; log: number | undefined; usage: number | undefined };
  secrets: Secrets;
  log: Logger;
}): { stop(): Promise<void> } {
  const { database, clock, userActions, refusals, logins, tokens, invitations, kept, log } = deps;
  const deliveries = createDeliveries({ ...deps, webhookHosts: deps.webhookHosts ?? NO_HOSTS });
  const stopping = new AbortController();

  async function writeActions(): Promise<void> {
    const { lost } = await userActions.flush();
    if (lost > 0)
      log.warn(
        { actions: lost },
        'Too many requests were refused to record each of them; these are not in request_log',
      );
  }

  async function keep(table: QuarterlyTable, keptDays: number | undefined): Promise<void> {
    const done = await keepQuarters(database, table, { now: clock.now(), keptDays });
    for (const dropped of done?.dropped ?? [])
      log.info(dropped, 'A quarter was kept long enough and is dropped');
    for (const quarter of done?.held ?? [])
      log.warn({ quarter }, 'A quarter would be dropped, but some of its tasks have not ended');
  }

  const loops = [
    loop('writing user actions', FLUSH_MS, log, writeActions),
    loop('sending user actions', SEND_MS, log, () => deliveries.send(stopping.signal)),
    loop('deleting old requests', FORGET_MS, log, () => forgetExpiredKeys(database.sql, clock.now())),
    loop('deleting old events', FORGET_MS, log, () => forgetOldEvents(database, clock)),
    loop('deleting old deliveries', FORGET_MS, log, () => forgetOldDeliveries(database, clock)),
    loop('warning of quotas', WARN_MS, log, () => mailWarnings(deps)),
    loop('deleting old mails', FORGET_MS, log, () => forgetOldMails(database, clock)),
    loop('dropping old tasks', QUARTERS_MS, log, () => keep(TASKS, kept.tasks)),
    loop('dropping old user actions', QUARTERS_MS, log, () =>
      whileRemoving(database, { now: clock.now(), keptDays: kept.log }, () => keep(USER_ACTIONS, kept.log)),
    ),
    loop('recording refusals', FORGET_MS, log, async () => refusals.flush()),
    loop('sealing the audit log', SEAL_MS, log, async () => {
      await sealRecords(database, clock);
    }),
    loop('deleting old logins, tokens and invitations', FORGET_MS, log, async () => {
      await logins.forgetOld();
      await tokens.deleteExpired();
      await invitations.forgetOld();
    }),
    loop('deleting old usage', QUARTERS_MS, log, async () => {
      if (kept.usage === undefined) return;
      const deleted = await deleteOldUsage(database, { now: clock.now(), keptDays: kept.usage });
      if (deleted > 0) log.info({ deleted }, 'Old usage is deleted');
    }),
    loop('deleting old AI tasks', FORGET_AI_TASKS_MS, log, async () => {
      const deleted = await deleteOldTasks(database, clock);
      if (deleted > 0) log.info({ deleted }, 'Old AI tasks are deleted');
    }),
  ];
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops.map((each) => each.stop()));
      refusals.flush();
      await writeActions();
    },
  };
}
