import { remove, want } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import { deleteProfilesOf } from './store.ts';

/** Removes the profiles of public addresses that have been given back: somebody else may get them next. */
export async function protectNoLonger(
  tx: Transaction,
  addresses: readonly { subnet_id: string; address: string }[],
): Promise<void> {
  if (addresses.length === 0) return;
  const gone = await deleteProfilesOf(tx, addresses);
  await want(
    tx,
    null,
    gone.map((id) => remove('ddos_profile', id)),
  );
}
