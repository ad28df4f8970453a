import { wantAt } from '../../../convergence/wants.ts';
import type { Sql, Transaction } from '../../../db/database.ts';
import { ensureDefaultNetworks } from '../../network/networks/defaults/in-transaction.ts';
import { ensureDefaultSecurityGroups } from '../../network/security-groups/defaults/in-transaction.ts';
import type { Catalog } from '../catalog/service.ts';

export { beginRemoval, beginRemovalOfAll, removeEmpty } from './removal.ts';
export { lockProject, markStaying } from './store.ts';

const AT_ONCE = 1_000;

/**
 * Creates the default network and security group wherever they are missing, in the projects of one account or of all.
 * Does nothing for what is already there, so it can run at any time.
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
  // One statement would be too large when many projects get a new region.
  for (let from = 0; from < wanted.length; from += AT_ONCE)
    await wantAt(tx, wanted.slice(from, from + AT_ONCE));
}

/** Inserts the default project of an account. Every account always has one. */
export async function insertDefaultProject(db: Sql, clientId: number, now: Date): Promise<void> {
  await db
    .insertInto('projects')
    .values({ client_id: clientId, name: 'Default', description: null, is_default: true, created_at: now })
    .execute();
}
