import type { Transaction } from '../../../db/database.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { settingsOf } from './share-change.ts';
import { slurmNeeds } from './slurm-needs.ts';
import { keepFree } from './store.ts';

/** Locks the share until the transaction ends. False if it is gone, held by a task or not suitable for Slurm now. */
export async function keepForSlurm(tx: Transaction, scope: Scope, id: string): Promise<boolean> {
  const row = await keepFree(tx, scope, id);
  const settings = row ? settingsOf(row) : null;
  return settings !== null && slurmNeeds(settings).length === 0;
}
