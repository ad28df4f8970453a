import type { Logger } from 'pino';
import type { UserActions } from '../cloud/user-actions/service.ts';
import type { Database } from '../db/database.ts';
import type { Logins } from '../iam/logins/service.ts';
import type { Tokens } from '../iam/tokens/service.ts';
import type { Clock } from '../lib/clock.ts';
import { forgetExpiredKeys } from '../requests/idempotency.ts';
import { loop } from '../workflows/loop.ts';

const FLUSH_MS = 1_000;
const FORGET_MS = 60_000;

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
  ];
  return {
    async stop() {
      await Promise.all(loops.map((each) => each.stop()));
      await writeActions();
    },
  };
}
