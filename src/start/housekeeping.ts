import type { Logger } from 'pino';
import type { UserActions } from '../cloud/user-actions/service.ts';
import type { Database } from '../db/database.ts';
import type { Logins } from '../iam/logins/service.ts';
import type { Tokens } from '../iam/tokens/service.ts';
import type { Clock } from '../lib/clock.ts';
import { forgetExpiredKeys } from '../requests/idempotency.ts';
import { deleteOldTasks } from '../streaming/ai-tasks/retention.ts';
import { loop } from '../workflows/loop.ts';

const FLUSH_MS = 1_000;
const FORGET_MS = 60_000;
/** Seldom: lists of AI tasks are counted anew after it. */
const FORGET_AI_TASKS_MS = 3_600_000;

/** What an API process does beside answering requests. */
export function startHousekeeping(deps: {
  database: Database;
  clock: Clock;
  userActions: UserActions;
  logins: Pick<Logins, 'forgetOld'>;
  tokens: Pick<Tokens, 'deleteExpired'>;
  log: Logger;
}): { stop(): Promise<void> } {
  const { database, clock, userActions, logins, tokens, log } = deps;

  async function writeActions(): Promise<void> {
    const { lost } = await userActions.flush();
    if (lost > 0)
      log.warn(
        { actions: lost },
        'Too many refused requests came to note each; these are not in user_actions',
      );
  }

  const loops = [
    loop('writing user actions', FLUSH_MS, log, writeActions),
    loop('forgetting old requests', FORGET_MS, log, async () => {
      await forgetExpiredKeys(database.sql, clock.now());
      await userActions.forgetOld();
    }),
    loop('forgetting old logins and tokens', FORGET_MS, log, async () => {
      await logins.forgetOld();
      await tokens.deleteExpired();
    }),
    loop('deleting old AI tasks', FORGET_AI_TASKS_MS, log, async () => {
      const deleted = await deleteOldTasks(database, clock);
      if (deleted > 0) log.info({ deleted }, 'Old AI tasks are deleted');
    }),
  ];
  return {
    async stop() {
      await Promise.all(loops.map((each) => each.stop()));
      await writeActions();
    },
  };
}
