import type { Caller, Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { NotFoundError } from '../../lib/errors.ts';
import { announceClient } from '../logins/in-transaction.ts';
import { refusePlatforms } from '../users/in-transaction.ts';

/**
 * Pauses an account or resumes it: no login or API token works in a paused account. Its resources stay and
 * keep running. For the operator of the platform.
 * @throws NotFoundError, ConflictError for the platform's own account
 */
export async function setStatusOf(
  { database, clock, caller = {} }: { database: Database; clock: Clock; caller?: Caller },
  clientId: number,
  status: 'active' | 'paused',
): Promise<void> {
  await database.accept(caller, async (tx) => {
    caller.writes?.concerns(clientId);
    caller.writes?.made(clientId);
    await refusePlatforms(tx.sql, clientId);
    const client = await tx.sql
      .selectFrom('clients')
      .select('status')
      .where('id', '=', clientId)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (!client) throw new NotFoundError('Client', clientId);
    if (client.status === status) return;
    await tx.sql.updateTable('clients').set({ status }).where('id', '=', clientId).execute();
    await tx.sql
      .insertInto('client_status_changes')
      .values({
        client_id: clientId,
        old_status: client.status,
        new_status: status,
        changed_at: clock.now(),
      })
      .execute();
    await announceClient(tx, clientId);
  });
}
