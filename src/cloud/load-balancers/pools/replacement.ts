import type { Transaction } from '../../../db/database.ts';
import type { Scope } from '../../projects/service.ts';
import type { Edit } from '../tree/edits.ts';
import { placeMembers } from './member-places.ts';
import type { WantedMember } from './rules.ts';

/**
 * Gives a pool these members. Those that have the address and port of a wanted one are kept, with the rest of its
 * values. Returns whether anything differs. @throws InvalidError for members that are nowhere
 */
export async function replaceMembers(
  tx: Transaction,
  scope: Scope,
  edit: Edit,
  poolId: string,
  wanted: readonly WantedMember[],
): Promise<boolean> {
  const placed = await placeMembers(tx, scope, wanted);
  const there = await tx.sql.selectFrom('lb_members').selectAll().where('pool_id', '=', poolId).execute();
  const same = (one: { address: string; protocol_port: number }, other: typeof one) =>
    one.address === other.address && one.protocol_port === other.protocol_port;
  const gone = there.filter((row) => !placed.some((member) => same(member, row)));
  const fresh = placed.filter((member) => !there.some((row) => same(member, row)));
  let differs = gone.length + fresh.length > 0;
  await edit.remove(
    'lb_members',
    gone.map(({ id }) => id),
  );
  await edit.insert(
    'lb_members',
    fresh.map((member) => ({ ...member, pool_id: poolId })),
  );
  for (const row of there) {
    const member = placed.find((one) => same(one, row));
    if (member && (await edit.update('lb_members', row, member))) differs = true;
  }
  return differs;
}
