import type { Transaction } from '../../../db/database.ts';
import type { Place } from '../../../db/place.ts';
import { groupsIn } from '../store.ts';

/** Which groups new ports may get, and putting them there. */
export { existingGroups as existing, putOnPorts as put } from '../store.ts';

/** The group of ports that name none; undefined when the project has no default group. */
export async function defaultGroup(tx: Transaction, place: Place): Promise<string | undefined> {
  const row = await groupsIn(tx.sql, place).select('id').where('is_default', '=', true).executeTakeFirst();
  return row?.id;
}
