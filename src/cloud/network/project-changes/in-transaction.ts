import { forgetElsewhere, wantAt, wantNothingOf } from '../../../convergence/wants.ts';
import { announce } from '../../../db/changes.ts';
import type { Transaction } from '../../../db/database.ts';
import { ConflictError } from '../../../lib/errors.ts';
import type { Catalog } from '../../ground/catalog/service.ts';
import { leftIn, moveToDeleted, type ProjectRow } from '../../ground/projects/in-transaction.ts';
import { PROJECT_TOPIC } from '../../ground/projects/service.ts';
import { ensureDefaultNetworks, removeNetworksOf } from '../networks/defaults/in-transaction.ts';
import { ensureDefaultSecurityGroups, removeGroupsOf } from '../security-groups/defaults/in-transaction.ts';

/* A project comes with a network and a security group in every region, so it is made and removed here. */

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

/**
 * Deletes a project that holds no more than what it came with, which is removed in the background. It must be locked.
 * @throws ConflictError if something else is left
 */
export async function removeEmpty(
  tx: Transaction,
  project: ProjectRow,
  { regions, now }: { regions: Catalog['regions']; now: Date },
): Promise<void> {
  const { id } = project;
  const left = await leftIn(tx, id);
  if (left.length > 0) {
    throw new ConflictError(`Project ${id} still has ${left.join('; ')}; delete them first`);
  }
  // They count against no quota.
  await removeNetworksOf(tx, id);
  await removeGroupsOf(tx, id);
  await forgetElsewhere(tx, id, [...regions.keys()]);
  await wantNothingOf(tx, id);
  await moveToDeleted(tx, project, now);
  await announce(tx.client, PROJECT_TOPIC, id);
}
