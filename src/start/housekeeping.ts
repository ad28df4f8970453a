import { mailWarnings } from '../cloud/ground/quotas/warnings/mailing.ts';
import { TASKS } from '../cloud/ground/tasks/store.ts';
import { USER_ACTIONS } from '../cloud/ground/user-actions/store.ts';
import { createDeliveries } from '../cloud/ground/user-actions/subscriptions/deliveries.ts';
import { deleteOldUsage } from '../cloud/money/costs/store.ts';
import { keepQuarters, type QuarterlyTable } from '../db/quarters.ts';
import { forgetOldLogins } from '../iam/logins/service.ts';
import { deleteExpiredTokens } from '../iam/tokens/service.ts';
import { forgetOldInvitations } from '../iam/users/invitations.ts';
import { loop } from '../lib/loop.ts';
import { forgetOldMails } from '../mail/sending/claims.ts';
import type { Platform } from '../platform.ts';
import { forgetExpiredKeys } from '../requests/idempotency.ts';
import { deleteOldTasks } from '../streaming/ai-tasks/store.ts';
import { sealRecords, whileRemoving } from '../tradewind/audit/sealing.ts';
import { forgetOldDeletions } from '../tradewind/deletions/work/store.ts';
import { forgetOldEvents } from '../tradewind/events/store.ts';
import { forgetOldDeliveries } from '../tradewind/webhooks/sending/figures.ts';
import type { Clocks } from './clocks.ts';

const DAY_MS = 86_400_000;
const FLUSH_MS = 1_000;
const SEND_MS = 1_000;
const WARN_MS = 2_000;
/** What was written in the meantime is not in the chain yet. */
const SEAL_MS = 10_000;
const FORGET_MS = 60_000;
/** A start has better things to do, and a burst of them would open a connection for each. */
const FIRST_WITHIN_MS = 5_000;
/** Seldom: it looks through whole tables. */
const QUARTERS_MS = 6 * 3_600_000;
/** Seldom: lists of AI tasks are counted anew after it. */
const FORGET_AI_TASKS_MS = 3_600_000;

/** Starts what an API process does besides answering requests. */
export function startHousekeeping(
  on: Platform,
  {
    clocks,
    kept,
  }: {
    clocks: Clocks;
    /** For how many days; undefined for ever. */
    kept: { tasks: number | undefined; log: number | undefined; usage: number | undefined };
  },
): { stop(): Promise<void> } {
  const { database, clock, actionLog, refusals, log } = on;
  const deliveries = createDeliveries(on);
  const { databaseClock, removalTime } = clocks;
  const stopping = new AbortController();

  /** Of work that goes by the time. */
  const timely = (name: string, ms: number, work: () => Promise<void>) => {
    const inTime = async () => {
      if (databaseClock.problem() === undefined) await work();
    };
    return loop(name, ms, log, inTime, ms >= SEAL_MS ? Math.random() * FIRST_WITHIN_MS : 0);
  };

  async function writeActions(): Promise<void> {
    const { lost } = await actionLog.flush();
    if (lost > 0)
      log.warn(
        { actions: lost },
        'Too many requests were refused to record each of them; these are not in request_log',
      );
  }

  /** Until when what is kept for so many days may be removed. */
  const before = (keptDays: number | undefined) =>
    keptDays === undefined ? undefined : new Date(removalTime.now().getTime() - keptDays * DAY_MS);

  async function keep(table: QuarterlyTable, keptDays: number | undefined): Promise<void> {
    const done = await keepQuarters(database, table, { now: clock.now(), before: before(keptDays) });
    for (const dropped of done?.dropped ?? []) log.info(dropped, 'A quarter was kept long enough and is dropped');
    for (const quarter of done?.held ?? [])
      log.warn({ quarter }, 'A quarter would be dropped, but some of its tasks have not ended');
  }

  const loops = [
    loop('writing user actions', FLUSH_MS, log, writeActions),
    timely('sending user actions', SEND_MS, () => deliveries.send(stopping.signal)),
    timely('deleting old requests', FORGET_MS, () => forgetExpiredKeys(database.sql, removalTime.now())),
    timely('deleting old events', FORGET_MS, () => forgetOldEvents(database, removalTime)),
    timely('deleting old deliveries', FORGET_MS, () => forgetOldDeliveries(database, removalTime)),
    timely('warning of quotas', WARN_MS, () => mailWarnings(on)),
    timely('deleting old deletions', FORGET_MS, () => forgetOldDeletions(database, removalTime)),
    timely('deleting old mails', FORGET_MS, () => forgetOldMails(database, removalTime)),
    timely('dropping old tasks', QUARTERS_MS, () => keep(TASKS, kept.tasks)),
    timely('dropping old user actions', QUARTERS_MS, () =>
      whileRemoving(database, before(kept.log), () => keep(USER_ACTIONS, kept.log)),
    ),
    loop('recording refusals', FORGET_MS, log, async () => refusals.flush()),
    timely('sealing the audit log', SEAL_MS, async () => {
      await sealRecords(database, clock);
    }),
    timely('deleting old logins, tokens and invitations', FORGET_MS, async () => {
      const now = removalTime.now();
      await forgetOldLogins(on, now);
      await deleteExpiredTokens(on, now);
      await forgetOldInvitations(on, now);
    }),
    timely('deleting old usage', QUARTERS_MS, async () => {
      const end = before(kept.usage);
      if (!end) return;
      const deleted = await deleteOldUsage(database, end);
      if (deleted > 0) log.info({ deleted }, 'Old usage is deleted');
    }),
    timely('deleting old AI tasks', FORGET_AI_TASKS_MS, async () => {
      const deleted = await deleteOldTasks(database, removalTime);
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
