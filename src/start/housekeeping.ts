import type { Logger } from 'pino';
import type { UserActions } from '../cloud/user-actions/service.ts';
import { createDeliveries } from '../cloud/user-actions/subscriptions/deliveries.ts';
import type { Database } from '../db/database.ts';
import type { Logins } from '../iam/logins/service.ts';
import type { Tokens } from '../iam/tokens/service.ts';
import type { Invitations } from '../iam/users/invitations.ts';
import { type AllowedHosts, NO_HOSTS } from '../lib/allowed-hosts.ts';
import type { Clock } from '../lib/clock.ts';
import { loop } from '../lib/loop.ts';
import { forgetExpiredKeys } from '../requests/idempotency.ts';
import type { Secrets } from '../secrets/secrets.ts';
import { deleteOldTasks } from '../streaming/ai-tasks/retention.ts';

const FLUSH_MS = 1_000;
const SEND_MS = 1_000;
const FORGET_MS = 60_000;
/** Rare, since lists of AI tasks have to be counted again afterwards. */
const FORGET_AI_TASKS_MS = 3_600_000;

/** Starts what an API process does besides answering requests. */
export function startHousekeeping(deps: {
  database: Database;
  clock: Clock;
  userActions: UserActions;
  logins: Pick<Logins, 'forgetOld'>;
  tokens: Pick<Tokens, 'deleteExpired'>;
  invitations: Pick<Invitations, 'forgetOld'>;
  webhookHosts?: AllowedHosts | undefined;
  secrets: Secrets;
  log: Logger;
}): { stop(): Promise<void> } {
  const { database, clock, userActions, logins, tokens, invitations, log } = deps;
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

  const loops = [
    loop('writing user actions', FLUSH_MS, log, writeActions),
    loop('sending user actions', SEND_MS, log, () => deliveries.send(stopping.signal)),
    loop('deleting old requests', FORGET_MS, log, async () => {
      await forgetExpiredKeys(database.sql, clock.now());
      await userActions.forgetOld();
    }),
    loop('deleting old logins, tokens and invitations', FORGET_MS, log, async () => {
      await logins.forgetOld();
      await tokens.deleteExpired();
      await invitations.forgetOld();
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
      await writeActions();
    },
  };
}
