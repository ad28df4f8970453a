import type { Transaction } from '../../../../db/database.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import type { Edit } from '../tree/edits.ts';
import { type PlacedMember, placeMembers } from './member-places.ts';
import type { WantedMember } from './rules.ts';

/**
 * Gives a pool these members. Those that have the address and port of a wanted one are kept, with the rest of its
 * values. Returns the IDs of all, in the order of the wanted ones. @throws InvalidError for members that are nowhere
 */
export async function replaceMembers(
  tx: Transaction,
  scope: Scope,
  edit: Edit,
  poolId: string,
  wanted: readonly WantedMember[],
): Promise<string[]> {
  const there = await tx.sql.selectFrom('lb_members').selectAll().where('pool_id', '=', poolId).execute();
  const rowOf = (one: Endpoint) => there.find((row) => same(row, one));
  const staying = (one: WantedMember) => {
    const row = rowOf(one);
    return row?.subnet_id === one.subnet_id && row.instance_id === one.instance_id;
  };
  // A member stays when its instance goes, and clients send it back when they change another one.
  const kept = wanted.filter(staying).map(({ at: _, ...member }): PlacedMember => member);
  const moved = await placeMembers(
    tx,
    scope,
    wanted.filter((one) => !staying(one)),
  );
  const placed = [...kept, ...moved];
  const gone = there.filter((row) => !placed.some((member) => same(member, row)));
  const fresh = placed.filter((member) => !rowOf(member));
  await edit.remove(
    'lb_members',
    gone.map(({ id }) => id),
  );
  const freshIds = await edit.insert(
    'lb_members',
    fresh.map((member) => ({ ...member, pool_id: poolId })),
  );
  for (const row of there) {
    const member = placed.find((one) => same(one, row));
    if (member) await edit.update('lb_members', row, member);
  }
  const idOf = (one: Endpoint) => rowOf(one)?.id ?? freshIds[fresh.findIndex((member) => same(member, one))];
  return wanted.flatMap((one) => idOf(one) ?? []);
}

type Endpoint = Pick<WantedMember, 'address' | 'protocol_port'>;

const same = (one: Endpoint, other: Endpoint) =>
  one.address === other.address && one.protocol_port === other.protocol_port;
