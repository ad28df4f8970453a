import type { Database } from '../../db/database.ts';
import { ConflictError, NotFoundError } from '../../lib/errors.ts';
import { announceClient } from '../identity/credentials.ts';

/**
 * Shuts an account, or opens it again: nobody gets into a paused one, with a login or an API token. What it has stays
 * and goes on. For whoever operates the platform. @throws NotFoundError, ConflictError for the platform's own account
 */
export async function setStatusOf(
  { database }: { database: Database },
  clientId: number,
  status: 'active' | 'paused',
): Promise<void> {
  await database.transaction(async (tx) => {
    const platform = await tx.sql
      .selectFrom('users')
      .select('id')
      .where('client_id', '=', clientId)
      .where('platform_administrator', '=', true)
      .executeTakeFirst();
    if (platform) throw new ConflictError(`Client ${clientId} is the platform administrator's own`);
    const { numUpdatedRows } = await tx.sql
      .updateTable('clients')
      .set({ status })
      .where('id', '=', clientId)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new NotFoundError('Client', clientId);
    await announceClient(tx, clientId);
  });
}
