import { wantAt } from '../../convergence/wants.ts';
import type { Sql, Transaction } from '../../db/database.ts';
import type { Catalog } from '../catalog/service.ts';
import { ensureDefaultNetworks, removeNetworksOf } from '../networks/defaults/in-transaction.ts';
import { ensureDefaultSecurityGroups, removeGroupsOf } from '../security-groups/defaults/in-transaction.ts';

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

/** Removes what the project came with. It counts in no quota. */
export async function removePrepared(tx: Transaction, projectId: number): Promise<void> {
  await removeNetworksOf(tx, projectId);
  await removeGroupsOf(tx, projectId);
}

/** The project that an account has from the beginning, and always. */
export async function insertDefaultProject(db: Sql, clientId: number, now: Date): Promise<void> {
  await db
    .insertInto('projects')
    .values({ client_id: clientId, name: 'Default', description: null, is_default: true, created_at: now })
    .execute();
}
