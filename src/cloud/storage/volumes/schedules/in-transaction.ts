import type { Place, Transaction } from '../../../../db/database.ts';
import { InvalidError } from '../../../../lib/errors.ts';
import { SNAPSHOT_TYPES, type VolumeType } from '../../../../lib/volume-types.ts';
import { MOST_VOLUMES } from './schema.ts';
import * as store from './store.ts';
import { nextTime } from './timing.ts';

/** Returns when these schedules take their next snapshots, if they have none behind them. */
export const plansOf = (
  schedules: readonly Pick<store.ScheduleRow, 'id' | 'timing'>[],
  status: store.PlainPolicy['status'],
  now: Date,
): store.Plan[] =>
  schedules.map(({ id, timing }) => ({
    scheduleId: id,
    dueAt: status === 'paused' ? null : (nextTime(timing, now) ?? null),
  }));

/** Puts a new volume into policies. @throws InvalidError naming `lifecycle_policy_ids` */
export async function joinPolicies(
  tx: Transaction,
  place: Place,
  given: readonly number[],
  volume: { id: string; type: VolumeType },
): Promise<void> {
  const ids = [...new Set(given)];
  if (ids.length === 0) return;
  const refused = (message: string) => new InvalidError({ lifecycle_policy_ids: [message] });
  if (!SNAPSHOT_TYPES.includes(volume.type)) {
    throw refused(
      `Volumes of type ${volume.type} have no snapshots, only those of ${SNAPSHOT_TYPES.join(' and ')}; leave it out.`,
    );
  }
  const policies = await store.lockPolicies(tx, place, ids);
  const missing = ids.filter((id) => !policies.some((policy) => policy.id === id));
  if (missing.length > 0) throw refused(`No policy ${missing.join(', ')} in this project and region.`);
  const full = (await store.countVolumes(tx, ids)).find(({ count }) => count >= MOST_VOLUMES);
  if (full) throw refused(`Policy ${full.policy_id} has ${MOST_VOLUMES} volumes already; take one out first.`);
  await store.insertVolumes(tx, ids, [volume.id]);
  const schedules = await store.schedulesOf(tx, ids);
  const plans = policies.flatMap(({ id, status }) =>
    plansOf(
      schedules.filter(({ policy_id }) => policy_id === id),
      status,
      tx.now,
    ),
  );
  await store.insertTurns(tx, plans, [volume.id]);
  await store.changePolicies(tx, ids);
}
