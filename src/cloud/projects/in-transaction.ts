import { wantAt } from '../../convergence/wants.ts';
import type { Transaction } from '../../db/database.ts';
import type { Catalog } from '../catalog/service.ts';
import { ensureDefaultNetworks } from '../networks/defaults/in-transaction.ts';
import { ensureDefaultSecurityGroups } from '../security-groups/defaults/in-transaction.ts';

const AT_ONCE = 1_000;

/**
 * Gives every project, of one account or of all, what each has from its first moment on. Finds out itself what is missing,
 * so it can run at any time.
 */
export async function prepareProjects(
  tx: Transaction,
  { regions: offered }: Pick<Catalog, 'regions'>,
  now: Date,
  clientId?: number,
): Promise<void> {
  const regions = [...offered.values()];
  const networks = await ensureDefaultNetworks(tx, regions, now, clientId);
  const groups = await ensureDefaultSecurityGroups(tx, regions, now, clientId);
  const wanted = [...networks, ...groups];
  // A region that is new to many projects would be too much for one statement.
  for (let from = 0; from < wanted.length; from += AT_ONCE)
    await wantAt(tx, wanted.slice(from, from + AT_ONCE));
}
