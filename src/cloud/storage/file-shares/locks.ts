import type { Transaction } from '../../../db/database.ts';
import { NotFoundError } from '../../../lib/errors.ts';
import { refuseHeld } from '../../../lib/held.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Scope } from '../../ground/projects/service.ts';
import { type FileShareRow, lockShare } from './store.ts';

/** Locks the share. @throws NotFoundError */
export async function lock(tx: Transaction, scope: Scope, id: string): Promise<FileShareRow> {
  const share = isUuid(id) ? await lockShare(tx, scope, id) : undefined;
  if (!share) throw shareNotFound(id);
  tx.about({ ...share, type: 'file_shares' });
  return share;
}

/** Locks the share for a change. @throws NotFoundError, ConflictError while a task holds it */
export async function lockFree(tx: Transaction, scope: Scope, id: string): Promise<FileShareRow> {
  const share = await lock(tx, scope, id);
  refuseHeld(`File share ${share.name}`, share);
  return share;
}

export function shareNotFound(id: string): NotFoundError {
  return new NotFoundError('File share', id);
}
