import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import { Refused } from '../contract/backend.ts';
import type { ClusterSpec, ServerGroupSpec } from '../contract/specs.ts';

/** In the words of Nova. */
const NO_HOST = 'No valid host was found. There are not enough hosts available for the placement group.';

/**
 * Gives a machine one of the hosts, as the policy of its group wants it. It keeps the host as long as it is in the group.
 * @throws Refused if every host has another machine of an anti-affinity group
 */
export async function placeMachine(
  db: Kysely<Tables>,
  machineId: string,
  groupId: string | undefined,
  hosts: number,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // Two machines of a group choose one after the other.
    await sql`select pg_advisory_xact_lock(hashtextextended(${groupId ?? machineId}, 0))`.execute(tx);
    const now = await tx
      .selectFrom('simulated_hosts')
      .select(['server_group_id', 'host'])
      .where('machine_id', '=', machineId)
      .executeTakeFirst();
    if (now && now.server_group_id === (groupId ?? null)) return;
    const host =
      groupId === undefined
        ? (now?.host ?? Math.floor(Math.random() * hosts))
        : hostIn(await policyOf(tx, groupId), await taken(tx, groupId), hosts, now?.host);
    const row = { machine_id: machineId, server_group_id: groupId ?? null, host };
    await tx
      .insertInto('simulated_hosts')
      .values(row)
      .onConflict((conflict) => conflict.column('machine_id').doUpdateSet(row))
      .execute();
  });
}

export async function freeHost(db: Kysely<Tables>, machineId: string): Promise<void> {
  await db.deleteFrom('simulated_hosts').where('machine_id', '=', machineId).execute();
}

/** The nodes of a pool are on different hosts, too. @throws Refused */
export function refuseLargePools({ pools }: ClusterSpec, hosts: number): void {
  for (const { serverGroupPolicy, nodes } of Object.values(pools)) {
    if (serverGroupPolicy === 'anti-affinity' && Object.keys(nodes).length > hosts)
      throw new Refused(NO_HOST);
  }
}

/** The machine stays where it is if that is as good as any. */
export function hostIn(
  policy: ServerGroupSpec['policy'],
  others: readonly number[],
  hosts: number,
  present = 0,
): number {
  const [first] = others;
  if (policy === 'affinity') return first ?? present;
  const load = Array.from({ length: hosts }, (_, host) => others.filter((one) => one === host).length);
  const least = Math.min(...load);
  if (policy === 'anti-affinity' && least > 0) throw new Refused(NO_HOST);
  return load[present] === least ? present : load.indexOf(least);
}

async function policyOf(db: Kysely<Tables>, groupId: string): Promise<ServerGroupSpec['policy']> {
  const group = await db
    .selectFrom('simulated_objects')
    .select('spec')
    .where('kind', '=', 'server_group')
    .where('id', '=', groupId)
    .executeTakeFirst();
  return (group?.spec as ServerGroupSpec | undefined)?.policy ?? 'soft-anti-affinity';
}

async function taken(db: Kysely<Tables>, groupId: string): Promise<number[]> {
  const rows = await db
    .selectFrom('simulated_hosts')
    .select('host')
    .where('server_group_id', '=', groupId)
    .orderBy('host')
    .execute();
  return rows.map(({ host }) => host);
}
