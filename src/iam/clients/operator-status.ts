import type { Caller, Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { changeStatus } from './in-transaction.ts';

/**
 * Pauses an account or resumes it, for the operator of the platform.
 * @throws as `changeStatus`
 */
export async function setStatusOf(
  { database, clock, caller = {} }: { database: Database; clock: Clock; caller?: Caller },
  clientId: number,
  status: 'active' | 'paused',
): Promise<void> {
  await database.accept(caller, async (tx) => {
    caller.writes?.concerns(clientId);
    caller.writes?.made(clientId);
    await changeStatus(tx, clientId, status, clock.now());
  });
}
