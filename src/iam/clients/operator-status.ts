import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { noteAccount } from '../../lib/request-context.ts';
import { changeStatus } from './service.ts';

/**
 * Pauses an account or resumes it, for the operator of the platform.
 * @throws as `changeStatus`
 */
export async function setStatusOf(
  { database, clock }: { database: Database; clock: Clock },
  clientId: number,
  status: 'active' | 'paused',
): Promise<void> {
  await database.accept(async (tx) => {
    noteAccount(clientId);
    tx.made(clientId);
    await changeStatus(tx, clientId, status, clock.now());
  });
}
