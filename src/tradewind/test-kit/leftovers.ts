import { dropObjects } from '../../backends/simulated/objects.ts';
import { keyOf, type Name } from '../../convergence/wants.ts';
import type { Database } from '../../db/database.ts';
import type { Calls } from './calls.ts';

/** Returns when no worker makes any more what is gone. Workers learn that only at their next look at it. */
export async function leaveNothing(
  { calls, database }: { calls: Pick<Calls, 'end'>; database: Pick<Database, 'sql'> },
  gone: readonly Name[],
): Promise<void> {
  if (gone.length === 0) return;
  await calls.end(gone.map(keyOf));
  // A call that had begun before may have made something after all.
  await dropObjects(database.sql, gone);
}
