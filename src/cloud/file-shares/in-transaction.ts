import type { Transaction } from '../../db/database.ts';
import { isIn, type Place } from '../../db/place.ts';
import type { NetworkOrSubnet } from '../networks/in-transaction.ts';
import type { Scope } from '../projects/service.ts';
import { settingsOf } from './share-change.ts';
import { slurmNeeds } from './slurm-needs.ts';
import { keepFree } from './store.ts';

/** Returns up to `limit` shares that keep a network or a subnet from deletion, each as `file share data (<id>)`. */
export async function sharesIn(
  tx: Transaction,
  place: Place,
  where: NetworkOrSubnet,
  limit: number,
): Promise<{ kind: 'file_share'; id: string; title: string }[]> {
  const shares = tx.sql
    .selectFrom('file_shares')
    .select(['id', 'name'])
    .where(isIn(place))
    .orderBy('name')
    .orderBy('id')
    .limit(limit);
  const rows = await ('networkId' in where
    ? shares.where('network_id', '=', where.networkId)
    : shares.where('subnet_id', '=', where.subnetId)
  ).execute();
  return rows.map(({ id, name }) => ({ kind: 'file_share', id, title: `file share ${name} (${id})` }));
}

/** Locks the share until the transaction ends. False if it is gone, held by a task or not suitable for Slurm now. */
export async function keepForSlurm(tx: Transaction, scope: Scope, id: string): Promise<boolean> {
  const row = await keepFree(tx, scope, id);
  const settings = row ? settingsOf(row) : null;
  return settings !== null && slurmNeeds(settings).length === 0;
}
